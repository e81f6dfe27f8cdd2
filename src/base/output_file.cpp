#include "rnnsearch/base/output_file.h"

#include <ostream>
#include <utility>

#include "rnnsearch/base/error.h"

namespace rnnsearch {

namespace fs = std::filesystem;

OutputFile::OutputFile(const std::string& option, fs::path path, std::ostream& standard_output)
    : standard_output_(standard_output), path_(std::move(path)) {
  if (path_.empty()) return;
  if (fs::is_directory(path_)) throw Error(text_of(option, " ", path_.string(), " is a folder; name a file"));
  remove_abandoned(path_);
  target_.emplace(path_);
  file_.open(target_->temporary(), std::ios::binary);
  if (!file_) throw Error(text_of("cannot write ", target_->temporary().string(), ", which becomes ", path_.string()));
}

void OutputFile::check() {
  if (stream()) return;
  throw Error(target_ ? text_of("cannot write ", path_.string(), ": is the disk full?")
                      : "cannot write the results to standard output: is the disk full, or has its reader exited?");
}

bool OutputFile::flush() {
  if (!stream().flush()) return false;
  if (target_) flushed_ = static_cast<std::uintmax_t>(file_.tellp());
  return true;
}

void OutputFile::publish() {
  if (!target_) return;
  file_.close();
  check();
  target_->publish();
}

std::string OutputFile::publish_part() {
  if (!target_) return "standard output";
  file_.close();
  fs::resize_file(target_->temporary(), flushed_);
  return target_->publish_beside(".partial").string();
}

std::ostream& OutputFile::stream() {
  if (!target_) return standard_output_;
  return file_;
}

}  // namespace rnnsearch
