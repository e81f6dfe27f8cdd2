#include "train/shard_sums.h"

#include <algorithm>
#include <cassert>

#include "train/for_blocks.h"

namespace rnnsearch::train {
ShardPlan::ShardPlan(std::uint64_t shards, int rank, int ranks)
    : tree_(shards), own_(tree_.shards_of(static_cast<std::uint64_t>(rank), 1, static_cast<std::uint64_t>(ranks))) {
  comm::NodeStack nodes(tree_);
  for (std::uint64_t shard = own_.first; shard < own_.end; ++shard) {
    const std::size_t held = nodes.nodes().size();
    steps_.push_back({held, nodes.push({shard, shard + 1})});
  }
}

void ShardSums::take(const ShardPlan& plan, std::size_t shard, std::span<float> gradient) {
  assert(shard + 1 < plan.count() && gradient.size() == size_);
  const ShardPlan::Step& step = plan.step(shard);
  const std::size_t held = step.held, additions = step.additions;
  const std::size_t to = held - additions;
  if (held_.size() <= to) held_.resize(to + 1);
  if (additions == 0) held_[to].resize(size_);
  for_blocks(size_, [&](std::size_t first, std::size_t last) {
    float* const own = gradient.data();
    float* const sum = held_[to].data();
    for (std::size_t k = held; k-- > to + 1;) {
      const float* const left = held_[k].data();
      for (std::size_t i = first; i < last; ++i) own[i] = left[i] + own[i];
    }
    if (additions == 0) {
      std::copy(own + first, own + last, sum + first);
    } else {
      for (std::size_t i = first; i < last; ++i) sum[i] += own[i];
    }
    std::fill(own + first, own + last, 0.0F);
  });
}

std::vector<std::span<float>> ShardSums::finish(const ShardPlan& plan, std::size_t first, std::span<float> gradient) {
  assert(first + gradient.size() <= size_);
  const ShardPlan::Step& step = plan.step(plan.count() - 1);
  const std::size_t held = step.held, additions = step.additions;
  for_blocks(gradient.size(), [&](std::size_t begin, std::size_t end) {
    for (std::size_t k = held; k-- > held - additions;) {
      const float* const left = held_[k].data() + first;
      for (std::size_t i = begin; i < end; ++i) gradient[i] = left[i] + gradient[i];
    }
  });
  std::vector<std::span<float>> nodes;
  for (std::size_t k = 0; k < held - additions; ++k) {
    nodes.push_back(std::span(held_[k]).subspan(first, gradient.size()));
  }
  nodes.push_back(gradient);
  return nodes;
}

}  // namespace rnnsearch::train
