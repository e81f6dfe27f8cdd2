// Reads the training text in blocks, and makes passes over it on all threads.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include "corpus/byte_source.h"
#include "corpus/prepare/repeated_pairs.h"
#include "corpus/prepare/word_statistics.h"
#include "rnnsearch/base/line_source.h"
#include "rnnsearch/base/sentences.h"
#include "rnnsearch/corpus/cleaning.h"
#include "rnnsearch/corpus/prepare.h"
#include "rnnsearch/corpus/text_pipeline.h"
#include "rnnsearch/corpus/vocabulary.h"
#include "rnnsearch/storage/sealed_file.h"
#include "rnnsearch/text/word_list.h"

namespace rnnsearch::corpus {

/// Consecutive pairs of one text, exactly as in the files and unchecked.
struct TextBlock {
  struct Side {
    std::filesystem::path path;
    std::string bytes;
    std::vector<std::size_t> ends;  // the end of each line in `bytes`

    std::string_view operator[](std::size_t i) const {
      const std::size_t begin = i == 0 ? 0 : ends[i - 1];
      return std::string_view(bytes).substr(begin, ends[i] - begin);
    }
    void clear() {
      bytes.clear();
      ends.clear();
    }
    void resize(std::size_t lines) {  // REQUIRES: lines <= ends.size()
      ends.resize(lines);
      bytes.resize(lines == 0 ? 0 : ends.back());
    }
  };
  Side source, target;
  Side alignments, weights;           // without lines if the text has none
  bool columns = false;               // both sides are columns of one file, separated by a tab
  std::uint64_t first_line = 1;       // line number of the first pair in its files, from 1
  std::uint64_t first_pair = 0;       // number of the first pair over all texts, from 0
  std::uint64_t further_columns = 0;  // pairs behind which their line has further columns, which are not read
  std::uint64_t bytes_read = 0;       // bytes of all files up to the end of this block

  std::size_t size() const { return source.ends.size(); }
};

/// A file that has a line for each pair of a text.
struct Companion {
  std::filesystem::path TextFiles::*path;
  TextBlock::Side TextBlock::*lines;
  const char* advice;  // for a file with another number of lines
};
inline constexpr std::array kCompanions{
    Companion{&TextFiles::alignments, &TextBlock::alignments,
              "line i must hold the links of pair i, and be empty if it has none"},
    Companion{&TextFiles::weights, &TextBlock::weights, "line i must hold the weight of pair i"}};

/// The files of the texts: source and target, or the one file of tab-separated values, and the companions.
std::vector<std::filesystem::path> files_of(const std::vector<TextFiles>& texts);

/// A file of the training text, and the reader of its lines.
struct TrainingFile {
  const ByteSource& bytes;  // owned by `text`
  LineSource text;

  /// Throws Error as ByteSource::open does.
  TrainingFile(const std::filesystem::path& path, const LineLimit& limit)
      : TrainingFile(ByteSource::open(path), limit) {}

 private:
  TrainingFile(std::unique_ptr<ByteSource> opened, const LineLimit& limit)
      : bytes(*opened), text(std::move(opened), bytes.path().string(), limit) {}
};

/// Memory: a block and one line, where a block has kPairs pairs of one text, or fewer that reach kBytes on one side.
class PairReader {
 public:
  static constexpr std::size_t kPairs = 1 << 13, kBytes = 4 << 20;

  /// Throws Error for files that cannot be opened.
  PairReader(std::vector<TextFiles> texts, const LineLimit& limit);

  /// Reads the next block, which is not empty; returns false at the end. Throws Error for files with different numbers
  /// of lines, for tab-separated lines without a tab, and as LineSource::append does; the pairs in front of such a line
  /// are returned first.
  bool next(TextBlock& block);
  std::uint64_t size() const { return size_; }  // size of all files in bytes

 private:
  void open_text();
  void close_text();
  bool append(TextBlock& block);
  bool append_companions(bool more, TextBlock& block);
  std::vector<const ByteSource*> open_files() const;
  void read(TextBlock& block);

