#include "cli/resumable_output.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <ostream>
#include <utility>

#include "cli/precision.h"
#include "rnnsearch/base/error.h"
#include "rnnsearch/base/file.h"
#include "rnnsearch/base/json.h"
#include "rnnsearch/base/lock.h"
#include "rnnsearch/base/signals.h"
#include "rnnsearch/base/version.h"

namespace rnnsearch::cli {
namespace {

namespace fs = std::filesystem;

std::string count_of(std::size_t lines) {
  return lines == 1 ? "the first line" : text_of("the first ", lines, " lines");
}

}  // namespace

Config dependencies_of(const Options& options, const std::vector<std::string>& without) {
  const std::vector<std::string> machine = options.names_in("Machine");
  const auto is_in = [](const std::vector<std::string>& names, const std::string& name) {
    return std::find(names.begin(), names.end(), name) != names.end();
  };
  Config all{{"precision", precision_in_use()}, {"version", kVersion}};
  for (const auto& [name, value] : options.values()) {
    if (is_in(without, name) || is_in(machine, name)) continue;
    std::string& text = all["--" + name];
    text += (text.empty() ? "" : " ") + value;
    std::error_code ignored;
    if (!value.empty() && fs::is_regular_file(value, ignored)) {
      text += " (digest " + storage::Digest().add(read_file(value, stop_if_signal_came)).hex() + ")";
    }
  }
  return all;
}

ResumableOutput::ResumableOutput(std::vector<OutputPath> outputs, Config dependencies, std::ostream& standard_output)
    : dependencies_(std::move(dependencies)), standard_output_(standard_output) {
  bool all_are_files = true;
  for (const auto& [option, path] : outputs) {
    File& file = files_.emplace_back();
    if (path.empty() || path == "-") {
      all_are_files = false;
      continue;
    }
    if (fs::is_directory(path)) throw Error(text_of(option, " ", path.string(), " is a folder; name a file"));
    file.target = file_to_replace(path);
    file.partial = file.target.string() + ".partial";
  }
  if (all_are_files) record_ = files_.front().partial.string() + ".json";
  // Files that are gone were published: their record is left from a command that was killed just then.
  const bool begun = all_are_files && std::all_of(files_.begin(), files_.end(),
                                                  [](const File& file) { return fs::exists(file.partial); });
  try {
    for (File& file : files_) {
      if (file.partial.empty()) continue;
      const auto fail = [&](const std::string& why) {
        throw Error(text_of("cannot write ", file.partial.string(), ": ", why));
      };
      file.descriptor =
          ::open(file.partial.c_str(), O_WRONLY | O_CREAT | O_CLOEXEC, fs::exists(file.target) ? 0600 : 0666);
      if (file.descriptor < 0) fail(std::strerror(errno));
      if (!lock_if_possible(file.descriptor, LOCK_EX)) {  // waits: ranks of a killed launcher need a moment to end
        fail("another process is writing it; wait for its end, or name another file");
      }
      struct stat opened {};
      struct stat named {};
      if (::fstat(file.descriptor, &opened) != 0 || ::stat(file.partial.c_str(), &named) != 0 ||
          opened.st_ino != named.st_ino) {
        fail("another process has just finished it; repeat the command if the output is to be made anew");
      }
    }
    if (all_are_files) remove_abandoned(record_);  // now that the process that wrote them has ended
    if (begun) read_record();
    if (!record_.empty() && lines_ == 0) write_record();
    for (File& file : files_) {
      if (file.descriptor < 0) continue;
      if (::ftruncate(file.descriptor, static_cast<off_t>(file.bytes)) != 0 ||
          ::lseek(file.descriptor, 0, SEEK_END) < 0) {
        throw Error(
            text_of("cannot shorten ", file.partial.string(), " to ", file.bytes, " bytes: ", std::strerror(errno)));
      }
    }
  } catch (...) {
    close_files();
    throw;
  }
}

ResumableOutput::~ResumableOutput() {
  std::error_code ignored;
  for (const File& file : files_) {
    if (lines_ == 0 && file.descriptor >= 0) fs::remove(file.partial, ignored);
  }
  if (lines_ == 0 && !record_.empty()) fs::remove(record_, ignored);
  close_files();
}

void ResumableOutput::close_files() {
  for (File& file : files_) {
    if (file.descriptor >= 0) ::close(std::exchange(file.descriptor, -1));
  }
}

void ResumableOutput::read_record() {
  if (!fs::exists(record_)) {
    if (fs::file_size(files_.front().partial) == 0) return;
    throw Error(text_of(files_.front().partial.string(), " exists without ", record_.filename().string(),
                        ", so it cannot be continued; remove it, or name another output"));
  }
  const auto refuse = [&](const std::string& why) {
    throw Error(text_of(files_.front().partial.string(), " was begun by a command with ", why,
                        "; repeat that command to continue, or remove ", files_.front().partial.string(), " and ",
                        record_.filename().string(), " to begin anew"));
  };
  const Json record = Json::parse(read_file(record_), record_.string());
  for (const auto& [name, value] : record.at("depends_on").members()) {
    const auto now = dependencies_.find(name);
    if (now == dependencies_.end()) refuse(text_of(name, " ", value.string(), ", which this one does not have"));
    if (now->second != value.string()) refuse(text_of(name, " ", value.string(), ", but this one has ", now->second));
  }
  for (const auto& [name, value] : dependencies_) {
    if (!record.at("depends_on").find(name)) refuse(text_of("out ", name, ", but this one has ", value));
  }
  const auto& bytes = record.at("bytes").items();
  if (bytes.size() != files_.size()) refuse(text_of(bytes.size(), " output files, but this one has ", files_.size()));
  for (std::size_t i = 0; i < files_.size(); ++i) {
    files_[i].bytes = static_cast<std::uint64_t>(bytes[i].integer());
    if (fs::file_size(files_[i].partial) >= files_[i].bytes) continue;
    throw Error(text_of(files_[i].partial.string(), " has ", fs::file_size(files_[i].partial), " bytes, but ",
                        record_.string(), " says that ", files_[i].bytes,
                        " were written; remove both files to begin anew"));
  }
  lines_ = static_cast<std::size_t>(record.at("lines").integer());
  expected_input_ = record.at("input").string();
}

void ResumableOutput::skip(const std::string& name, const std::function<std::optional<std::string>()>& next) {
  std::size_t skipped = 0;
  for (std::optional<std::string> line; skipped < lines_ && (line = next()); ++skipped) input_.add(*line).add("\n");
  if (lines_ == 0 || (skipped == lines_ && input_.hex() == expected_input_)) return;
  throw Error(text_of(
      name,
      skipped < lines_ ? text_of(" has ", skipped, " lines") : text_of(": its first ", lines_, " lines are not those"),
      skipped < lines_ ? text_of(", but the first ", lines_, " lines") : "", " from which ",
      files_.front().partial.string(), " was made; give the same text to continue, or remove ",
      files_.front().partial.string(), " and ", record_.filename().string(), " to begin anew"));
}

void ResumableOutput::end_line(std::string_view line) {
  input_.add(line).add("\n");
  ++added_lines_;
}

void ResumableOutput::commit() {
  const auto fail = [&](const std::string& what) { throw Error(text_of("cannot write ", what, "; ", progress())); };
  for (File& file : files_) {
    if (file.partial.empty()) {
      if (!(standard_output_ << file.text).flush()) {
        fail("the results to standard output (is the disk full, or has its reader exited?)");
      }
    } else if (!write_all(file.descriptor, file.text) || ::fdatasync(file.descriptor) != 0) {
      const std::string reason = std::strerror(errno);
      [[maybe_unused]] const int ignored = ::ftruncate(file.descriptor, static_cast<off_t>(file.bytes));
      fail(text_of(file.partial.string(), ": ", reason));
    }
  }
  if (!record_.empty()) write_record();
  for (File& file : files_) {
    file.bytes += file.text.size();
    file.text.clear();
  }
  lines_ += std::exchange(added_lines_, 0);
}

void ResumableOutput::write_record() const {
  Json bytes = Json::array(), depends_on = Json::object();
  for (const File& file : files_) bytes.push_back(file.bytes + file.text.size());
  for (const auto& [name, value] : dependencies_) depends_on[name] = value;
  const Json record = Json::object({{"lines", lines_ + added_lines_},
                                    {"input", input_.hex()},
                                    {"bytes", std::move(bytes)},
                                    {"depends_on", std::move(depends_on)}});
  try {
    write_file_atomically(record_, record.dump(2) + "\n");
  } catch (const Error& error) {
    throw Error(text_of(error.what(), "; ", progress()));
  }
}

void ResumableOutput::publish() {
  for (File& file : files_) {
    if (file.partial.empty()) continue;
    replace_file(file.partial, file.target);
    ::close(std::exchange(file.descriptor, -1));
  }
  if (!record_.empty()) fs::remove(record_);
}

std::string ResumableOutput::progress() const {
  if (lines_ == 0) return "no line was done";
  if (!record_.empty()) {
    return text_of("the output of ", count_of(lines_), " is in ", files_.front().partial.string(),
                   "; repeat the command to continue");
  }
  return text_of("the output of ", count_of(lines_), " was written to standard output; continue with line ", lines_ + 1,
                 " of the input");
}

}  // namespace rnnsearch::cli
