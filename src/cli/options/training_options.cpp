#include "cli/options/training_options.h"

#include <algorithm>

#include "cli/options/common.h"
#include "rnnsearch/base/error.h"
#include "rnnsearch/comm/meet.h"
#include "rnnsearch/train/run_directory.h"

namespace rnnsearch::cli {
namespace {

struct MixedFile {
  std::filesystem::path path;
  double weight = 0;
};

MixedFile mixed_file(const std::string& text) {
  const std::size_t colon = text.rfind(':');
  MixedFile file;
  if (colon == std::string::npos || colon == 0 || !value::read(text.substr(colon + 1), file.weight) ||
      !(file.weight > 0)) {
    throw UsageError("--mix is '{}', but must be a corpus, a colon and a weight above 0, such as back.h5:0.5", text);
  }
  file.path = text.substr(0, colon);
  return file;
}

}  // namespace

void add_training_options(Options& options, TrainingSettings& settings) {
  declare_architecture(options, settings.model);
  declare(options, settings.train);

  options.group("When to stop (the first limit reached; 0: no limit)");
  options.add("stop-before", settings.stop_before, Later::kFree, within(0, 1e6),
              "minutes before the end of the job, fractions allowed, by which the last checkpoint is written; training "
              "then ends with exit code 85. The job ends at RNNSEARCH_END_TIME, or else at SLURM_JOB_END_TIME, in "
              "seconds since 1970. Default: 2 where one of them is set");

  options.group("Validation");
  options.add("validate-bleu", settings.validation.validate_bleu, Later::kFree,
              "translate the dev set at each validation and report BLEU and chrF (with --best-metric ter also TER, "
              "which takes longer)");
  options.add("validate-beam", settings.validation.validate_beam, Later::kFree, within(1, 1000),
              "beam width of the translations of --validate-bleu; 1 is greedy search");
  options.add(
      "validate-sentences", settings.validation.validate_sentences, Later::kFree, within(1, 1e5),
      "number of sentences of the dev set that each rank processes together; affects memory and speed, not the result");
}

void add_mixture(Options& options, std::vector<std::string>& mix) {
  options.add("mix", mix, Placeholder{"FILE:WEIGHT"}, kWeightedFile, Later::kFree,
              "another corpus to train on, and the number of its pairs per pair of --corpus, such as back.h5:0.5; "
              "repeat the option for several corpora. All corpora need the same vocabularies and text options (prepare "
              "--vocabulary-of); an epoch is one pass over --corpus");
}

std::vector<std::filesystem::path> path_without_weight(const std::string& text) {
  return {mixed_file(text).path};
}

Mixture::Mixture(std::vector<std::string>& mix, const corpus::Corpus& first, const comm::Communicator& communicator)
    : first_(first) {
  corpora_.reserve(mix.size());
  for (std::string& text : mix) {
    auto [path, weight] = mixed_file(text);
    path = std::filesystem::absolute(path).lexically_normal();
    text = fmt::format("{}:{}", path, value::write(weight));
    corpora_.push_back(train::open_corpus(path, communicator));
    others_.push_back({&corpora_.back(), weight});
  }
  comm::root_does(communicator, [&] { corpus::check_mixture(first_, others_); });
}

bool Mixture::has_alignments() const {
  return first_.has_alignments() || std::any_of(corpora_.begin(), corpora_.end(),
                                                [](const corpus::Corpus& other) { return other.has_alignments(); });
}

std::vector<std::string> Mixture::lines() const {
  std::vector<std::string> lines;
  const corpus::Shares shares(first_, others_);
  for (std::size_t k = 0; k < others_.size(); ++k) {
    const corpus::Corpus& other = *others_[k].corpus;
    lines.push_back(fmt::format("an epoch has {} pairs of {}, which has {}", shares.pairs_of(k + 1), other.path(),
                                other.train_pairs()));
    if (const std::string warning = corpus::other_libraries(first_, other); !warning.empty())
      lines.push_back("warning: " + warning);
  }
  return lines;
}

}  // namespace rnnsearch::cli