  std::vector<TextFiles> texts_;
  LineLimit limit_;
  std::size_t next_text_ = 0;
  std::unique_ptr<TrainingFile> source_, target_;  // files of the current text; tab-separated values have no target_
  std::array<std::unique_ptr<TrainingFile>, kCompanions.size()> companions_;  // those that the current text has
  std::exception_ptr error_;  // the error that follows the pairs that were returned last
  std::string line_;
  std::uint64_t size_ = 0;                             // bytes of all files
  std::uint64_t bytes_before_ = 0, pairs_before_ = 0;  // bytes and pairs of the texts before the current one
};

/// The result of one thread for some consecutive pairs of a block.
struct Piece {
  struct Side {
    text::WordList words;              // words of the pairs that are kept
    std::vector<std::uint32_t> sizes;  // number of words of each of these pairs
    HashedWords hashed;                // used in the pass that counts words
    std::vector<WordId> ids;           // used in the pass that writes ids
  };
  Side source, target;
  struct Links {
    std::vector<std::uint32_t> sizes, positions;  // of each pair that is kept; empty if the corpus has no alignments
  } links;
  std::vector<float> weights;                 // of each pair that is kept; 1 if the text has none
  std::vector<storage::ShortDigest> digests;  // one for every pair, in the pass that searches repeated pairs
  DropCounts dropped;
  std::exception_ptr error;

  std::size_t kept() const { return source.sizes.size(); }
};

struct PassSteps {
  int pass = 1;  // PrepareProgress::pass
  /// Called on all threads: processes pairs [first, last) of the block. `piece` still holds the result of its last use.
  std::function<void(const TextBlock& block, std::size_t first, std::size_t last, Piece& piece)> work;
  /// Called with the pieces of a block, in the order of the text, while `work` processes the next block. The two must
  /// not use the same data.
  std::function<void(const std::vector<Piece>& pieces)> keep;
};

/// Totals of the whole text.
struct PassTotals {
  std::uint64_t pairs_read = 0, pairs_kept = 0;
  DropCounts dropped;
  std::string digest;                 // digest of the text, 32 hexadecimal digits
  std::uint64_t further_columns = 0;  // see TextBlock
};

/// Throws Error as PairReader and the steps do; of several errors, the first one in the text.
PassTotals read_text(const std::vector<TextFiles>& texts, const LineLimit& limit, const PassSteps& steps,
                     const std::function<void(const PrepareProgress&)>& progress);

/// Calls check_line for both lines of a pair.
void check_pair(const TextBlock& block, std::size_t pair);

/// Throws Error: the text changed while it was read.
[[noreturn]] void fail_on_change(const std::vector<TextFiles>& texts);

/// The names of the source and target text for error messages.
std::pair<std::string, std::string> names_of(const std::vector<TextFiles>& texts);

/// The training text of a corpus that is being prepared. All references outlive this.
struct TrainingText {
  const PrepareOptions& options;
  const std::function<void(const PrepareProgress&)>& progress;

  /// The folder of the output, which has room for temporary files, too.
  std::filesystem::path folder() const {
    return options.output.has_parent_path() ? options.output.parent_path() : std::filesystem::path(".");
  }
  /// One pass, see read_text.
  PassTotals read(const PassSteps& steps) const {
    return read_text(options.train, options.line_limit, steps, progress);
  }
};

/// A PassSteps::work: checks, tokenizes and selects pairs [first, last) of the block. Thread-safe. Throws Error for a
/// line that is no valid text, for links that do not fit their pair, and for a line that is no weight.
void split_pairs(const PrepareOptions& options, const PairCleaner& cleaner, const PairSet& repeated,
                 const TextBlock& block, std::size_t first, std::size_t last, Piece& piece);

/// Throws Error for contradictory subword options.
void check_subwords(const PrepareOptions& options);

/// Returns options.pipeline with the subwords that the options request, whose models are read from files, or learned
/// from a sample of the training text. Memory: the sample and SentencePiece's own data (1.8 GB for 500,000 pairs of
/// about 11 words on each side, learned jointly). Throws Error, naming the file or the option, for models that cannot
/// be read, used or learned.
TextPipeline with_subwords(const PrepareOptions& options, const std::function<void(const PrepareProgress&)>& progress);

/// A vocabulary of all pieces of a SentencePiece model, without counts.
Vocabulary vocabulary_of(const text::Subwords& subwords);

}  // namespace rnnsearch::corpus
