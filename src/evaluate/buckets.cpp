#include "rnnsearch/evaluate/buckets.h"

#include <algorithm>
#include <cassert>
#include <mutex>
#include <utility>

#include "rnnsearch/base/error.h"

namespace rnnsearch::evaluate {
namespace {

std::string label_of(std::span<const std::size_t> edges, std::size_t bucket) {
  if (edges.empty()) return "any";
  if (bucket == 0) return fmt::format("up to {}", edges[0]);
  if (bucket == edges.size()) return fmt::format("over {}", edges.back());
  const std::size_t first = edges[bucket - 1] + 1;
  return first == edges[bucket] ? std::to_string(first) : fmt::format("{}-{}", first, edges[bucket]);
}

double ratio(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
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
  assert(length != LengthOf::kLongest || sources.size() == references.size());
  std::vector<std::size_t> bucket_of(length == LengthOf::kSource ? sources.size() : references.size());
  for_each_line(bucket_of.size(), [&](std::size_t i) {
    std::size_t words = 0;
    if (length != LengthOf::kSource) words = word_count(references[i], tokens);
    if (length != LengthOf::kReference) words = std::max(words, word_count(sources[i], tokens));
    bucket_of[i] = static_cast<std::size_t>(std::lower_bound(edges.begin(), edges.end(), words) - edges.begin());
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

double WordAccuracy::precision() const {
  return ratio(correct, hypothesis);
}
double WordAccuracy::recall() const {
  return ratio(correct, words);
}
double WordAccuracy::f1() const {
  return ratio(2 * correct, hypothesis + words);
}  // the harmonic mean of precision and recall

std::vector<WordAccuracy> word_accuracies(std::span<const std::string> hypotheses,
                                          std::span<const std::string> references, const WordFrequencies& frequencies) {
  assert(hypotheses.size() == references.size());
  std::vector<WordAccuracy> sums(frequency_labels().size());
  std::mutex mutex;
  for_each_line(hypotheses.size(), [&](std::size_t i) {
    auto ours = frequencies.words(hypotheses[i]), theirs = frequencies.words(references[i]);
    std::sort(ours.begin(), ours.end());
    std::sort(theirs.begin(), theirs.end());
    std::vector<std::string> both;  // common words, each as often as on the side that has it less often
    std::set_intersection(ours.begin(), ours.end(), theirs.begin(), theirs.end(), std::back_inserter(both));
    std::vector<std::pair<std::size_t, std::uint64_t WordAccuracy::*>>
        found;  // the bucket of each word, and what counts it
    const auto find = [&](const std::vector<std::string>& words, std::uint64_t WordAccuracy::*count) {
      for (const auto& word : words) found.emplace_back(frequency_bucket(frequencies.count(word)), count);
    };
    find(ours, &WordAccuracy::hypothesis);
    find(theirs, &WordAccuracy::words);
    find(both, &WordAccuracy::correct);
    const std::lock_guard lock(mutex);
    for (const auto& [bucket, count] : found) ++(sums[bucket].*count);
  });
  for (std::size_t b = 0; b < sums.size(); ++b) sums[b].label = frequency_labels()[b];
  return sums;
}

}  // namespace rnnsearch::evaluate
