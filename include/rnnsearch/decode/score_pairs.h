// Forced decoding of many sentence pairs, on any number of ranks.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "rnnsearch/comm/communicator.h"
#include "rnnsearch/decode/translate_lines.h"

namespace rnnsearch::decode {

/// COLLECTIVE. Computes the score of each pair as decode::score does. `pairs` are those of the root, which gets the
/// results in their order; the other ranks get nothing. Pairs with targets of similar lengths are scored together,
/// `batch_sentences` at most; which ones depends on the pairs alone, so the bits do not depend on ranks and threads.
/// After a stop signal some pairs have no score, and the caller asks comm::stop_signal_came_anywhere. A score is not
/// finite if the model computes NaN: see refuse_nan. `done` is called on every rank with the approximate number of
/// pairs that all ranks have scored.
std::vector<std::optional<double>> score_pairs(const Ensemble& ensemble, std::span<const WordPair> pairs,
                                               std::size_t batch_sentences, const comm::Communicator& communicator,
                                               const std::function<void(std::size_t done)>& done = {});

/// The first pair whose score is not finite. REQUIRES: all pairs have a score.
std::optional<std::size_t> first_nan(std::span<const std::optional<double>> scores);

}  // namespace rnnsearch::decode
