#include "cli/resumable_output.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <iostream>
#include <nlohmann/json.hpp>

#include "cli/options/common.h"
#include "rnnsearch/base/file.h"
#include "rnnsearch/base/json.h"
#include "rnnsearch/base/signals.h"
#include "rnnsearch/base/version.h"

namespace rnnsearch::cli {
namespace {

namespace fs = std::filesystem;

std::string count_of(std::size_t lines) {
  return lines == 1 ? "the first line" : fmt::format("the first {} lines", lines);
}

}  // namespace

Config dependencies_of(const Options& options, const std::vector<std::string>& without) {
  Config all{{"arithmetic", kernels::arithmetic()}, {"version", kVersion}};
  for (const auto& [name, value] : options.values()) {
    if (std::ranges::count(without, name) > 0 || options.find(name)->group == "Machine") continue;
    std::string& text = all["--" + name];
    text += (text.empty() ? "" : " ") + value;
    std::error_code ignored;
    if (fs::is_regular_file(value, ignored))
      text += " (digest " + storage::Digest().add(read_file(value, stop_if_signal_came)).hex() + ")";
  }
  return all;
}

ResumableOutput::ResumableOutput(std::vector<OutputPath> outputs, Config dependencies)
    : dependencies_(std::move(dependencies)) {
  bool all_are_files = true;
  for (const auto& [option, path] : outputs) {
    File& file = files_.emplace_back();
    if (path.empty() || path == "-") {
      all_are_files = false;
      continue;
    }
    if (fs::is_directory(path)) throw Error("{} {} is a folder; name a file", option, path);
    file.target = file_to_replace(path);
    file.partial = file.target.string() + ".partial";
  }
  if (all_are_files) record_ = files_.front().partial.string() + ".json";
  // Files that are gone were published: their record is left from a command that was killed just then.
  const bool begun =
      all_are_files && std::ranges::all_of(files_, [](const File& file) { return fs::exists(file.partial); });
  try {
    for (File& file : files_) {
      if (file.partial.empty()) continue;
      const auto fail = [&](const std::string& why) { throw Error("cannot write {}: {}", file.partial, why); };
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
    throw Error("{} exists without {}, so it cannot be continued; remove it, or name another output",
                files_.front().partial, record_.filename());
  }
  const auto refuse = [&](const std::string& why) {
    throw Error("{0} was begun by a command {1}; repeat that command to continue, or remove {0} and {2} to begin anew",
                files_.front().partial, why, record_.filename());
  };
  const Json record = parse_json(read_file(record_), record_.string());
  for (const auto& [name, value] : as_object(member(record, "depends_on")).items()) {
    const auto now = dependencies_.find(name);
    const std::string& then = as_string(value);
    if (now == dependencies_.end()) refuse(fmt::format("with {} {}, which this one does not have", name, then));
    if (now->second != then) refuse(fmt::format("with {} {}, but this one has {}", name, then, now->second));
  }
  for (const auto& [name, value] : dependencies_) {
    if (!find_member(member(record, "depends_on"), name))
      refuse(fmt::format("without {}, but this one has {}", name, value));
  }
  const auto& bytes = as_array(member(record, "bytes"));
  if (bytes.size() != files_.size())
    refuse(fmt::format("with {} output files, but this one has {}", bytes.size(), files_.size()));
  for (std::size_t i = 0; i < files_.size(); ++i) {
    files_[i].bytes = static_cast<std::uint64_t>(as_integer(bytes[i]));
    if (fs::file_size(files_[i].partial) >= files_[i].bytes) continue;
    throw Error("{} has {} bytes, but {} says that {} were written; remove both files to begin anew", files_[i].partial,
                fs::file_size(files_[i].partial), record_, files_[i].bytes);
  }
  lines_ = static_cast<std::size_t>(as_integer(member(record, "lines")));
  expected_input_ = as_string(member(record, "input"));
}

void ResumableOutput::skip(const std::string& name, const std::function<std::optional<std::string>()>& next) {
  std::size_t skipped = 0;
  for (std::optional<std::string> line; skipped < lines_ && (line = next()); ++skipped) input_.add(*line).add("\n");
  if (lines_ > 0 && (skipped < lines_ || input_.hex() != expected_input_)) {
    throw Error(
        "{0}{1}{2} from which {3} was made; give the same text to continue, or remove {3} and {4} to begin anew", name,
        skipped < lines_ ? fmt::format(" has {} lines", skipped)
                         : fmt::format(": its first {} lines are not those", lines_),
        skipped < lines_ ? fmt::format(", but the first {} lines", lines_) : "", files_.front().partial,
        record_.filename());
  }
  for (File& file : files_) {  // only now, because a command that is refused changes nothing
    if (file.descriptor < 0) continue;
    if (::ftruncate(file.descriptor, static_cast<off_t>(file.bytes)) != 0 || ::lseek(file.descriptor, 0, SEEK_END) < 0)
      throw Error("cannot shorten {} to {} bytes: {}", file.partial, file.bytes, std::strerror(errno));
  }
}

void ResumableOutput::end_line(std::string_view line) {
  input_.add(line).add("\n");
  ++added_lines_;
}

void ResumableOutput::commit() {
  const auto fail = [&](const std::string& what) { throw Error("cannot write {}; {}", what, progress()); };
  for (File& file : files_) {
    if (file.partial.empty()) {
      if (!(std::cout << file.text).flush())
        fail("the results to standard output (is the disk full, or has its reader exited?)");
    } else if (!write_all(file.descriptor, file.text) || ::fdatasync(file.descriptor) != 0) {
      const std::string reason = std::strerror(errno);
      [[maybe_unused]] const int ignored = ::ftruncate(file.descriptor, static_cast<off_t>(file.bytes));
      fail(fmt::format("{}: {}", file.partial, reason));
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
  Json bytes = Json::array();
  for (const File& file : files_) bytes.push_back(file.bytes + file.text.size());
  const Json record = Json::object({{"lines", lines_ + added_lines_},
                                    {"input", input_.hex()},
                                    {"bytes", std::move(bytes)},
                                    {"depends_on", dependencies_}});
  try {
    write_file_atomically(record_, json_text(record, 2) + "\n");
  } catch (const Error& error) {
    throw Error("{}; {}", error.what(), progress());
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
    return fmt::format("the output of {} is in {}; repeat the command to continue", count_of(lines_),
                       files_.front().partial);
  }
  return fmt::format("the output of {} was written to standard output; continue with line {} of the input",
                     count_of(lines_), lines_ + 1);
}

}  // namespace rnnsearch::cli
