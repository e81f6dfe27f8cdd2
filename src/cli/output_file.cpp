#include "cli/output_file.h"

#include <iostream>
#include <utility>

#include "rnnsearch/base/error.h"

namespace rnnsearch::cli {

namespace fs = std::filesystem;

OutputFile::OutputFile(const std::string& option, fs::path path) : path_(std::move(path)) {
  if (path_.empty()) return;
  if (fs::is_directory(path_)) throw Error(text_of(option, " ", path_.string(), " is a folder; name a file"));
  remove_abandoned(path_);
  target_.emplace(path_);
  file_.open(target_->temporary(), std::ios::binary);
  if (!file_) throw Error(text_of("cannot write ", target_->temporary().string(), ", which becomes ", path_.string()));
}

void OutputFile::publish() {
  if (!target_) return;
  close();
  target_->publish();
}

std::string OutputFile::publish_part() {
  if (!target_) return "standard output";
  close();
  return target_->publish_beside(".partial").string();
}

std::ostream& OutputFile::stream() {
  if (!target_) return std::cout;
  return file_;
}

void OutputFile::close() {
  file_.close();
  if (!file_) throw Error(text_of("cannot write ", path_.string(), ": is the disk full?"));
}

}  // namespace rnnsearch::cli
