// A property of the trainer: however a training is cut into attempts, by limits that change from one to the next, by
// signals, by a crash, on other numbers of threads, it ends with the bits of one that nobody disturbed.
//
// RNNSEARCH_ATTEMPTS=500 tries so many trainings, RNNSEARCH_ATTEMPTS_SEED=7 begins with the seventh of them.
#pragma once

#include <csignal>
#include <nlohmann/json.hpp>

#include "rnnsearch/base/file.h"
#include "rnnsearch/base/parallel.h"
#include "rnnsearch/base/portable.h"
#include "tests/support/test.h"
#include "tests/train/tiny_training.h"

namespace rnnsearch::train {

inline std::uint64_t number_in_environment(const char* name, std::uint64_t otherwise) {
  const char* const text = std::getenv(name);
  return text ? std::strtoull(text, nullptr, 10) : otherwise;
}

/// What a run's folder holds once the run is done, without times and the number of ranks.
struct Record {
  std::string parameters, average;
  std::map<std::string, std::string> optimizer, state;
  std::uint64_t steps = 0, best_update = 0;
  double best_score = 0;
  // by update, as text
  std::map<std::uint64_t, std::string> updates, validations;                // of /history
  std::map<std::uint64_t, std::string> logged_updates, logged_validations;  // of log.jsonl, the last of each
};

class RandomAttempts {
 public:
  /// All ranks draw the same.
  RandomAttempts(const corpus::Corpus& corpus, const std::filesystem::path& folder, std::uint64_t seed)
      : corpus_(corpus), folder_(folder), random_(seed), model_(tiny_model_options(corpus)) {
    model_.embedding = 6;
    model_.state = 8;
    model_.alignment = 5;
    model_.maxout = 6;  // as wide as an embedding, which may be the output matrix
    model_.tied_embeddings = one_of({model::TiedEmbeddings::kNone, model::TiedEmbeddings::kTarget});
    model_.dropout = one_of({Ramp(0), Ramp(0.2), Ramp(0.1, 0.4, 9)});
    options_ = tiny_options();
    options_.seed = 1 + random_.below(1000);
    options_.optimizer = one_of({OptimizerKind::kAdadelta, OptimizerKind::kAdam, OptimizerKind::kSgd});
    const bool adam = options_.optimizer == OptimizerKind::kAdam, sgd = options_.optimizer == OptimizerKind::kSgd;
    options_.learning_rate = adam ? 0.05 : sgd ? 0.5 : 1;
    options_.momentum = sgd && coin() ? 0.9 : 0;
    options_.accumulate = 1 + random_.below(2);
    options_.shuffle = one_of({Shuffle::kEveryEpoch, Shuffle::kOnce});
    options_.batch_order = one_of({BatchOrder::kShuffled, BatchOrder::kByLength});
    options_.label_smoothing = one_of({Ramp(0), Ramp(0.1), Ramp(0.2, 0, 7)});
    options_.average_decay = coin() ? 0.9 : 0;
    options_.schedule =
        one_of({Schedule::kConstant, Schedule::kInverseSquareRoot, Schedule::kPlateau, Schedule::kHalving});
    options_.warmup_updates = 1 + random_.below(6);
    options_.plateau_patience = 1 + random_.below(2);
    options_.halve_after_epochs = random_.uniform();
    options_.halve_every_epochs = 0.3;
    options_.early_stop_patience = random_.below(4);
    options_.best_metric = one_of({BestMetric::kLoss, BestMetric::kBleu, BestMetric::kTer});
    options_.validate_every = 2 + random_.below(6);
    options_.log_every = 1 + random_.below(8);
    options_.max_updates = 12 + random_.below(30);
    options_.batch_words = coin() ? 100 : 0;
  }

