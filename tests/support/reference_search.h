// Beam search and the scores of its hypotheses, in float64 and from their definitions. It is slow and simple on
// purpose: every hypothesis is run through the reference models from its beginning, and tests compare decode with the
// result.
//
// The search is BeamSearch.search of the released code of Bahdanau, Cho and Bengio (2015): at each step the best
// continuations of all hypotheses are kept, as many as the beam is wide; those that end leave it, and it shrinks by
// them. The scores are those of Wu et al. (2016), Google's neural machine translation system, section 7, equation 14:
//   s(Y, X) = log P(Y|X) / lp(Y) + cp(X, Y)
//   lp(Y) = (5 + |Y|)^alpha / (5 + 1)^alpha
//   cp(X, Y) = beta sum_j log(min(sum_i p_ij, 1)), with p_ij the attention of the i-th target word to the j-th source
//   word
// plus a constant for each word (Murray and Chiang 2018). </s> is a word.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "tests/support/reference_model.h"

namespace rnnsearch::reference {

struct System {
  Parameters parameters;
  StateReads state_reads = StateReads::kCurrentWord;
  double weight = 1;  // in an ensemble
};

struct SearchSettings {
  std::size_t beam = 1;
  std::size_t shortest = 0, longest = 10;  // words before </s>; words with </s>
  bool divide_by_length = false;
  double alpha = 0, beta = 0, bonus = 0;
  bool average_logarithms = false;  // of an ensemble, in place of probabilities
};

struct Hypothesis {
  std::vector<WordId> words;  // without </s>
  bool finished = false;
  Vector word_scores;     // [words, </s> if finished]
  std::vector<Vector> p;  // [words, </s> if finished][Tx]; empty vectors without attention
  double log_probability = 0;
  double length_penalty = 1, coverage_penalty = 0, word_bonus = 0, score = 0;
};

/// The finished hypotheses, best first, or those that were cut off if none is.
std::vector<Hypothesis> beam_search(std::span<const System> systems, std::span<const WordId> source,
                                    const SearchSettings& settings);
/// All that the limits allow, best first.
std::vector<Hypothesis> exhaustive_search(std::span<const System> systems, std::span<const WordId> source,
                                          const SearchSettings& settings);

}  // namespace rnnsearch::reference
