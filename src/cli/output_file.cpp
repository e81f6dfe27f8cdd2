#include "cli/output_file.h"

#include <iostream>
#include <utility>

#include "rnnsearch/base/error.h"
#include "rnnsearch/base/file.h"

namespace rnnsearch::cli {

namespace fs = std::filesystem;

OutputFile::OutputFile(const std::string& option, fs::path path) : path_(std::move(path)) {
  if (path_.empty()) return;
  if (fs::is_directory(path_)) throw Error(text_of(option, " ", path_.string(), " is a folder; name a file"));
  temporary_ = temporary_beside(path_);
  remove_abandoned(path_);
  file_.open(temporary_, std::ios::binary);
  if (!file_)
    throw Error(text_of("cannot write beside ", path_.string(), ": does its folder exist, may you write there?"));
}

OutputFile::~OutputFile() {
  std::error_code ignored;
  if (!temporary_.empty()) fs::remove(temporary_, ignored);
}

std::string OutputFile::publish_part() {
  if (path_.empty()) return "standard output";
  const fs::path part = path_.string() + ".partial";
  publish_as(part);
  return part.string();
}

std::ostream& OutputFile::stream() {
  if (path_.empty()) return std::cout;
  return file_;
}

void OutputFile::publish_as(const fs::path& path) {
  if (path_.empty()) return;
  file_.close();
  if (!file_) throw Error(text_of("cannot write ", path.string(), ": is the disk full?"));
  publish_file(temporary_, path);
  temporary_.clear();
}

}  // namespace rnnsearch::cli
