// Merges corpora that were prepared separately with the same vocabularies.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "rnnsearch/corpus/cleaning.h"

namespace rnnsearch::corpus {

struct MergeOptions {
  std::vector<std::filesystem::path> corpora;  // two or more
  std::filesystem::path output;
  std::uint64_t shard_pairs = 1u << 20;
  bool overwrite = false;
};

struct MergeReport {
  std::uint64_t pairs = 0, source_words = 0, target_words = 0;
  Selection selection;
  std::string fingerprint;
  std::vector<std::string> warnings;  // sentences about corpora whose text other versions of libraries split
  bool unchanged = false;             // the output held all this already
};

/// Writes the training pairs of the corpora one after the other, and the development and test sets of all. A set that
/// several corpora hold must be the same in each. The output is bit-identical to that of `prepare` with --vocabulary-of
/// for all their texts, except for pairs that are repeated between texts. If different versions of ICU or SentencePiece
/// split the texts, a warning says so, and the output has the record of the first corpus. Memory: a block of pairs and
/// the sets. Throws
/// Error, with nothing written, for damaged corpora, for corpora that differ in vocabularies, languages, pipeline or
/// cleaning (the message names the difference), for different sets of the same name, and for an output that prepare
/// would reject. As with prepare, an output that holds the same already is left as it is.
MergeReport merge(const MergeOptions& options);

}  // namespace rnnsearch::corpus
