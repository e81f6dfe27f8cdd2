// A file that holds a command's results whole, or is not there.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <optional>
#include <string>

#include "rnnsearch/base/file.h"

namespace rnnsearch {

/// Written beside its name and published when whole; or another stream, such as standard output.
class OutputFile {
 public:
  /// `option` is what named it, for errors: "--output". With an empty path `standard_output` is written, which outlives
  /// this. Throws Error for a folder, and where no file can be written.
  OutputFile(const std::string& option, std::filesystem::path path, std::ostream& standard_output);
  void write(const std::string& text) { stream() << text; }
  /// Throws Error where a write failed: on a full disk, mostly.
  void check();
  /// Hands everything on to the system; false where a write failed.
  bool flush();
  /// Throws Error, a full disk included.
  void publish();
  /// What was written, up to the last flush that did not fail, as PATH.partial. Returns where it stands.
  std::string publish_part();

 private:
  std::ostream& stream();

  std::ostream& standard_output_;
  std::optional<AtomicFile> target_;  // nothing: standard output
  std::filesystem::path path_;
  std::ofstream file_;
  std::uintmax_t flushed_ = 0;  // bytes
};

}  // namespace rnnsearch
