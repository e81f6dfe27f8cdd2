// What searches select their candidates with.
#pragma once

#include <algorithm>
#include <cstddef>
#include <limits>
#include <utility>
#include <vector>

#include "decode/search.h"

namespace rnnsearch::decode {

/// The log-probability of a word that is impossible.
inline constexpr float kNever = -std::numeric_limits<float>::infinity();

inline constexpr auto kByScore = [](const Candidate& a, const Candidate& b) { return a.better_than(b); };

/// Keeps the `room` best candidates that were added. `Better` is an order of candidates.
template <class Better>
class Best {
 public:
  Best(std::size_t room, Better better) : room_(room), better_(better) {}

  bool takes(const Candidate& candidate) const {
    return room_ > 0 && (kept_.size() < room_ || better_(candidate, kept_.front()));
  }
  /// Whether no candidate of this score or a lower one is taken. REQUIRES: the order is kByScore
  bool all_exceed(double score) const { return room_ == 0 || (kept_.size() == room_ && kept_.front().score > score); }
  /// REQUIRES: takes(candidate)
  void add(const Candidate& candidate) {
    if (kept_.size() == room_) {
      std::pop_heap(kept_.begin(), kept_.end(), better_);
      kept_.pop_back();
    }
    kept_.push_back(candidate);
    std::push_heap(kept_.begin(), kept_.end(), better_);
  }
  /// Best first; at most once.
  std::vector<Candidate> sorted() {
    std::sort_heap(kept_.begin(), kept_.end(), better_);
    return std::move(kept_);
  }

 private:
  std::size_t room_;
  Better better_;
  std::vector<Candidate> kept_;  // a heap with the worst on top
};

}  // namespace rnnsearch::decode
