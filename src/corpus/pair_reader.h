// The training text, block by block.
#pragma once

#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "corpus/line_index.h"
#include "corpus/line_reader.h"
#include "rnnsearch/corpus/prepare.h"

namespace rnnsearch::corpus {

/// Consecutive pairs of one text, as they stand in the files: nothing is checked yet.
struct TextBlock {
  struct Side {
    std::filesystem::path path;
    std::string bytes;
    std::vector<std::size_t> ends;  // of each line in `bytes`

    std::string_view operator[](std::size_t i) const {
      const std::size_t begin = i == 0 ? 0 : ends[i - 1];
      return std::string_view(bytes).substr(begin, ends[i] - begin);
    }
    void clear() {
      bytes.clear();
      ends.clear();
    }
    void resize(std::size_t lines) {  // not more than there are
      ends.resize(lines);
      bytes.resize(lines == 0 ? 0 : ends.back());
    }
  };
  Side source, target;
  bool columns = false;          // both sides are of one file, target after source and a tab
  std::uint64_t first_line = 1;  // of its first pair in its files, from 1
  std::uint64_t first_pair = 0;  // of its first pair in all texts, from 0
  std::uint64_t bytes_read = 0;  // of all files, as far as this block's end
  bool ends_round = true;        // see PairReader

  std::size_t size() const { return source.ends.size(); }
};

/// The files of the texts: source, target, and of tab-separated values only one.
std::vector<std::filesystem::path> files_of(const std::vector<TextFiles>& texts);

/// One process's share of the text. A text is cut into units of kPairs pairs, dealt out in rounds: in each, rank r of R
/// reads one unit, the one after rank r - 1's. So the ranks' pairs, round by round in the order of ranks, are the text.
/// In a text's last round some may have none. Memory: a block, which is a unit or the part of one that makes kBytes on
/// a side, and one line. How the text is cut into blocks does not depend on the number of ranks.
class PairReader {
 public:
  static constexpr std::size_t kPairs = 1 << 13, kBytes = 4 << 20;

  /// index: of files_of(texts), as index_lines gives it, or empty: then what other ranks read is read over, and
  /// unpacked. Throws Error for files that cannot be opened.
  explicit PairReader(std::vector<TextFiles> texts, std::vector<std::optional<LineIndex>> index = {}, int rank = 0,
                      int ranks = 1);

  /// The next pairs, into `block`, which may be none in a round without; false at the end. Throws Error for files of
  /// different numbers of lines, for lines of tab-separated values without a tab, and as LineReader::append does; the
  /// pairs before such a line are handed out first.
  bool next(TextBlock& block);
  std::uint64_t size() const { return size_; }  // of all files, in bytes

 private:
  enum class Found { kUnit, kEmptyRound, kNoRound };

  void open_text();
  void close_text();
  Found begin_unit();
  bool append(TextBlock& block);
  void read_unit(TextBlock& block);

  std::vector<TextFiles> texts_;
  std::vector<std::optional<LineIndex>> index_;
  std::uint64_t rank_, ranks_;
  std::size_t next_text_ = 0, next_file_ = 0;
  std::unique_ptr<LineReader> source_, target_;  // of the text at hand; tab-separated values have no target
  const LineIndex *source_index_ = nullptr, *target_index_ = nullptr;
  std::uint64_t round_ = 0;     // of this text
  std::uint64_t unit_end_ = 0;  // of the unit under way: the pair after its last one
  bool in_unit_ = false;
  std::exception_ptr error_;  // behind the pairs that were handed out last
  std::string line_;
  std::uint64_t size_ = 0, bytes_before_ = 0, pairs_before_ = 0;  // of the texts before this one
};

/// Throws Error for two test sets of as many segments that do not belong together (check_same_segments).
void check_same_segments(const LineReader& a, const LineReader& b);

/// Throws Error for two files of different numbers of lines, of which the rest is counted.
[[noreturn]] void fail_on_counts(LineReader& a, LineReader& b);

}  // namespace rnnsearch::corpus
