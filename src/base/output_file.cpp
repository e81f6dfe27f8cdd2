#include "rnnsearch/base/output_file.h"

#include <ostream>
#include <utility>

#include "rnnsearch/base/error.h"

namespace rnnsearch {

namespace fs = std::filesystem;

OutputFile::OutputFile(const std::string& option, fs::path path, std::ostream& standard_output)
    : standard_output_(standard_output), path_(std::move(path)) {
  if (path_.empty() || path_ == "-") return;
  std::error_code ignored;  // AtomicFile says what is wrong with a path
  if (fs::is_directory(path_, ignored)) throw Error("{} {} is a folder; name a file", option, path_);
  remove_abandoned(path_);
  target_.emplace(path_);
  file_.open(target_->temporary(), std::ios::binary);
  if (!file_) throw Error("cannot write {}, which becomes {}", target_->temporary(), path_);
}

void OutputFile::check() {
  if (stream()) return;
  throw Error(target_ ? fmt::format("cannot write {}: is the disk full?", path_)
                      : "cannot write the results to standard output: is the disk full, or has its reader exited?");
}

void OutputFile::publish() {
  if (!target_) return;
  file_.close();
  check();
  target_->publish();
}

std::ostream& OutputFile::stream() {
  if (!target_) return standard_output_;
  return file_;
}

}  // namespace rnnsearch
