// What a step of a search selects from, and what it selects.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "rnnsearch/base/sentences.h"
#include "rnnsearch/decode/translate.h"

namespace rnnsearch::decode {

/// A word that extends a hypothesis, given by its index.
struct Candidate {
  double score;
  std::uint32_t hypothesis;
  WordId word;
  float log_probability;     // of the word
  std::uint32_t sample = 0;  // its number, in sampling; of its group, in a search of several
  double penalty = 0;        // what groups subtract from the score of a growing hypothesis

  bool better_than(const Candidate& other) const {
    const double left = score - penalty, right = other.score - other.penalty;
    if (left != right) return left > right;
    return hypothesis != other.hypothesis ? hypothesis < other.hypothesis : word < other.word;
  }
};

inline constexpr auto kBestFirst = [](const Candidate& a, const Candidate& b) { return a.better_than(b); };

/// Keeps the `room` best candidates that were added.
class Best {
 public:
  explicit Best(std::size_t room) : room_(room) {}

  bool takes(const Candidate& candidate) const {
    return room_ > 0 && (kept_.size() < room_ || candidate.better_than(kept_.front()));
  }
  /// Whether no candidate of this score, without its penalty, or a lower one is taken.
  bool all_exceed(double score) const {
    return room_ == 0 || (kept_.size() == room_ && kept_.front().score - kept_.front().penalty > score);
  }
  /// REQUIRES: takes(candidate)
  void add(const Candidate& candidate) {
    if (kept_.size() == room_) {
      std::pop_heap(kept_.begin(), kept_.end(), kBestFirst);
      kept_.pop_back();
    }
    kept_.push_back(candidate);
    std::push_heap(kept_.begin(), kept_.end(), kBestFirst);
  }
  /// Best first; at most once.
  std::vector<Candidate> sorted() {
    std::sort_heap(kept_.begin(), kept_.end(), kBestFirst);
    return std::move(kept_);
  }

 private:
  std::size_t room_;
  std::vector<Candidate> kept_;  // a heap with the worst on top
};

/// A uniform random number in [0, 1) that depends only on the arguments: Philox with the seed as key.
double uniform_of(std::uint64_t seed, std::uint64_t sentence, std::uint32_t sample, std::uint32_t step);

/// The word at `uniform` of the cumulative distribution
///   p(y) = exp(scores[y] / temperature) / sum_y' exp(scores[y'] / temperature),
/// in the order of word ids, where y' is among the top_k largest scores, the lower id among equal ones. A word whose
/// score is -infinity is never drawn. Nothing if all are. REQUIRES: no score is NaN or +infinity; 0 <= uniform < 1.
std::optional<WordId> draw(std::span<const float> scores, const Sampling& sampling, double uniform);

}  // namespace rnnsearch::decode
