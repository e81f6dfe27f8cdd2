// The output file of a command, which appears only when it is complete.
#pragma once

#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "rnnsearch/base/file.h"

namespace rnnsearch {

/// Writes to a temporary file, which `publish` renames when it is complete; or to another stream, such as standard
/// output.
class OutputFile {
 public:
  /// `option` is the option that gave the path, for errors: "--output". With an empty path, or -, the output goes to
  /// `standard_output`, which must outlive this object. Throws Error if the path is a folder or no file can be written
  /// there.
  OutputFile(const std::string& option, std::filesystem::path path, std::ostream& standard_output);
  void write(const std::string& text) { stream() << text; }
  /// Throws Error if a write has failed, usually because the disk is full.
  void check();
  /// Throws Error, a full disk included.
  void publish();

 private:
  std::ostream& stream();

  std::ostream& standard_output_;
  std::optional<AtomicFile> target_;  // nothing: standard output
  std::filesystem::path path_;
  std::ofstream file_;
};

}  // namespace rnnsearch
