#include "cli/options/suggestion.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

namespace rnnsearch::cli {

std::size_t edit_distance(std::string_view a, std::string_view b) {
  std::vector<std::size_t> before(b.size() + 1), above(b.size() + 1), row(b.size() + 1);
  std::iota(row.begin(), row.end(), std::size_t{0});
  for (std::size_t i = 1; i <= a.size(); ++i) {
    before = std::exchange(above, row);
    row[0] = i;
    for (std::size_t j = 1; j <= b.size(); ++j) {
      row[j] = std::min({above[j] + 1, row[j - 1] + 1, above[j - 1] + (a[i - 1] == b[j - 1] ? 0u : 1u)});
      if (i > 1 && j > 1 && a[i - 1] == b[j - 2] && a[i - 2] == b[j - 1]) row[j] = std::min(row[j], before[j - 2] + 1);
    }
  }
  return row[b.size()];
}

std::optional<std::string> nearest(std::string_view name, std::span<const std::string> names) {
  std::optional<std::string> best;
  std::size_t best_distance = std::max<std::size_t>(2, name.size() / 3) + 1;
  for (const std::string& candidate : names) {
    const std::size_t least = std::max(name.size(), candidate.size()) - std::min(name.size(), candidate.size());
    if (least >= std::min(best_distance, candidate.size())) continue;  // a name of any length costs no time
    const std::size_t distance = edit_distance(name, candidate);
    if (distance < best_distance && distance < candidate.size()) {
      best_distance = distance;
      best = candidate;
    }
  }
  return best;
}

std::string suggestion(std::string_view name, std::span<const std::string> names, const std::string& otherwise) {
  const auto meant = nearest(name, names);
  return meant ? ": did you mean '" + *meant + "'?" : ": " + otherwise;
}

}  // namespace rnnsearch::cli
