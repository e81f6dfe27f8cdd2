#include "rnnsearch/cli/options.h"

#include <sys/stat.h>

#include "rnnsearch/base/error.h"
#include "rnnsearch/base/file.h"
#include "rnnsearch/train/run_directory.h"

namespace rnnsearch::cli {
namespace {

namespace fs = std::filesystem;

/// A file or folder: the device and inode of what exists, and below it the names of what does not.
struct FileIdentity {
  ::dev_t device;
  ::ino_t inode;
  fs::path below;

  friend bool operator==(const FileIdentity&, const FileIdentity&) = default;
};

FileIdentity identity_of(const fs::path& path) {
  struct stat found {};
  if (::stat(path.c_str(), &found) == 0) return {found.st_dev, found.st_ino, {}};
  std::error_code ignored;
  fs::path there = fs::weakly_canonical(fs::absolute(without_links(path)), ignored), below;
  while (::stat(there.c_str(), &found) != 0 && there.has_relative_path()) {
    below = below.empty() ? there.filename() : there.filename() / below;
    there = there.parent_path();
  }
  return {found.st_dev, found.st_ino, below};
}

/// The path of the file or folder itself: its folders and its name are no symbolic links.
fs::path itself(const fs::path& path) {
  std::error_code ignored;
  fs::path whole = fs::absolute(without_links(path));
  if (!whole.has_filename()) whole = whole.parent_path();
  return fs::weakly_canonical(whole.parent_path(), ignored) / whole.filename();
}

bool is_standard_stream(const GivenPath& given) {
  return given.path == "-";
}

/// Whether writing `output` may replace `other`.
bool replaces(const GivenPath& output, const GivenPath& other) {
  if (is_standard_stream(output) || is_standard_stream(other)) {
    return is_standard_stream(output) && is_standard_stream(other) && other.as.is_output();
  }
  if (output.as.kind == Path::kOutputRun && other.as.kind == Path::kInputRun) return false;  // it resumes
  const FileIdentity identity = identity_of(other.path);
  if (identity == identity_of(output.path)) return true;
  const fs::path written = itself(output.path), read = itself(other.path);
  if (output.as.kind == Path::kOutputFolder) {
    return read.extension() == output.as.extension && identity_of(read.parent_path()) == identity_of(output.path);
  }
  const std::string name = written.filename().string();
  return identity == identity_of(written.string() + ".partial") ||
         (read.filename().string().starts_with("." + name + ".") &&
          identity_of(read.parent_path()) == identity_of(written.parent_path()));
}

void check_one(const GivenPath& given) {
  const auto& [option, as, path] = given;
  if (path.empty()) throw UsageError("{} has a value without the name of a file; name one", option);
  if (is_standard_stream(given) && !as.stream) {
    throw UsageError("{} is '-', which stands for standard {}, and this option takes a {} (one named - is ./-)", option,
                     as.is_output() ? "output" : "input",
                     as.kind == Path::kOutputFolder || as.kind == Path::kOutputRun ? "folder" : "file");
  }
  if (!as.is_output() || is_standard_stream(given)) return;
  const fs::path written =
      as.kind == Path::kOutputFolder ? itself(path) / fmt::format("x{}", as.extension) : itself(path);
  if (const auto run = train::run_that_has(written)) {
    throw UsageError("{} is {}, where train keeps the files of the run {}; name another place", option, path,
                     run->string());
  }
}

}  // namespace

void check_paths(const std::vector<GivenPath>& paths) {
  for (const GivenPath& given : paths) check_one(given);
  for (const GivenPath& output : paths) {
    for (const GivenPath& other : paths) {
      if (!output.as.is_output() || &other == &output) continue;
      if (!replaces(output, other)) continue;
      if (is_standard_stream(output)) {
        throw UsageError("{} and {} both go to standard output, where they would mix; name a file for one",
                         output.option, other.option);
      }
      throw UsageError("{} {} would replace {}{}{}; name another {}", output.option, output.path, other.path,
                       other.as.is_output() ? ", which is written for " : ", which is read for ", other.option,
                       output.as.kind == Path::kOutputFolder ? "folder" : "file");
    }
  }
}

}  // namespace rnnsearch::cli
