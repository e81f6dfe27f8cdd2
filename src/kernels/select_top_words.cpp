#include "rnnsearch/kernels/top_words.h"

#include <algorithm>
#include <limits>

namespace rnnsearch::kernels {

// Words come in ascending order, so that a later one is better only with a higher score.
void select_top_words(std::span<const Real> log_probabilities, std::size_t i, TopWords& top) {
  thread_local std::vector<TopWords::Entry> best;
  best.clear();
  const auto limit = static_cast<std::ptrdiff_t>(top.limit);
  Real threshold = -std::numeric_limits<Real>::infinity();
  for (std::uint32_t word = 0; word < log_probabilities.size(); ++word) {
    if (!(log_probabilities[word] > threshold)) continue;
    best.push_back({log_probabilities[word], word});
    if (best.size() < 2 * top.limit) continue;
    std::nth_element(best.begin(), best.begin() + limit - 1, best.end(), belongs_before);
    best.resize(top.limit);
    threshold = best.back().log_probability;
  }
  std::sort(best.begin(), best.end(), belongs_before);
  const std::size_t length = std::min(top.limit, best.size());
  std::copy_n(best.begin(), length, top.entries.begin() + static_cast<std::ptrdiff_t>(i * top.limit));
  top.lengths[i] = static_cast<std::uint32_t>(length);
  top.nan[i] = !log_probabilities.empty() && log_probabilities[0] != log_probabilities[0];
}

}  // namespace rnnsearch::kernels
