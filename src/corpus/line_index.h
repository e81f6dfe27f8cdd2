// An index of the line starts in a plain text file, so that several processes can each read some of its lines.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <utility>
#include <vector>

#include "rnnsearch/corpus/team.h"

namespace rnnsearch::corpus {

/// Holds about one mark for every kLines lines, which takes a few megabytes for 40 million lines.
class LineIndex {
 public:
  static constexpr std::uint64_t kLines = 256;
  struct Mark {
    std::uint64_t line = 0;    // from 0
    std::uint64_t offset = 0;  // position of its first byte in the file
  };

  LineIndex() = default;
  /// REQUIRES: `marks` is in ascending order.
  explicit LineIndex(std::vector<Mark> marks) : marks_(std::move(marks)) {}
  const std::vector<Mark>& marks() const { return marks_; }
  /// The last mark that is not after `line`; the start of the file if there is none.
  Mark before(std::uint64_t line) const;

 private:
  std::vector<Mark> marks_;
};

/// COLLECTIVE. Each process counts the lines in a part of each file. There is no index for compressed files, because
/// they can only be read from the start. Throws Error for files that cannot be read, or whose
/// size differs between ranks.
std::vector<std::optional<LineIndex>> index_lines(const std::vector<std::filesystem::path>& files, Team& team);

}  // namespace rnnsearch::corpus
