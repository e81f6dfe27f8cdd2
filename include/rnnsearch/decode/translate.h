// Translates sentences in batches, with greedy or beam search.
#pragma once

#include <cmath>
#include <cstddef>
#include <functional>
#include <vector>

#include "rnnsearch/base/sentences.h"
#include "rnnsearch/model/model.h"

namespace rnnsearch::decode {

/// Lengths, including Tx, count </s>. Limits and retries are those of sample.py in the released code of Bahdanau, Cho
/// and Bengio (2015) (GroundHog, experiments/nmt, BeamSearch.search and sample). Its --beam-size has no default and the
/// paper does not state its beam size, so the default is our own.
struct SearchOptions {
  std::size_t beam = 10;              // number of hypotheses, including finished ones; 1: greedy search
  std::size_t n_best = 1;             // translations returned for each sentence, at most `beam`
  bool normalize = false;             // rank finished hypotheses by log-probability divided by length, including </s>
  bool no_unknown = false;            // never produce <unk>
  double minimum_length_ratio = 0.5;  // </s> cannot be among the first floor(ratio * Tx) words
  double maximum_length_ratio = 3.0;  // at most floor(ratio * Tx) words, including </s>
  /// If no hypothesis of a sentence ends within its maximum length, the sentence is searched again: first with <unk>
  /// allowed (if no_unknown is set), then with a doubled beam as long as the beam is smaller than this number. The
  /// largest beam is therefore less than twice this number, and all retries together cost less than four times a single
  /// search with a beam of this size. A sentence whose length limits never allow </s> is not searched again. 0: no
  /// retries.
  std::size_t retry_below = 500;
  std::size_t batch_sentences = 32;  // sentences searched together; affects speed and memory, not the result
  bool alignments = false;           // return the attention weights
};

struct Translation {
  std::vector<WordId> words;     // without </s>, in the order of the sentence, whatever the direction of the search
  double log_probability = 0;    // natural logarithm, including </s> if finished; NaN if the model computed NaN
  bool finished = true;          // false: cut off at the maximum length, because no hypothesis ended in any search
  std::size_t retries = 0;       // number of searches of this sentence without a result; 0 if not finished
  std::vector<float> alignment;  // [words, plus </s> if finished, Tx] row-major, if requested; 0 without attention

  bool is_nan() const { return std::isnan(log_probability); }
};

/// Returns, in the caller's order, 1 to `n_best` translations of each source sentence, best first.
/// - An empty source sentence gives one empty translation.
/// - A sentence for which the model computes NaN at any word of any hypothesis, because its training diverged, has one
///   translation without words for which is_nan() holds.
/// - A sentence for which all retries fail has the hypotheses of the first search, cut off at the maximum length
///   (sample.py fails for such a sentence).
/// - <s> is never produced. Among equally probable continuations, the one of the better hypothesis wins, then the lower
///   word id. Sentences are searched together with others of similar length, which affects only the rounding of float
///   sums. Retries search fewer sentences together, so that a larger beam needs no more memory (but at least one
///   sentence). The result is bit-identical for any number of threads. If given, `done` is called after every batch
///   with the number of finished sentences. If it returns false, the search ends, and the remaining sentences,
///   including those that wait for a retry, have no translation. A Interruptible ends the search in the middle
///   of a batch with the same result, or, without `done`, with its exception.
std::vector<std::vector<Translation>> translate(model::Model<float>& model, const Sentences& source,
                                                const SearchOptions& options,
                                                const std::function<bool(std::size_t done)>& done = {});

}  // namespace rnnsearch::decode
