// What the constrained and diverse searches of constrained_search.cpp select their candidates with.
#pragma once

#include <algorithm>
#include <cstddef>
#include <utility>
#include <vector>

#include "decode/search.h"

namespace rnnsearch::decode {

/// Keeps the `room` best candidates that were added. `Better` is an order of candidates.
template <class Better>
class Best {
 public:
  Best(std::size_t room, Better better) : room_(room), better_(better) {}

  bool takes(const Candidate& candidate) const {
    return room_ > 0 && (kept_.size() < room_ || better_(candidate, kept_.front()));
  }
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
