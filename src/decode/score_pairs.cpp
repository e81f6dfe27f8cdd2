#include "rnnsearch/decode/score_pairs.h"

#include <algorithm>
#include <cmath>

#include "rnnsearch/decode/distribute.h"

namespace rnnsearch::decode {

std::vector<std::optional<double>> score_pairs(const Ensemble& ensemble, std::span<const WordPair> pairs,
                                               std::size_t batch_sentences, const comm::Communicator& communicator,
                                               const std::function<void(std::size_t done)>& done) {
  std::size_t before = 0;  // pairs that all ranks have scored, if they are equally fast
  const auto score_batch = [&](const std::vector<const WordPair*>& batch) {
    const auto [source, target] = sentences_of(batch);
    const auto found = score(ensemble, source, target);
    if (done) done(before + batch.size());
    before += static_cast<std::size_t>(communicator.size()) * batch_sentences;
    return std::vector<std::optional<double>>(found.begin(), found.end());
  };
  return distribute<WordPair, double>(communicator, pairs, by_length(target_lengths(pairs), batch_sentences),
                                      score_batch);
}

std::optional<std::size_t> first_nan(std::span<const std::optional<double>> scores) {
  const auto found = std::find_if(scores.begin(), scores.end(), [](const auto& one) { return !std::isfinite(*one); });
  if (found == scores.end()) return std::nullopt;
  return static_cast<std::size_t>(found - scores.begin());
}

}  // namespace rnnsearch::decode
