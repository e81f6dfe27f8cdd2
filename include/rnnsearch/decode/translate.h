// From source sentences to translations: greedy and beam search, batched.
#pragma once

#include <cstddef>
#include <vector>

#include "rnnsearch/base/sentences.h"
#include "rnnsearch/model/model.h"

namespace rnnsearch::decode {

/// Defaults: the released code of Bahdanau, Cho and Bengio (2015), sample.py.
struct SearchOptions {
  std::size_t beam = 10;               // 1: greedy
  std::size_t best = 1;                // translations returned for each sentence, at most `beam`
  bool normalize = false;              // rank finished hypotheses by log-probability divided by length (</s> counted)
  bool suppress_unknown = false;       // probability of <unk> set to zero
  double minimum_length_ratio = 0.5;   // </s> is banned while i < ratio * source words
  double maximum_length_ratio = 3.0;   // at most ratio * source words (</s> of the source counted)
  std::size_t batch_sentences = 32;    // sentences searched together; has no influence on the result's words
  bool alignments = false;             // keep alpha
};

struct Translation {
  std::vector<WordId> words;           // without </s>
  double log_probability = 0;          // of the words and </s>
  bool finished = true;                // false: cut off at the maximum length
  std::vector<float> alignment;        // [words + 1 (</s>), source words + 1 (</s>)] row-major, when asked for
};

/// translations[i] holds 1 to `best` translations of source[i], best first; in the caller's order. An empty source
/// sentence gives one empty translation. Sentences are searched together with others of similar length.
std::vector<std::vector<Translation>> translate(model::Model<float>& model, const Sentences& source,
                                                const SearchOptions& options);

}  // namespace rnnsearch::decode
