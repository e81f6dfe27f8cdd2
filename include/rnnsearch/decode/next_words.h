// What a search knows about the next word of a hypothesis.
#pragma once

#include <limits>
#include <span>

#include "rnnsearch/base/sentences.h"
#include "rnnsearch/kernels/top_words.h"

namespace rnnsearch::decode {

/// The log-probability of a word that is impossible.
inline constexpr float kNever = -std::numeric_limits<float>::infinity();

/// The log-probabilities of the next words of a hypothesis: of all words, or of a list of words.
struct NextWords {
  using Entry = kernels::TopWords::Entry;

  std::span<const float> all{};     // [K], or empty
  std::span<const Entry> listed{};  // in place of it
  float others = kNever;            // no word that is not in the list is more probable than that
  bool is_nan = false;              // all log-probabilities are NaN

  template <class Visit>
  void for_each(const Visit& visit) const {
    for (WordId word = 0; word < all.size(); ++word) visit(word, all[word]);
    for (const Entry& entry : listed) visit(entry.word, entry.log_probability);
  }
};

}  // namespace rnnsearch::decode
