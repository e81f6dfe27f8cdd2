// Prepares a corpus file from parallel text.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "rnnsearch/base/json.h"
#include "rnnsearch/base/line_source.h"
#include "rnnsearch/base/option.h"
#include "rnnsearch/corpus/cleaning.h"
#include "rnnsearch/corpus/text_pipeline.h"

namespace rnnsearch::corpus {

/// Parallel text: line i of each file belongs to line i of the others. Files are UTF-8 with lines that end at "\n"
/// only, plain or compressed with gzip, Zstandard or xz (recognised by their first bytes).
struct TextFiles {
  std::filesystem::path source;
  std::filesystem::path target;  // if empty, each line of `source` is a source sentence, a tab and its translation
  /// If not empty, line i holds the links between the words of pair i (corpus/text_lines.h).
  std::filesystem::path alignments{};
  /// If not empty, line i holds the weight of pair i, a finite number that is not negative.
  std::filesystem::path weights{};
};
struct EvaluationFiles {
  std::string name;
  std::filesystem::path source;
  std::vector<std::filesystem::path> references;  // one or more
};

struct PrepareOptions {
  std::vector<TextFiles> train;        // one or more texts, which are concatenated
  std::optional<EvaluationFiles> dev;  // its `name` is ignored
  std::vector<EvaluationFiles> tests;
  std::filesystem::path output;
  LineLimit line_limit;  // of all of these files
  /// What links are between: words, as the tokenizer splits the text, whose subwords are then all linked with each
  /// other; or subwords.
  std::string alignments_of = "words";

  /// Learn the links of the pairs from the text (corpus/aligner.h), in place of given alignments.
  bool learn_alignments = false;

  /// Sizes of the vocabularies, including the three special symbols. If set, the vocabulary has exactly that size, and
  /// text with fewer distinct words is an Error. If not set, it holds the kDefaultWords most frequent words, or all
  /// words if there are fewer.
  std::optional<std::size_t> source_words, target_words;
  static constexpr std::size_t kDefaultWords = 30000;  // the paper's shortlist (section 4.1)
  /// Both sides use one vocabulary of the most frequent words of both sides together, for shared embeddings. Its size
  /// is source_words or target_words; if both are set, they must be equal.
  bool joint_vocabulary = false;
  /// If not empty, a corpus whose vocabularies are used in place of new ones, so that systems trained on different
  /// selections of a text have the same vocabulary. Only the counts are those of this text. Not allowed with
  /// joint_vocabulary: the vocabularies are joint if they are joint in that corpus.
  std::filesystem::path vocabulary_of;

  /// Subwords: none; a SentencePiece model that is learned here, with source_words and target_words pieces (not set:
  /// kDefaultWords, or as many as the text yields), one for both sides with joint_vocabulary; or given models of
  /// SentencePiece, or codes of subword-nmt. With SentencePiece, all pieces form the vocabularies, sorted by falling
  /// frequency; with codes, the most frequent pieces do, as for words. Not allowed with vocabulary_of, which brings its
  /// own models.
  struct SubwordOptions {
    std::string learned = "none";  // "none", "unigram" or "bpe"
    std::filesystem::path source_model, target_model;
    std::filesystem::path source_codes, target_codes;
    std::string normalization = "nmt_nfkc";  // normalization rule of a learned model, by SentencePiece's name for it
    /// The model is learned from sample_pairs pairs of the training text, drawn with `seed`.
    std::uint64_t sample_pairs = 500000, seed = 1;
  } subwords;

