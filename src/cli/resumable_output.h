// The output files of a command that works through an input line by line and, when it is repeated after a signal or a
// crash, continues where it was.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "rnnsearch/base/option.h"
#include "rnnsearch/cli/options.h"
#include "rnnsearch/storage/sealed_file.h"

namespace rnnsearch::cli {

/// An option that names an output, and its value; an empty path, or -, is standard output.
struct OutputPath {
  std::string option;  // "--output"
  std::filesystem::path path;
};

/// What the outputs of a command depend on besides its input, by name: the recorded options except `without` and those
/// of the group Machine, and the precision. A value that names a file is followed by the digest of that file.
Config dependencies_of(const Options& options, const std::vector<std::string>& without);

/// Until it is complete, an output FILE is FILE.partial. FILE.partial.json, beside the first of them, records how many
/// lines of the input are done, their digest and the dependencies; a later command with the same outputs continues from
/// there. If an output is standard output, nothing is continued. For one thread.
class ResumableOutput {
 public:
  /// Throws Error if a file cannot be written, if another process writes it, and if what is there has other
  /// dependencies.
  ResumableOutput(std::vector<OutputPath> outputs, Config dependencies);
  /// Removes the files if no line is done; otherwise they stay.
  ~ResumableOutput();
  ResumableOutput(const ResumableOutput&) = delete;
  ResumableOutput& operator=(const ResumableOutput&) = delete;

  /// The number of lines of the input that are done.
  std::size_t lines() const { return lines_; }
  /// Must be called once, before write() and end_line(). `next` returns the next line of the input `name`, nothing at
  /// its end. Reads the lines that are done, and removes from the files what was written after them. Throws Error unless
  /// they are the lines that the earlier command read; then the files stay as they are.
  void skip(const std::string& name, const std::function<std::optional<std::string>()>& next);
  /// Adds to output `number`.
  void write(std::size_t number, std::string_view text) { files_[number].text += text; }
  /// Everything that `line` of the input gives has been added.
  void end_line(std::string_view line);
  /// Writes what was added to the files and the record. Throws Error, for a full disk for instance, that says what was
  /// written before.
  void commit();
  /// After commit(): the files appear under their names. Throws Error.
  void publish();
  /// Why a command that a signal stopped ends: that, and progress().
  std::string stopped() const { return "a signal asked to stop; " + progress(); }
  /// "the output of the first 7 lines is in x.partial; repeat the command to continue"; "no line was done".
  std::string progress() const;

 private:
  struct File {
    std::filesystem::path target{}, partial{};  // empty: standard output
    int descriptor = -1;
    std::uint64_t bytes = 0;  // committed
    std::string text{};       // added since
  };
  void read_record();
  void write_record() const;
  void close_files();

  std::vector<File> files_;
  Config dependencies_;
  std::filesystem::path record_;  // empty: nothing is continued
  std::size_t lines_ = 0, added_lines_ = 0;
  storage::Digest input_;
  std::string expected_input_;  // digest of the lines that are done
};

}  // namespace rnnsearch::cli
