// A slow model in float64, from which tests make searches of their own.
#pragma once

#include <gtest/gtest.h>

#include <cstddef>
#include <map>
#include <span>
#include <vector>

#include "rnnsearch/decode/translate.h"
#include "tests/decode/reference_system.h"

namespace rnnsearch::decode {

using Words = std::vector<WordId>;

/// A translation as the references make it.
struct Found {
  Words words;  // without </s>
  double log_probability = 0;
  double ranked = 0;  // log-probability minus what groups subtract
  bool finished = false;
};

/// The slow model: log p(. | prefix, source), each computed once.
class Slow {
 public:
  Slow(const model::Model& model, std::span<const WordId> source) : system_(system_of(model)), source_(source) {}

  const reference::Vector& after(const Words& prefix) {
    const auto [found, is_new] = rows_.try_emplace(prefix);
    if (is_new) {
      const auto trace = reference::trace(system_.parameters, system_.state_reads, source_, prefix);
      found->second = trace.log_probabilities.at(prefix.size());
    }
    return found->second;
  }
  std::size_t shortest() const { return (source_.size() + 1) / 2; }
  std::size_t longest() const { return 3 * (source_.size() + 1); }
  bool allows(std::size_t before, WordId word) const {
    return word != kStart && (word != kEnd || before >= shortest());
  }
  Found extended(const Found& found, WordId word, double penalty = 0) {
    const double score = after(found.words).at(word);
    Found next{found.words, found.log_probability + score, found.ranked + score - penalty, word == kEnd};
    if (word != kEnd) next.words.push_back(word);
    return next;
  }

 private:
  reference::System system_;
  std::span<const WordId> source_;
  std::map<Words, reference::Vector> rows_;
};

inline void expect_same(const std::vector<Translation>& found, const std::vector<Found>& expected,
                        std::size_t sentence) {
  ASSERT_EQ(found.size(), expected.size()) << "sentence " << sentence;
  for (std::size_t k = 0; k < found.size(); ++k) {
    ASSERT_EQ(found[k].words, expected[k].words) << "sentence " << sentence << ", translation " << k;
    EXPECT_EQ(found[k].finished, expected[k].finished);
    EXPECT_NEAR(found[k].log_probability, expected[k].log_probability, 1e-4) << "sentence " << sentence;
  }
}

inline bool more_probable(const Found& a, const Found& b) {
  return a.log_probability > b.log_probability;
}

}  // namespace rnnsearch::decode