  CleaningOptions cleaning;
  TextPipeline pipeline;  // prepare itself sets its subwords
  /// The pipeline settings that the user asked for. With vocabulary_of they must agree with that corpus; the other
  /// settings are taken from it.
  struct Explicit {
    bool source_language = true, target_language = true, tokenizer = true, normalization = true, lowercase = true,
         copies = false;
  } given;
  /// Bytes for the tables of distinct words. Words that do not fit are sorted and written to unnamed temporary files
  /// beside the output. This does not change the corpus.
  std::size_t memory = std::size_t{1} << 30;
  bool only_check = false;  // check the options and the files, and write nothing
  bool overwrite = false;   // replace an existing output file (atomically, after the new one is complete)
};

struct PrepareReport {
  /// Statistics of one side of the pairs that were kept.
  struct Side {
    std::uint64_t words = 0;           // running words, without </s>
    std::uint64_t distinct_words = 0;  // without special symbols
    std::uint64_t vocabulary = 0;      // size of the vocabulary, with special symbols
    std::uint64_t unknown_words = 0;   // running words that are not in the vocabulary
    double coverage() const {
      return words == 0 ? 1 : 1 - static_cast<double>(unknown_words) / static_cast<double>(words);
    }
  };
  std::uint64_t pairs_read = 0, pairs_kept = 0;
  std::uint64_t further_columns = 0;  // pairs behind which their line has further columns, which are not read
  DropCounts dropped;
  Side source, target;
  std::vector<std::pair<std::string, std::uint64_t>> sets;  // name ("dev" or "test/NAME") and number of pairs
  std::string fingerprint;
  bool unchanged = false;  // the output held all this already, so it was left as it is
};

struct PrepareProgress {
  // -1: sampling pairs for subwords, 0: searching repeated pairs, 1: counting words, 2: writing ids
  int pass = 1;
  std::uint64_t bytes = 0, total_bytes = 0;  // bytes of the training text read in this pass, and in total
  std::uint64_t pairs = 0;
  /// If not empty, a message about a long step that begins or has ended; the other fields are then meaningless.
  std::string event{};
};

/// Prepares a corpus. Reads the training text twice, once more if repeated pairs are dropped, and once more if subwords
/// are learned. Uses all threads of base/parallel.h and two more, which read ahead and write behind; the corpus does
/// not depend on the number of threads. Memory: `memory`, about 100 MB for the blocks in progress, the vocabularies,
/// the development and test sets, a bit for each pair if repeated pairs are dropped, 4 MiB for each thread and subword
/// model, in which a thread keeps how it split words, and 64 MiB for each SentencePiece model, in which the threads
/// share them; nothing else grows with the number of pairs or distinct words. If unlikely pairs are dropped, a file of
/// all pairs stands beside the output until it is complete. A word of the text that is spelled like a special symbol
/// ("<s>") becomes <unk>, so text never yields a special symbol. Development and test sets keep every pair, whatever
/// its length. Throws Error, with nothing written and an existing output unchanged, for: files that are missing,
/// folders, empty, damaged, not UTF-8, or hold NUL bytes or lines longer than line_limit; files with different numbers
/// of lines; tab-separated lines without a tab; alignments that are none of their pairs; lines that are no weights;
/// text that changes while it is read; text of which no pair is kept; fewer distinct words than requested; a
/// `vocabulary_of` that is not a valid corpus or whose pipeline differs from the requested one; an output that cannot
/// be written, or holds something else than what would be written; an output that another process writes at the same
/// time. An output that is what would be written is left as it is: a job that is repeated ends well.
PrepareReport prepare(const PrepareOptions& options, const std::function<void(const PrepareProgress&)>& progress = {});

/// The filters of training pairs.
void declare(OptionList& options, CleaningOptions& o);

/// Parses NAME:SOURCE:REFERENCE[:REFERENCE]..., where a colon that belongs to a file name is written \:. Throws an
/// Error that names --test for anything else.
EvaluationFiles evaluation_files(const std::string& text);

/// The report, for people and as JSON. `output` is the corpus that was written.
void print(const PrepareReport& report, const std::filesystem::path& output, std::ostream& out);
Json json_of(const PrepareReport& report, const std::filesystem::path& output);

}  // namespace rnnsearch::corpus
