// Small corpora and what the tests of this room share.
#pragma once

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "rnnsearch/base/error.h"
#include "rnnsearch/base/random.h"
#include "rnnsearch/corpus/prepare.h"
#include "tests/support/message_of.h"
#include "tests/support/scratch.h"

namespace rnnsearch::corpus {

inline std::filesystem::path write_text(const std::filesystem::path& path, const std::string& text) {
  std::ofstream(path, std::ios::binary | std::ios::trunc) << text;
  return path;
}

/// Options for `pairs` pairs of up to 12 random words; the first source word of pair i is "pI", so that pairs can be
/// told apart by it. Every word is in the vocabulary.
inline PrepareOptions tiny_options(const Scratch& scratch, std::size_t pairs, std::uint64_t seed = 1) {
  Random random(seed);
  std::string source, target;
  for (std::size_t i = 0; i < pairs; ++i) {
    source += "p" + std::to_string(i);
    for (std::uint64_t k = random.below(12); k > 0; --k) source += " s" + std::to_string(random.below(20));
    source += "\n";
    target += "t";
    for (std::uint64_t k = random.below(12); k > 0; --k) target += " t" + std::to_string(random.below(20));
    target += "\n";
  }
  PrepareOptions options;
  options.train = {{write_text(scratch / "train.src", source), write_text(scratch / "train.tgt", target)}};
  options.output = scratch / "corpus.h5";
  options.pipeline.tokenizer = "none";
  options.source_words = std::nullopt;
  return options;
}

}  // namespace rnnsearch::corpus
