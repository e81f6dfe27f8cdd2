// From parallel text to a corpus file.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rnnsearch/corpus/cleaning.h"
#include "rnnsearch/corpus/team.h"
#include "rnnsearch/corpus/text_pipeline.h"

namespace rnnsearch::corpus {

/// Line i of every file belongs together. Files are UTF-8, lines end at "\n" alone; plain, or compressed with gzip,
/// Zstandard or xz, which is seen in what they begin with. A name that test_set_name() knows (test_set_file.h) is that
/// of a test set of WMT, whose segments are the lines: <src> of what is a source here, <ref> of what is a translation.
struct TextFiles {
  std::filesystem::path source;
  std::filesystem::path target;  // empty: `source` has tab-separated values, the source sentence and its translation
};
struct EvaluationFiles {
  std::string name;
  std::filesystem::path source;
  std::vector<std::filesystem::path> references;  // one or more
};

struct PrepareOptions {
  std::vector<TextFiles> train;        // one or more, one after the other
  std::optional<EvaluationFiles> dev;  // its name is not used
  std::vector<EvaluationFiles> tests;
  std::filesystem::path output;

  /// Sizes of the vocabularies, the three special symbols included. Not set: the kUsualWords most frequent, or all
  /// there are. Set: exactly so many, and text with fewer distinct words is an Error.
  std::optional<std::size_t> source_words, target_words;
  static constexpr std::size_t kUsualWords = 30000;  // the paper's shortlist (section 4.1)
  /// One vocabulary, of the most frequent words of both sides together, stands for both (for embeddings that they
  /// share). Its size is source_words or target_words, or the same of both.
  bool joint_vocabulary = false;
  /// Not empty: a corpus whose vocabularies are taken, in its order, in place of cutting new ones; so that systems
  /// trained on different selections of one text know the same words. Only the counts are those of this text. Not with
  /// joint_vocabulary: they are joint if they were there.
  std::filesystem::path vocabulary_of;

  /// Subwords: a model of SentencePiece that is learned here, as large as source_words and target_words say (not set:
  /// kUsualWords pieces, or all that the text gives), one for both sides with joint_vocabulary; or given models, of
  /// SentencePiece or codes of subword-nmt; or none. The pieces of SentencePiece make up the vocabularies, by falling
  /// frequency; those of codes are cut as words are. Not with vocabulary_of, whose models come with it.
  struct SubwordOptions {
    std::string learned = "none";  // "unigram", "bpe"
    std::filesystem::path source_model, target_model;
    std::filesystem::path source_codes, target_codes;
    std::string normalization = "nmt_nfkc";  // of what is learned: SentencePiece's name of a rule, and its default
    /// Pairs of the training text, chosen by a seed of their own, that a model is learned from.
    std::uint64_t sample_pairs = 500000, seed = 1;
  } subwords;

  /// Not empty: a corpus whose pairs and sets come first. Its vocabularies, pipeline and cleaning are taken; of the
  /// options that say what they are none counts. `output` may be this file, which is then replaced, unless its last
  /// pairs are those of this text: a job that is started again must not append twice. Repeated pairs are sought in this
  /// text alone. The corpus is as if both texts had been prepared at once with those vocabularies.
  std::filesystem::path append_to;

  CleaningOptions cleaning;  // which pairs are taken
  TextPipeline pipeline;     // its subwords are prepare's
  /// Which of its settings were asked for. With vocabulary_of these must be as they are there, and the others are taken
  /// from there.
  struct Asked {
    bool source_language = true, target_language = true, tokenizer = true, normalization = true, lowercase = true;
  } asked;
  std::uint64_t shard_pairs = 1u << 20;
  /// Bytes for the tables of distinct words. What does not fit goes, sorted, to files beside the output that have no
  /// name and are gone afterwards; the corpus is the same.
  std::size_t memory = std::size_t{1} << 30;
  /// Of text of so many bytes subwords are learned and words are counted only once: what that found is kept beside the
  /// output, in ".OUTPUT.counted", until the corpus is whole or an error ends the work; if the process is killed
  /// instead, the same options and files go on from there.
  std::uint64_t keep_counts_from = std::uint64_t{64} << 20;
  bool overwrite = false;  // replace a file that stands at `output`, once the new one is whole
};

struct PrepareReport {
  /// One side of the pairs that were kept.
  struct Side {
    std::uint64_t words = 0;           // running words, without </s>
    std::uint64_t distinct_words = 0;  // without special symbols
    std::uint64_t vocabulary = 0;      // with special symbols
    std::uint64_t unknown_words = 0;   // running words that are not in the vocabulary
    double coverage() const {
      return words == 0 ? 1 : 1 - static_cast<double>(unknown_words) / static_cast<double>(words);
    }
  };
  std::uint64_t pairs_before = 0;  // of the corpus that was appended to; all other counts are of this text alone
  std::uint64_t pairs_read = 0, pairs_kept = 0;
  DropCounts dropped;
  Side source, target;
  std::vector<std::pair<std::string, std::uint64_t>> sets;  // "dev", "test/NAME"; pairs
  std::string fingerprint;
  bool learned_before = false, counted_before = false;  // by a process that was killed
};

struct PrepareProgress {
  // -1 samples for subwords, 0 seeks repeated pairs, 1 counts words, 2 writes ids
  int pass = 1;
  std::uint64_t bytes = 0, bytes_in_all = 0;  // of the training text, in this pass
  std::uint64_t pairs = 0;
  /// Not empty: what begins or ended now and takes long without counting anything, for people; the rest says nothing.
  std::string event{};
};

/// Reads the training text twice, once more before to find repeated pairs, and once for subwords that are learned, on
/// all threads of kernels/parallel.h and two more, which read ahead and write behind; the corpus does not depend on
/// them. Memory: `memory`, some 100 MB for the blocks under way, the vocabularies, the development and test sets, and a
/// bit for each pair if repeated ones are dropped; nothing else grows with the number of pairs or of distinct words. A
/// word of the text that is spelled like a special symbol ("<s>") becomes <unk>: text never makes a special symbol.
/// Development and test sets keep every pair, whatever its length. Throws Error, in one sentence, with nothing written
/// and what stood at `output` untouched, for: files that are missing, folders, empty, damaged, not UTF-8, with NUL
/// bytes or lines beyond 16 MiB; files of different numbers of lines; lines of tab-separated values without a tab; text
/// that changes while it is read; nothing left after dropping; fewer distinct words than asked; a `vocabulary_of` that
/// is no sound corpus, or was made with another pipeline than was asked for; an output that exists or cannot be
/// written; text that was appended to the same file before; an output that another process wrote or changed meanwhile.
PrepareReport prepare(const PrepareOptions& options, const std::function<void(const PrepareProgress&)>& progress = {});

/// COLLECTIVE. The same by several processes, which all see the same files; rank 0 alone writes the corpus, the same
/// bits as one process, and gets the whole report. Text is dealt out in units of some thousand pairs: of plain files
/// every process reads its own alone, compressed ones every process unpacks whole. Words are counted by each process,
/// in `memory`, and added up at rank 0, which has the units of one round in memory, one a process.
PrepareReport prepare(const PrepareOptions& options, Team& team,
                      const std::function<void(const PrepareProgress&)>& progress = {});

}  // namespace rnnsearch::corpus
