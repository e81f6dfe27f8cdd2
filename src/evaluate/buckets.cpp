#include "rnnsearch/evaluate/buckets.h"

#include <algorithm>
#include <cassert>
#include <utility>

#include "rnnsearch/base/ceil_div.h"
#include "rnnsearch/base/error.h"
#include "rnnsearch/base/parallel.h"

namespace rnnsearch::evaluate {
namespace {

std::string label_of(std::span<const std::size_t> edges, std::size_t bucket) {
  if (edges.empty()) return "any";
  if (bucket == 0) return fmt::format("up to {}", edges[0]);
  if (bucket == edges.size()) return fmt::format("over {}", edges.back());
  const std::size_t first = edges[bucket - 1] + 1;
  return first == edges[bucket] ? std::to_string(first) : fmt::format("{}-{}", first, edges[bucket]);
}

}  // namespace

void check_edges(std::span<const std::size_t> edges) {
  for (std::size_t i = 1; i < edges.size(); ++i) {
    if (edges[i] > edges[i - 1]) continue;
    throw UsageError("evaluate: length buckets end at {} and then at {}; give ascending lengths, for instance 10,20,30",
                     edges[i - 1], edges[i]);
  }
}

Buckets by_length(std::span<const std::string> references, std::span<const std::string> sources, LengthOf length,
                  std::span<const std::size_t> edges, const BleuOptions& tokens) {
  check_edges(edges);
  assert(length != LengthOf::kLongest || sources.size() == references.size());
  std::vector<std::size_t> bucket_of(length == LengthOf::kSource ? sources.size() : references.size());
  constexpr std::size_t kLinesPerPiece = 256;
  parallel_for(ceil_div(bucket_of.size(), kLinesPerPiece), [&](std::size_t piece) {
    const std::size_t end = std::min(bucket_of.size(), (piece + 1) * kLinesPerPiece);
    for (std::size_t i = piece * kLinesPerPiece; i < end; ++i) {
      std::size_t words = 0;
      if (length != LengthOf::kSource) words = word_count(references[i], tokens);
      if (length != LengthOf::kReference) words = std::max(words, word_count(sources[i], tokens));
      bucket_of[i] = static_cast<std::size_t>(std::lower_bound(edges.begin(), edges.end(), words) - edges.begin());
    }
  });
  Buckets buckets;
  buckets.sentences.resize(edges.size() + 1);
  for (std::size_t b = 0; b <= edges.size(); ++b) buckets.labels.push_back(label_of(edges, b));
  for (std::size_t i = 0; i < bucket_of.size(); ++i) buckets.sentences[bucket_of[i]].push_back(i);
  return buckets;
}

Buckets by_unknown_share(std::span<const double> shares) {
  constexpr double kEdges[] = {0, 0.05, 0.1, 0.2};  // the largest share of each bucket; the last bucket has no limit
  Buckets buckets{{"none", "up to 5%", "5 to 10%", "10 to 20%", "over 20%"}, std::vector<std::vector<std::size_t>>(5)};
  for (std::size_t i = 0; i < shares.size(); ++i) {
    const auto edge = std::lower_bound(std::begin(kEdges), std::end(kEdges), shares[i]);
    buckets.sentences[static_cast<std::size_t>(edge - std::begin(kEdges))].push_back(i);
  }
  return buckets;
}

const std::vector<std::string>& frequency_labels() {
  static const std::vector<std::string> labels{"unknown", "1-9", "10-99", "100-999", "1000 and more"};
  return labels;
}

std::size_t frequency_bucket(std::uint64_t frequency) {
  std::size_t bucket = 0;  // the number of decimal digits of the frequency; 0 has none
  for (; frequency > 0 && bucket + 1 < frequency_labels().size(); frequency /= 10) ++bucket;
  return bucket;
}

Buckets by_frequency(std::span<const std::uint64_t> frequencies) {
  Buckets buckets{frequency_labels(), std::vector<std::vector<std::size_t>>(frequency_labels().size())};
  for (std::size_t i = 0; i < frequencies.size(); ++i) {
    if (frequencies[i] != kNoWord) buckets.sentences[frequency_bucket(frequencies[i])].push_back(i);
  }
  return buckets;
}

}  // namespace rnnsearch::evaluate
