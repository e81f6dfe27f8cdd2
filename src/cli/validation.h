// Dev loss, BLEU, chrF and TER of a model in training, on all ranks.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>
#include <string>

#include "rnnsearch/comm/communicator.h"
#include "rnnsearch/corpus/corpus.h"
#include "rnnsearch/train/trainer.h"

namespace rnnsearch::cli {

struct ValidationOptions {
  bool validate_bleu = true;            // translate the dev set, too, for BLEU and chrF
  bool ter = false;                     // TER of these translations, which takes much longer than BLEU and chrF
  std::size_t validate_beam = 1;        // 1: greedy, which is enough to compare checkpoints by
  std::size_t validate_sentences = 64;  // together, on each rank
  bool same_on_any_ranks = false;       // the bits of the result do not depend on the number of ranks
};

/// What the scores of make_validator by `metric` depend on besides the model: "dev set DIGEST", with a beam for metrics
/// of translations.
std::string dev_set_of(const corpus::Corpus& corpus, const ValidationOptions& options, train::BestMetric metric);

/// The dev sentence that is shown in translation, one of median length. REQUIRES: a sentence.
std::size_t example_of(const Sentences& source);

/// Each rank takes every size-th sentence of the dev set, sorted by length, or, with same_on_any_ranks, every size-th
/// group of validate_sentences of them. `corpus` and `communicator` outlive the validator.
/// `keep` gets the translations, one line a sentence, and `show` that of example_of, at the root. Throws Error when the corpus has no dev set.
train::Validator make_validator(const corpus::Corpus& corpus, const comm::Communicator& communicator,
                                const ValidationOptions& options,
                                std::function<void(std::uint64_t update, const std::string& translations)> keep,
                                std::function<void(const std::string& translation)> show);

}  // namespace rnnsearch::cli
