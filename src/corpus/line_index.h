// Where lines of a plain text file begin, so that several processes can each read some of its lines.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include "rnnsearch/corpus/team.h"

namespace rnnsearch::corpus {

/// Of some lines, one in kLines or so: for 40 million lines some megabytes.
class LineIndex {
 public:
  static constexpr std::uint64_t kLines = 256;
  struct Mark {
    std::uint64_t line = 0;    // from 0
    std::uint64_t offset = 0;  // of its first byte in the file
  };

  LineIndex() = default;
  /// Ascending.
  explicit LineIndex(std::vector<Mark> marks) : marks_(std::move(marks)) {}
  const std::vector<Mark>& marks() const { return marks_; }
  /// The last line that is known and not after `line`.
  Mark before(std::uint64_t line) const;

 private:
  std::vector<Mark> marks_;
};

/// COLLECTIVE. Each process counts the lines of a part of each file's bytes. Nothing for files that are compressed: one
/// can only begin at their beginning. Throws Error for files that cannot be read, or are not alike everywhere.
std::vector<std::optional<LineIndex>> index_lines(const std::vector<std::filesystem::path>& files, Team& team);

}  // namespace rnnsearch::corpus
