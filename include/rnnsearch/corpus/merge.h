// One corpus of several that were prepared apart, with the same vocabularies.
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
};

/// The pairs of one after the other, and the sets of all: one that several have must be the same in each. The corpus
/// is, bit for bit, that of `prepare` with --vocabulary-of of all their texts, but for pairs that are repeated in
/// another's text. Memory: a block of pairs and the sets. Throws Error, with nothing written, for corpora that are
/// damaged, or differ in vocabularies, languages, pipeline or cleaning, saying in what; for sets of one name that
/// differ; and for an output as prepare does.
MergeReport merge(const MergeOptions& options);

}  // namespace rnnsearch::corpus
