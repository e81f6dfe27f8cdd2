#include "rnnsearch/train/options.h"

#include <limits>

#include "rnnsearch/base/error.h"

namespace rnnsearch::train {
namespace {

using T = TrainOptions;

// Options are double and the optimizers compute in float32, where 1e-46 is 0, 1e39 infinite, and 1 - 1e-9 is 1.
constexpr Bounds kPositive{.from = static_cast<double>(std::numeric_limits<float>::min()),
                           .to = static_cast<double>(std::numeric_limits<float>::max()),
                           .sentence = "of at least 1.2e-38 and at most 3.4e38, as float32 has it"};
constexpr double kOneInFloat32 = 1 - 0x1p-25;  // the least number that is rounded to 1
constexpr Bounds kDecay{.from = 0,
                        .to = kOneInFloat32,
                        .below = true,
                        .sentence = "of at least 0 and below 1 in float32, so at most 0.9999999"};
constexpr Bounds kShare{.from = 0, .to = 1, .below = true};
constexpr Bounds kAtLeast0{.from = 0}, kAtLeast1{.from = 1}, kUpToABillion{.from = 1, .to = 1e9};

constexpr bool always(const T&) {
  return true;
}

constexpr Option<T> kOptions[]{
    {"resume",
     "auto: from the run's newest checkpoint, if there is one; never; or a checkpoint's path",
     field<&T::resume>(),
     {.group = "Files", .placeholder = "auto|never|FILE", .in_ini = false}},
    {"batch-sentences",
     "sentence pairs in an update, all ranks together",
     field<&T::batch_sentences>(),
     {.group = "Training", .bounds = kUpToABillion, .fixed = always}},
    {"accumulate",
     "pieces in which each rank computes its share of them, one after the other, to need less memory",
     field<&T::accumulate>(),
     {.bounds = kUpToABillion}},
    {"pool-batches",
     "batches sorted by length together",
     field<&T::pool_batches>(),
     {.bounds = {.from = 1, .to = 1e6}, .fixed = always}},
    {"shuffle",
     "when the order of the sentence pairs is drawn: anew for every epoch; once, as the paper did (then every epoch "
     "reads the same batches in the same order); or never: pairs are read in the order of the corpus, which may be a "
     "curriculum",
     field<&T::shuffle>(),
     {.fixed = always, .absent = "every-epoch"}},
    {"batch-order",
     "order of the batches that were sorted by length together: random, or short sentences first, as in the paper's "
     "code",
     field<&T::batch_order>(),
     {.fixed = always, .absent = "shuffled"}},
    {"seed",
     "of the weights, of the order of the data and of what dropout drops",
     field<&T::seed>(),
     {.fixed = always}},
    {"prefetch", "read the sentences to come while others are trained on; the batches are the same without",
     field<&T::prefetch>()},
    {"optimizer", "of the update", field<&T::optimizer>(), {.fixed = always}},
    {"learning-rate",
     "1 for Adadelta, some 0.001 for Adam, 0.1 to 1 for sgd",
     field<&T::learning_rate>(),
     {.bounds = kPositive}},
    {"rho",
     "decay of Adadelta",
     field<&T::rho>(),
     {.bounds = {.from = 0,
                 .to = kOneInFloat32,
                 .above = true,
                 .below = true,
                 .sentence = "above 0 and below 1 in float32, so at most 0.9999999"}}},
    {"epsilon", "of Adadelta", field<&T::epsilon>(), {.bounds = kPositive}},
    {"adam-beta1", "decay of Adam's mean", field<&T::adam_beta1>(), {.bounds = kDecay}},
    {"adam-beta2", "decay of Adam's square", field<&T::adam_beta2>(), {.bounds = kDecay}},
    {"adam-epsilon", "of Adam", field<&T::adam_epsilon>(), {.bounds = kPositive}},
    // with momentum there is a velocity to go on with, without there is none
    {"momentum",
     "of sgd; 0: plain gradient descent",
     field<&T::momentum>(),
     {.bounds = kDecay, .fixed = [](const T& o) { return o.optimizer == OptimizerKind::kSgd; }}},
    {"gradient-of", "the batch's summed cost, or that divided by its sentences or target words",
     field<&T::gradient_of>()},
    {"label-smoothing",
     "the share of each target that is spread over all words; losses are reported without it",
     field<&T::label_smoothing>(),
     {.bounds = kShare}},
    {"clip-norm",
     "largest norm of that gradient; 0: no limit",
     field<&T::clip_norm>(),
     {.bounds = {.from = kPositive.from,
                 .to = kPositive.to,
                 .or_zero = true,
                 .sentence = "that is 0 (no limit), or at least 1.2e-38 and at most 3.4e38, as float32 has it"}}},
    {"average-decay",
     "of a moving average of the parameters, with which it validates and a checkpoint translates, some 0.9999; 0: none",
     field<&T::average_decay>(),
     {.bounds = kShare}},
    {"max-skipped",
     "updates in a row that may be skipped because the gradient is not finite",
     field<&T::max_skipped>(),
     {.bounds = kAtLeast1}},
    {"schedule", "of the learning rate", field<&T::schedule>()},
    {"warmup-updates", "updates in which the learning rate rises from 0", field<&T::warmup_updates>()},
    {"plateau-patience",
     "validations without a lower dev loss until the learning rate is halved",
     field<&T::plateau_patience>(),
     {.bounds = kAtLeast1}},
    {"halve-after-epochs",
     "of the schedule halving: passes over the corpus until the learning rate is halved for the first time, fractions "
     "too",
     field<&T::halve_after_epochs>(),
     {.bounds = kAtLeast0}},
    {"halve-every-epochs",
     "likewise: until it is halved again",
     field<&T::halve_every_epochs>(),
     {.bounds = {.from = 0, .above = true}}},

    {"overlap",
     "begin them while the gradient is still computed; the result is the same without",
     field<&T::overlap>(),
     {.group = "Sums over the ranks"}},
    {"reduce-precision",
     "what travels in them; bf16: half the bytes, additions in float32, rounding made good in the next sum, but no "
     "longer the same bits after an interruption",
     field<&T::reduce_precision>()},

    {"max-updates",
     "updates in all",
     field<&T::max_updates>(),
     {.group = "When to stop (the first limit reached; 0: no limit)"}},
    {"max-epochs", "passes over the corpus", field<&T::max_epochs>()},
    {"max-minutes", "of training, over all attempts", field<&T::max_minutes>(), {.bounds = kAtLeast0}},
    {"early-stop-patience", "validations without gain in best-metric", field<&T::early_stop_patience>()},

    {"validate-every", "updates; 0: never", field<&T::validate_every>(), {.group = "Validation"}},
    {"best-metric", "what makes a checkpoint the best", field<&T::best_metric>()},

    {"checkpoint-every", "updates; 0: only by the clock", field<&T::checkpoint_every>(), {.group = "Record"}},
    {"checkpoint-minutes",
     "since the last; 0: only by updates",
     field<&T::checkpoint_minutes>(),
     {.bounds = kAtLeast0}},
    {"keep-checkpoints",
     "the newest; the best is kept besides",
     field<&T::keep_checkpoints>(),
     {.bounds = {.from = 2, .sentence = "of at least 2, so that a damaged one can be replaced by the one before"}}},
    {"log-every", "updates between lines of log.jsonl", field<&T::log_every>(), {.bounds = kAtLeast1}},
};

constexpr Rule<T> kRules[]{
    {[](const T& o) {
       return o.optimizer == OptimizerKind::kAdam && !kPositive.contains(o.learning_rate / (1 - o.adam_beta1));
     },
     "learning-rate = {learning-rate} with adam-beta1 = {adam-beta1}",
     "it is above 3.4e38, the largest float32, when it is divided by 1 - adam-beta1", "choose a lower learning-rate"},
    {[](const T& o) { return o.momentum != 0 && o.optimizer != OptimizerKind::kSgd; },
     "momentum = {momentum} with optimizer = {optimizer}", "only sgd has a momentum",
     "choose momentum = 0, or optimizer = sgd"},
    {[](const T& o) { return o.schedule == Schedule::kInverseSquareRoot && o.warmup_updates == 0; },
     "schedule = inverse-square-root with warmup-updates = 0", "the learning rate falls after the warm-up",
     "choose warmup-updates of at least 1"},
    {[](const T& o) { return o.schedule == Schedule::kPlateau && o.validate_every == 0; },
     "schedule = plateau with validate-every = 0", "only a validation shows whether the dev loss still falls",
     "choose validate-every of at least 1"},
    {[](const T& o) { return o.early_stop_patience > 0 && o.validate_every == 0; },
     "early-stop-patience = {early-stop-patience} with validate-every = 0", "it counts validations",
     "choose validate-every of at least 1, or early-stop-patience = 0"},
    {[](const T& o) { return o.resume.empty(); }, "resume without a value", "training begins somewhere",
     "choose auto, never, or the path of a checkpoint"},
};

}  // namespace

std::span<const Option<TrainOptions>> option_table() {
  return kOptions;
}

void check(const TrainOptions& options) {
  check_bounds(option_table(), "", options);
  check_rules(kRules, option_table(), {}, "", options);
}

Config config_of(const model::ModelOptions& options) {
  return record_of(model::option_table(), options);
}
Config config_of(const TrainOptions& options) {
  return record_of(option_table(), options);
}

Config completed(Config config) {
  const auto complete = [&](auto rows) {
    for (const auto& row : rows) {
      if (row.more.absent) config.emplace(row.name, *row.more.absent);
    }
  };
  complete(model::option_table());
  complete(option_table());
  return config;
}

Config with_names_of_today(Config config) {
  rename_former(model::option_table(), config);
  rename_former(option_table(), config);
  return config;
}

model::ModelOptions model_options_of(const Config& config) {
  model::ModelOptions options;
  read_record(model::option_table(), with_names_of_today(config), "checkpoint: its configuration", options);
  return options;
}

void refuse_outdated(const Config& config, const std::string& file) {
  if (config.contains("fixed-context")) return;
  Config whole = config_of(model::ModelOptions());
  for (const auto& [name, text] : config) whole[name] = text;
  const model::ModelOptions options = model_options_of(whole);
  if (options.attends() || !options.has_context()) return;
  throw Error(text_of("checkpoint: ", file,
                      " holds a model whose fixed context goes through a tanh layer (context/V), which RNNencdec does "
                      "not have (arXiv 1409.0473, appendix A.2.2) and this version leaves out; train it again, with "
                      "fixed-context = tanh if you want that layer"));
}

Config identity_of(const model::ModelOptions& model, const TrainOptions& options) {
  Config identity = config_of(model);
  for (const auto& row : option_table()) {
    if (row.more.fixed && row.more.fixed(options)) identity.emplace(row.name, row.field.write(options));
  }
  return identity;
}

}  // namespace rnnsearch::train
