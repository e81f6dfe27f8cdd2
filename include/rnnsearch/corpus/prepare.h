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

#include "rnnsearch/corpus/text_pipeline.h"

namespace rnnsearch::corpus {

/// Line i of every file belongs together. Files are UTF-8, lines end at "\n" alone.
struct EvaluationFiles {
  std::string name;
  std::filesystem::path source;
  std::vector<std::filesystem::path> references;  // one or more
};

struct PrepareOptions {
  std::filesystem::path train_source, train_target;
  std::optional<EvaluationFiles> dev;  // its name is not used
  std::vector<EvaluationFiles> tests;
  std::filesystem::path output;

  /// Sizes of the vocabularies, the three special symbols included. Not set: the kUsualWords most frequent, or all
  /// there are. Set: exactly so many, and text with fewer distinct words is an Error.
  std::optional<std::size_t> source_words, target_words;
  static constexpr std::size_t kUsualWords = 30000;  // the paper's shortlist (section 4.1)
  /// Not empty: a corpus whose vocabularies are taken, in its order, in place of cutting new ones; so that systems
  /// trained on different selections of one text know the same words. Only the counts are those of this text.
  std::filesystem::path vocabulary_of;

  std::size_t max_length = 50;  // words of either side, without </s>: longer pairs are dropped (paper: 50, 30)
  TextPipeline pipeline;
  std::uint64_t shard_pairs = 1u << 20;
  bool overwrite = false;  // replace a file that stands at `output`, once the new one is whole
};

struct PrepareReport {
  /// Each dropped pair is counted once, by the first reason that holds.
  struct Dropped {
    std::uint64_t empty_source = 0, empty_target = 0, long_source = 0, long_target = 0;
    std::uint64_t total() const { return empty_source + empty_target + long_source + long_target; }
  };
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
  std::uint64_t pairs_read = 0, pairs_kept = 0;
  Dropped dropped;
  Side source, target;
  std::vector<std::pair<std::string, std::uint64_t>> sets;  // "dev", "test/NAME"; pairs
  std::string fingerprint;
};

struct PrepareProgress {
  int pass = 1;                               // 1 counts words, 2 writes ids
  std::uint64_t bytes = 0, bytes_in_all = 0;  // of the training text, in this pass
  std::uint64_t pairs = 0;
};

/// Reads the training text twice. Memory: the table of distinct words (it grows with their number, by some 100 bytes
/// each), the development and test sets, and a few megabytes; nothing grows with the number of pairs. A word of the
/// text that is spelled like a special symbol ("<s>") becomes <unk>: text never makes a special symbol. Development and
/// test sets keep every pair, whatever its length. Throws Error, in one sentence, with nothing written and what stood
/// at `output` untouched, for: files that are missing, folders, empty, not UTF-8, with NUL bytes or lines beyond 16
/// MiB; files of different numbers of lines; nothing left after dropping; fewer distinct words than asked; a
/// `vocabulary_of` that is no sound corpus, or was made with another pipeline; an output that exists or cannot be
/// written.
PrepareReport prepare(const PrepareOptions& options, const std::function<void(const PrepareProgress&)>& progress = {});

}  // namespace rnnsearch::corpus
