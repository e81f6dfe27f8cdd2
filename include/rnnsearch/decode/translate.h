// From source sentences to translations: greedy and beam search, batched.
#pragma once

#include <cmath>
#include <cstddef>
#include <functional>
#include <vector>

#include "rnnsearch/base/sentences.h"
#include "rnnsearch/model/model.h"

namespace rnnsearch::decode {

/// Lengths count </s>, as Tx does here. Limits and retries are those of sample.py, the released code of Bahdanau, Cho
/// and Bengio (2015) (GroundHog, experiments/nmt, BeamSearch.search and sample). Its --beam-size has no default, and
/// the paper does not give the size of its beam: the default here is our own.
struct SearchOptions {
  std::size_t beam = 10;              // hypotheses kept, the finished ones among them; 1: greedy
  std::size_t n_best = 1;             // translations returned for each sentence, at most `beam`
  bool normalize = false;             // rank finished hypotheses by log-probability divided by length (</s> counted)
  bool no_unknown = false;            // probability of <unk> set to zero
  double minimum_length_ratio = 0.5;  // </s> is banned from the first floor(ratio * Tx) words
  double maximum_length_ratio = 3.0;  // at most floor(ratio * Tx) words, </s> counted
  /// While no hypothesis of a sentence ends within its maximum length, the sentence is searched again: first with <unk>
  /// allowed (if no_unknown banned it), then with twice the beam as long as the beam is below this number. So the
  /// widest beam has less than twice as many hypotheses, and all retries together cost less than four times as much as
  /// a single search with a beam of this size. No sentence is searched again whose length limits never allow </s>.
  /// 0: none at all.
  std::size_t retry_below = 500;
  std::size_t batch_sentences = 32;  // sentences searched together: speed and memory, not the result
  bool alignments = false;           // keep alpha
};

struct Translation {
  std::vector<WordId> words;     // without </s>
  double log_probability = 0;    // natural; of the words and, when finished, of </s>; NaN: the model computed NaN
  bool finished = true;          // false: cut off at the maximum length, because no hypothesis ended in any search
  std::size_t retries = 0;       // searches of this sentence that had finished nothing; 0 when not finished
  std::vector<float> alignment;  // [words + 1 when finished (</s>), Tx] row-major, when asked for; 0 without attention

  bool is_nan() const { return std::isnan(log_probability); }
};

/// translations[i] holds 1 to `n_best` translations of source[i], best first; in the caller's order. An empty source
/// sentence gives one empty translation. A sentence for which the model computes NaN, at whatever word of whatever
/// hypothesis, has one translation without words, which is_nan(): its training diverged. A sentence for which no retry
/// finishes anything has the hypotheses of the first search, cut off at the maximum length (sample.py fails there).
/// Sentences are searched together with others of similar length; that changes nothing but the rounding of float sums.
/// Retries search fewer sentences together, so that a wider beam takes no more memory (one sentence at least). On any
/// number of threads: the same bits. Equally probable words: the lower id of the better hypothesis. <s> is never
/// produced. `done`, when given, is told how many sentences are finished, after every batch; when it returns false, the
/// search ends there, and the sentences it left out, those that wait for a retry among them, have no translation. A
/// kernels::Interruptible ends the search in the middle of a batch: likewise, or without `done` by its exception.
std::vector<std::vector<Translation>> translate(model::Model<float>& model, const Sentences& source,
                                                const SearchOptions& options,
                                                const std::function<bool(std::size_t done)>& done = {});

}  // namespace rnnsearch::decode
