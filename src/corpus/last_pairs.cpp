#include "corpus/last_pairs.h"

#include <algorithm>

namespace rnnsearch::corpus {

void LastPairs::add(std::span<const WordId> source, std::span<const WordId> target) {
  if (!same_) return;
  if (at_ == block_.source.size()) {
    if (next_ == corpus_.train_pairs()) {  // the text has grown since it was counted
      same_ = false;
      return;
    }
    block_ = corpus_.read_pairs(next_, std::min(kPairs, corpus_.train_pairs() - next_));
    next_ += block_.source.size();
    at_ = 0;
  }
  same_ = std::ranges::equal(source, block_.source[at_]) && std::ranges::equal(target, block_.target[at_]);
  ++at_;
}

}  // namespace rnnsearch::corpus