  /// Does the same training at once and in attempts. `may_crash`: on several ranks the others would wait.
  void expect_no_difference(bool may_crash) {
    const std::size_t threads = thread_count();
    plan_ = fmt::format("whole: {}", attempted("whole", options_, {}));
    for (std::uint64_t left = 1 + random_.below(4); left > 0; --left) plan_ += "; " + disturbed(may_crash);
    plan_ += fmt::format("; at last: {}", attempted("parts", options_, {}));
    set_thread_count(threads);
    if (!support::communicator().is_root()) return;
    const Record whole = record_of("whole"), parts = record_of("parts");
    EXPECT_TRUE(parts.parameters == whole.parameters) << plan_;
    EXPECT_TRUE(parts.average == whole.average) << plan_;
    EXPECT_TRUE(parts.optimizer == whole.optimizer) << plan_;
    EXPECT_EQ(parts.steps, whole.steps) << plan_;
    EXPECT_EQ(parts.state, whole.state) << plan_;
    EXPECT_EQ(parts.updates, whole.updates) << plan_;
    EXPECT_EQ(parts.validations, whole.validations) << plan_;
    EXPECT_EQ(parts.logged_updates, whole.logged_updates) << plan_;
    EXPECT_EQ(parts.logged_validations, whole.logged_validations) << plan_;
    // A validation at a limit may have found a better one than any that the undisturbed run saw.
    EXPECT_TRUE(parts.best_score == whole.best_score || better(parts.best_score, whole.best_score)) << plan_;
    EXPECT_EQ(parts.best_update > 0, whole.best_update > 0) << plan_;
  }

 private:
  bool coin() { return random_.below(2) == 1; }
  template <class Value>
  Value one_of(std::initializer_list<Value> values) {
    return values.begin()[random_.below(values.size())];
  }
  bool better(double one, double other) const {
    return options_.best_metric == BestMetric::kBleu ? one > other : one < other;
  }

  struct Crash : std::runtime_error {
    Crash() : std::runtime_error("the test ends this attempt as a crash would") {}
  };
  /// What happens to an attempt.
  struct Disturbance {
    std::function<void(std::uint64_t update)> after_update{}, before_validation{}, after_validation{};
    std::optional<double> deadline{};
  };

  /// One attempt, and what came of it.
  std::string attempted(const std::string& name, const TrainOptions& limits, const Disturbance& disturbance) {
    const auto call = [](const auto& function, std::uint64_t update) {
      if (function) function(update);
    };
    const Validator validator = [&, inner = dev_loss(corpus_)](auto& model, std::uint64_t update, const auto& stop) {
      call(disturbance.before_validation, update);
      ValidationResult result = inner(model, update, stop);
      result.loss_per_word *= 0.5 + Random(options_.seed, update).uniform();  // else all are gains
      result.bleu = 100 * std::exp(-result.loss_per_word);
      result.ter = result.loss_per_word;
      call(disturbance.after_validation, update);
      return result;
    };
    TrainOptions options = limits;
    options.checkpoint_every = random_.below(7);
    options.prefetch = coin();
    options.overlap = coin();
    const std::size_t threads = 1 + random_.below(3);
    set_thread_count(threads);
    try {
      const auto outcome =
          attempt(corpus_, folder_ / name, options, validator, disturbance.deadline, disturbance.after_update, model_);
      return fmt::format("{} at update {}, {} threads", description_of(outcome.result.reason),
                         outcome.result.state.update, threads);
    } catch (const Crash&) {
      return fmt::format("crash, {} threads", threads);
    }
  }

  std::string disturbed(bool may_crash) {
    TrainOptions limits = options_;
    Disturbance disturbance;
    const std::uint64_t at = 1 + random_.below(options_.max_updates);
    const int signal = one_of({SIGTERM, SIGUSR1});
    const auto raise = [=](std::uint64_t update) {
      if (update >= at && support::communicator().is_root()) std::raise(signal);
    };
    switch (random_.below(may_crash ? 9 : 8)) {
      case 0:
      case 1:
        limits.max_updates = at;
        break;
      case 2:
        limits.max_epochs = 1;
        break;
      case 3:
        limits.max_minutes = 1e-9;
        break;
      case 4:
        limits.early_stop_patience = 1;
        break;
      case 5:
        disturbance.after_update = raise;
        break;
      case 6:
        disturbance.before_validation = raise;
        disturbance.deadline = coin() ? std::optional(1e12) : std::nullopt;
        break;
      case 7:
        disturbance.after_validation = raise;
        disturbance.deadline = coin() ? std::optional(1.0) : std::nullopt;  // long past
        break;
      default:
        disturbance.after_update = [=](std::uint64_t update) {
          if (update >= at) throw Crash();
        };
    }
    return attempted("parts", limits, disturbance);
  }

