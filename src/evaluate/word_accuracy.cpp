#include "rnnsearch/evaluate/word_accuracy.h"

#include <algorithm>
#include <cassert>

#include "rnnsearch/base/ceil_div.h"
#include "rnnsearch/base/parallel.h"
#include "rnnsearch/evaluate/buckets.h"

namespace rnnsearch::evaluate {
namespace {

double ratio(std::uint64_t part, std::uint64_t whole) {
  return whole == 0 ? 0 : static_cast<double>(part) / static_cast<double>(whole);
}

std::vector<WordAccuracy> none() {
  std::vector<WordAccuracy> accuracies(frequency_labels().size());
  for (std::size_t b = 0; b < accuracies.size(); ++b) accuracies[b].label = frequency_labels()[b];
  return accuracies;
}

}  // namespace

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
  constexpr std::size_t kSentencesPerPiece = 256;
  const std::size_t pieces = ceil_div(hypotheses.size(), kSentencesPerPiece);
  std::vector<std::vector<WordAccuracy>> of_piece(pieces);
  parallel_for(pieces, [&](std::size_t piece) {
    auto accuracies = none();
    const std::size_t end = std::min(hypotheses.size(), (piece + 1) * kSentencesPerPiece);
    for (std::size_t i = piece * kSentencesPerPiece; i < end; ++i) {
      auto ours = frequencies.words(hypotheses[i]), theirs = frequencies.words(references[i]);
      std::sort(ours.begin(), ours.end());
      std::sort(theirs.begin(), theirs.end());
      std::vector<std::string> both;  // common words, each as often as on the side that has it less often
      std::set_intersection(ours.begin(), ours.end(), theirs.begin(), theirs.end(), std::back_inserter(both));
      const auto bucket = [&](const std::string& word) -> WordAccuracy& {
        return accuracies[frequency_bucket(frequencies.count(word))];
      };
      for (const auto& word : ours) ++bucket(word).hypothesis;
      for (const auto& word : theirs) ++bucket(word).words;
      for (const auto& word : both) ++bucket(word).correct;
    }
    of_piece[piece] = std::move(accuracies);
  });
  auto sums = none();
  for (const auto& accuracies : of_piece) {
    for (std::size_t b = 0; b < sums.size(); ++b) {
      sums[b].words += accuracies[b].words;
      sums[b].hypothesis += accuracies[b].hypothesis;
      sums[b].correct += accuracies[b].correct;
    }
  }
  return sums;
}

}  // namespace rnnsearch::evaluate
