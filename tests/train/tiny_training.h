// A model, options and a validator small enough to train in a blink.
#pragma once

#include <nlohmann/json.hpp>

#include "rnnsearch/base/file.h"
#include "rnnsearch/corpus/corpus.h"
#include "rnnsearch/train/trainer.h"
#include "tests/support/communicator.h"
#include "tests/support/floats.h"
#include "tests/support/test.h"
#include "tests/support/tiny_corpus.h"

namespace rnnsearch::train {

inline model::ModelOptions tiny_model_options(const corpus::Corpus& corpus) {
  model::ModelOptions options;
  options.source_words = corpus.source_vocabulary().size();
  options.target_words = corpus.target_vocabulary().size();
  options.embedding = 16;
  options.state = 24;
  options.alignment = 20;
  options.maxout = 12;
  return options;
}

/// 12 pairs an update, so that 300 pairs are an epoch of 25 updates and 50 updates cross its end.
inline TrainOptions tiny_options() {
  TrainOptions options;
  options.batch_sentences = 12;
  options.pool_batches = 4;
  options.optimizer = OptimizerKind::kAdam;
  // Adam divides a tiny gradient by its size, rounding and all: with 1e-2, what ranks round differently grew to 2e-5 of
  // the loss in 50 updates.
  options.learning_rate = 5e-3;
  options.gradient_of = GradientOf::kWord;
  options.max_updates = 50;
  options.validate_every = 10;
  options.checkpoint_every = 0;  // each is flushed to the disk, which takes longer than its updates
  options.checkpoint_minutes = 0;
  options.log_every = 1;
  return options;
}

/// Dev loss; every rank computes all of it.
inline Validator dev_loss(const corpus::Corpus& corpus) {
  const auto dev = std::make_shared<corpus::EvaluationSet>(corpus.read_set("dev"));
  return [dev](model::Model& model, std::uint64_t, const std::function<bool()>& should_stop) {
    if (should_stop()) return ValidationResult{0, 0, true};
    const model::Loss loss = model.loss(dev->source, dev->target);
    return ValidationResult{loss.negative_log_likelihood / static_cast<double>(loss.words), std::nan(""), false};
  };
}

inline CheckpointSource checkpoint_source(const corpus::Corpus& corpus, const model::Model& model, Optimizer& optimizer,
                                          const TrainingState& state, const TrainOptions& options,
                                          const History& history = {}, std::span<const float> average = {}) {
  return {model,   optimizer, state, history, corpus.source_vocabulary(), corpus.target_vocabulary(), corpus.pipeline(),
          options, average};
}

/// What resume_checkpoint makes of a checkpoint.
struct FromCheckpoint {
  FromCheckpoint(const std::filesystem::path& path, const std::string& fingerprint, const TrainOptions& options,
                 const model::ModelOptions& model_options, bool keeps_average = false)
      : model(model_options),
        optimizer(make_optimizer(options, model.parameters().size())),
        average(keeps_average ? model.parameters().size() : 0),
        state(resume_checkpoint(path, fingerprint, options, model, *optimizer, history, average)) {}

  model::Model model;
  std::unique_ptr<Optimizer> optimizer;
  History history;
  std::vector<float> average;
  TrainingState state;
};

/// What a run came to: the weights and the reports of its updates.
struct Outcome {
  TrainingResult result;
  std::string weights;  // their bytes
  std::vector<UpdateReport> updates;
};

class Recorder : public Progress {
 public:
  Recorder(std::vector<UpdateReport>& updates, std::function<void(std::uint64_t update)> after)
      : updates_(updates), after_(std::move(after)) {}
  void updated(const UpdateReport& report) override {
    updates_.push_back(report);
    if (after_) after_(report.update);
  }

 private:
  std::vector<UpdateReport>& updates_;
  std::function<void(std::uint64_t update)> after_;
};

/// One attempt at the run in `folder`, on all ranks. `after` is called after every update, at the root.
inline Outcome attempt(const corpus::Corpus& corpus, const std::filesystem::path& folder, const TrainOptions& options,
                       Validator validator = {}, std::optional<double> deadline = {},
                       std::function<void(std::uint64_t update)> after = {},
                       const std::optional<model::ModelOptions>& model_options = {},
                       const std::string& dev_set = "dev") {
  const comm::Communicator& communicator = support::communicator();
  model::Model model(model_options.value_or(tiny_model_options(corpus)));
  Outcome outcome;
  Recorder recorder(outcome.updates, std::move(after));
  std::unique_ptr<RunDirectory> run;
  if (communicator.is_root()) {
    std::string ini;
    const Config identity = identity_of(model.options(), options);
    Config all = config_of(options);
    all.merge(config_of(model.options()));
    for (const auto& [name, value] : all) ini += name + " = " + value + "\n";
    run = std::make_unique<RunDirectory>(folder, options, identity);
    run->set_record(ini, Json::object());
  }
  outcome.result =
      train({communicator, corpus, model, options, run.get(), std::move(validator), &recorder, deadline, {}, dev_set});
  outcome.weights = bytes_of(model.parameters());
  return outcome;
}

class Training : public ScratchTest {
 protected:
  corpus::Corpus corpus_{support::make_tiny_corpus(scratch_.path())};

  Outcome run(const std::string& folder, const TrainOptions& options, Validator validator = {}) {
    return attempt(corpus_, scratch_ / folder, options, std::move(validator));
  }
  std::string log(const std::string& folder) { return read_file(scratch_ / folder / "log.jsonl"); }
};

}  // namespace rnnsearch::train