  Record record_of(const std::string& name) const {
    const auto run = folder_ / name;
    const auto checkpoint = checkpoints_of(run).at(0);
    const FromCheckpoint last(checkpoint, corpus_.fingerprint(), options_, model_, options_.average_decay > 0);
    const TrainingState& state = last.state;
    Record record;
    record.parameters = bytes_of(last.model.parameters());
    record.average = bytes_of(last.average);
    for (const auto& [accumulator, values] : last.optimizer->accumulators())
      record.optimizer[accumulator] = bytes_of(values);
    record.steps = last.optimizer->steps;
    record.best_update = state.best_update;
    record.best_score = state.best_score;
    const Json fields = json_of(state);
    for (const auto& [field, value] : as_object(fields).items()) {
      if (field.ends_with("seconds") || field.ends_with("bytes_sent") || field == "world_size" ||
          field == "former_checkpoint")
        continue;
      if (field != "best_score" && field != "best_update") record.state[field] = json_text(value);
    }
    // Those at limits are besides.
    const auto scheduled = [&](std::uint64_t update) {
      return update % options_.validate_every == 0 || update == state.update;
    };
    for (const auto& update : last.history.updates) {
      record.updates[update.update] = json_text(Json::array({update.loss_per_word, update.learning_rate}));
    }
    for (const auto& validation : last.history.validations) {
      if (!scheduled(validation.update)) continue;
      record.validations[validation.update] = json_text(Json::array({validation.loss_per_word, validation.bleu}));
    }
    std::istringstream lines(read_file(run / "log.jsonl"));
    for (std::string line; std::getline(lines, line);) {
      const Json event = parse_json(line, "log.jsonl");
      const auto update = static_cast<std::uint64_t>(as_integer(event.at("update")));
      std::string figures;
      for (const char* figure : {"epoch", "epoch_share", "loss_per_word", "gradient_norm", "parameter_norm",
                                 "learning_rate", "skipped_share", "pairs", "source_words", "target_words", "bleu"}) {
        if (const Json* value = find_member(event, figure)) figures += fmt::format("{} {} ", figure, json_text(*value));
      }
      if (as_string(event.at("event")) == "update") record.logged_updates[update] = figures;
      if (as_string(event.at("event")) == "validation" && scheduled(update))
        record.logged_validations[update] = figures;
    }
    return record;
  }

  const corpus::Corpus& corpus_;
  std::filesystem::path folder_;
  Random random_;
  model::ModelOptions model_;
  TrainOptions options_;
  std::string plan_;
};

/// `trainings` of them, unless the environment says another number.
inline void expect_no_difference_by_random_attempts(const corpus::Corpus& corpus, const std::filesystem::path& folder,
                                                    std::uint64_t trainings, bool may_crash) {
  const std::uint64_t first = number_in_environment("RNNSEARCH_ATTEMPTS_SEED", 1);
  const std::uint64_t count = number_in_environment("RNNSEARCH_ATTEMPTS", trainings);
  for (std::uint64_t seed = first; seed < first + count; ++seed) {
    SCOPED_TRACE(fmt::format("RNNSEARCH_ATTEMPTS_SEED={} RNNSEARCH_ATTEMPTS=1", seed));
    const auto of_this = folder / fmt::format("attempts-{}", seed);
    RandomAttempts(corpus, of_this, seed).expect_no_difference(may_crash);
    if (support::communicator().is_root()) std::filesystem::remove_all(of_this);
  }
}

}  // namespace rnnsearch::train
