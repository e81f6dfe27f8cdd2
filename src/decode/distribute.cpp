#include "rnnsearch/decode/distribute.h"

#include <algorithm>
#include <numeric>

#include "rnnsearch/base/parallel.h"

namespace rnnsearch::decode {

Assignment by_length(std::span<const std::size_t> lengths, std::size_t batch_items) {
  std::vector<std::uint64_t> order(lengths.size());
  std::iota(order.begin(), order.end(), std::uint64_t{0});
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return lengths[a] > lengths[b]; });
  Assignment assignment;
  for (std::size_t first = 0; first < order.size(); first += batch_items) {
    const auto begin = order.begin() + static_cast<std::ptrdiff_t>(first);
    assignment.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(std::min(batch_items, order.size() - first)));
  }
  return assignment;
}

Assignment round_robin(std::size_t items, std::size_t ranks) {
  Assignment assignment(std::min(items, ranks));
  for (std::size_t i = 0; i < items; ++i) assignment[i % ranks].push_back(i);
  return assignment;
}

void until_stopped(const std::function<void()>& act) {
  const Interruptible interruptible(stop_signal_came);
  try {
    act();
  } catch (const Interrupted&) {  // to be agreed on by all ranks
  }
}

}  // namespace rnnsearch::decode
