#include "rnnsearch/evaluate/sequence_accuracy.h"

#include <algorithm>
#include <bit>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <unordered_map>

#include "rnnsearch/base/error.h"
#include "rnnsearch/base/parallel.h"
#include "rnnsearch/base/version.h"
#include "rnnsearch/text/unicode.h"

namespace rnnsearch::evaluate {
namespace {

using Words = std::span<const std::string_view>;

constexpr std::size_t kBits = 64;

// A reference without words gives 0, as in calculate_metrics of the replication.
double share(std::size_t part, std::size_t reference) {
  return reference == 0 ? 0 : static_cast<double>(part) / static_cast<double>(reference);
}

std::size_t same_positions(Words a, Words b) {
  std::size_t same = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) same += a[i] == b[i];
  return same;
}

}  // namespace

std::string legend_of(SequenceAccuracyMode mode) {
  if (mode == SequenceAccuracyMode::kNone) return {};
  return fmt::format("PSA, LCSR and GeoMean are means over sequences; {}",
                     mode == SequenceAccuracyMode::kCut ? "outputs were cut to the reference's length"
                                                        : "LCSR and GeoMean are of the whole output");
}

std::size_t longest_common_subsequence(Words a, Words b) {
  if (a.empty() || b.empty()) return 0;
  const std::size_t blocks = ceil_div(a.size(), kBits);
  // For each word of a, a bit set of its positions.
  std::unordered_map<std::string_view, std::size_t> number;
  std::vector<std::uint64_t> positions;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const auto [at, first] = number.emplace(a[i], number.size());
    if (first) positions.resize(positions.size() + blocks);
    positions[at->second * blocks + i / kBits] |= std::uint64_t{1} << i % kBits;
  }
  // Bit i is 0 if the longest common subsequence of the first i + 1 words of a is longer than that of the first i
  // words. This represents a row of the table of lengths by its steps. The next row is V = (V + (V & M)) | (V & ~M).
  std::vector<std::uint64_t> steps(blocks, ~std::uint64_t{0});
  for (const std::string_view word : b) {
    const auto at = number.find(word);
    if (at == number.end()) continue;
    const std::uint64_t* const matches = positions.data() + at->second * blocks;
    std::uint64_t carry = 0;
    for (std::size_t block = 0; block < blocks; ++block) {
      const std::uint64_t v = steps[block], matched = v & matches[block];
      const std::uint64_t partial = v + matched, sum = partial + carry;
      carry = static_cast<std::uint64_t>(partial < v) | static_cast<std::uint64_t>(sum < partial);
      steps[block] = sum | (v & ~matched);
    }
  }
  // Bits past the end of a never match and stay 1.
  std::size_t length = 0;
  for (const std::uint64_t v : steps) length += static_cast<std::size_t>(std::popcount(~v));
  return length;
}

SequenceAccuracy sentence_statistics(std::string_view hypothesis, std::span<const std::string_view> references,
                                     const SequenceAccuracyOptions& options) {
  assert(!references.empty());
  const auto line_of = [&](std::string_view raw) {
    return options.lowercase ? text::lowercase(raw) : std::string(raw);
  };
  const std::string own_line = line_of(hypothesis);
  const auto own = text::split_views(own_line);
  SequenceAccuracy best;
  for (const std::string_view raw : references) {
    const std::string line = line_of(raw);
    const auto reference = text::split_views(line);
    const std::size_t kept = options.cut_output ? std::min(own.size(), reference.size()) : own.size();
    const Words output = Words(own).first(kept);
    const double psa = share(same_positions(output, reference), reference.size());
    const double lcsr = share(longest_common_subsequence(reference, output), reference.size());
    best.psa = std::max(best.psa, psa);
    best.lcsr = std::max(best.lcsr, lcsr);
    best.geometric_mean = std::max(best.geometric_mean, std::sqrt(psa * lcsr));
  }
  return best;
}

std::string signature(const SequenceAccuracyOptions& options, std::size_t references,
                      const std::optional<Bootstrap>& bootstrap) {
  return fmt::format("{}|case:{}|tok:none|output:{}|mean:sentences|version:rnnsearch-{}",
                     signature_head(references, bootstrap), options.lowercase ? "lc" : "mixed",
                     options.cut_output ? "cut" : "whole", kVersion);
}

}  // namespace rnnsearch::evaluate
