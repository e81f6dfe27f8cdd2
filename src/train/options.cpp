#include "rnnsearch/train/options.h"

#include <algorithm>
#include <limits>

#include "rnnsearch/base/error.h"
#include "train/option_rules.h"

namespace rnnsearch::train {
namespace {

using enum Later;
using T = TrainOptions;

constexpr double kOneInFloat32 = 1 - 0x1p-25;  // the least number that is rounded to 1
constexpr Bounds kDecay{.from = 0,
                        .to = kOneInFloat32,
                        .below = true,
                        .sentence = "of at least 0 and below 1 in float32, so at most 0.9999999"};
constexpr Bounds kShare{.from = 0, .to = 1, .below = true};
constexpr Bounds kAtLeast0{.from = 0}, kAtLeast1{.from = 1}, kUpToABillion{.from = 1, .to = 1e9};

constexpr Option<T> kOptions[]{
    row(kFirst, "resume",
        "where an empty run begins. auto: at the beginning; FILE: at this checkpoint of another run; never: at the "
        "beginning, and a run that was begun otherwise and holds checkpoints is refused. A run that holds checkpoints "
        "resumes from the newest one",
        field<&T::resume>(),
        {.group = "Files",
         .placeholder = "auto|never|FILE",
         .path = {.kind = Path::kInputFile,
                  .in =
                      [](const std::string& where) {
                        return where == "auto" || where == "never" ? std::vector<std::filesystem::path>{}
                                                                   : std::vector<std::filesystem::path>{where};
                      }}}),
    row(kFirst, "initial-model",
        "initialize a new run with the parameters of another run or of a checkpoint, for instance to adapt a model to "
        "another domain. Vocabularies are matched by word; all other sizes must be the same",
        field<&T::initial_model>(), {.path = kInputRun}),
    row(kFirst, "initial-optimizer",
        "with --initial-model, also take over the state of the optimizer instead of starting with a new "
        "one",
        field<&T::initial_optimizer>()),
    row(kFixed, "batch-sentences", "batch size: number of sentence pairs in an update, summed over all ranks",
        field<&T::batch_sentences>(), {.group = "Training", .bounds = kUpToABillion}),
    row(kFixed, "batch-words",
        "batch size in words instead of sentence pairs: the number of sentence pairs times the length of the longest "
        "sentence among them, source or target, summed over all ranks. Updates then take about the same time and "
        "memory. 0: --batch-sentences sets the batch size",
        field<&T::batch_words>(), {.bounds = {.from = 0, .to = 1e9}}),
    row(kFree, "accumulate",
        "number of pieces into which each rank divides its share of a batch, to compute them one after the other and "
        "accumulate their gradients; more pieces take less memory",
        field<&T::accumulate>(), {.bounds = kUpToABillion}),
    row(kFixed, "pool-batches",
        "number of batches whose sentence pairs are sorted by length together, so that a batch has little padding",
        field<&T::pool_batches>(), {.bounds = {.from = 1, .to = 1e6}}),
    row(kFixed, "shuffle",
        "when the order of the sentence pairs is drawn. every-epoch: again for every epoch; once: every epoch "
        "reads the same batches in the same order, as in the paper; never: pairs are read in the order of the "
        "corpus, which may be a curriculum",
        field<&T::shuffle>()),
    row(kFixed, "batch-order",
        "order of the batches that were sorted by length together: shuffled, or by-length, short sentences first, "
        "as in the paper's code",
        field<&T::batch_order>()),
    row(kFixed, "seed", "random seed of the initial parameters, of the order of the data, and of dropout",
        field<&T::seed>()),
    row(kFree, "prefetch",
        "read the next sentence pairs on a background thread while the current ones are trained on; does not affect "
        "the "
        "result",
        field<&T::prefetch>()),
    row(kFixed, "optimizer", "optimization algorithm", field<&T::optimizer>()),
    row(kFree, "learning-rate", "learning rate of the optimizer: 1 for adadelta, some 0.001 for adam, 0.1 to 1 for sgd",
        field<&T::learning_rate>(), {.bounds = kPositive}),
    row(kFree, "scale-learning-rate",
        "how the learning rate grows with the batch: --learning-rate is then that of a batch of --reference-batch, and "
        "is "
        "multiplied by the ratio of the sizes (linear: Goyal et al. 2017) or by its square root (square-root: "
        "Krizhevsky "
        "2014). For larger batches --warmup-updates begins at --learning-rate in place of 0, as in Goyal et al. 2017",
        field<&T::scale_learning_rate>()),
    row(kFree, "reference-batch",
        "for --scale-learning-rate: size of the batch for which --learning-rate was found, in sentence pairs, or with "
        "--batch-words in words",
        field<&T::reference_batch>(), {.bounds = {.from = 0, .to = 1e9}}),
    row(kFree, "rho", "decay of the running averages of Adadelta", field<&T::rho>(),
        {.bounds = {.from = 0,
                    .to = kOneInFloat32,
                    .above = true,
                    .below = true,
                    .sentence = "above 0 and below 1 in float32, so at most 0.9999999"}}),
    row(kFree, "epsilon", "epsilon of Adadelta; above zero, so that the first steps are not zero", field<&T::epsilon>(),
        {.bounds = kPositive}),
    row(kFree, "adam-beta1", "decay of Adam's average of gradients", field<&T::adam_beta1>(), {.bounds = kDecay}),
    row(kFree, "adam-beta2", "decay of Adam's average of squared gradients", field<&T::adam_beta2>(),
        {.bounds = kDecay}),
    row(kFree, "adam-epsilon", "epsilon of Adam, added to the divisor so that it is never zero",
        field<&T::adam_epsilon>(), {.bounds = kPositive}),
    // fixed: with momentum there is a velocity to go on with, without there is none
    row(kFixed, "momentum", "momentum of sgd; 0: plain gradient descent", field<&T::momentum>(), {.bounds = kDecay}),
    row(kFree, "gradient-of",
        "normalization of the cost whose gradient is computed. sum: sum over the batch; sentence: divided by the "
        "number "
        "of sentence pairs; word: divided by the number of target words. The best --clip-norm and --learning-rate "
        "depend on it",
        field<&T::gradient_of>()),
    row(kFree, "label-smoothing",
        "share of the probability of each target word that is spread over all words of the vocabulary; reported losses "
        "do not include it. About 0.1 often improves BLEU. 0: no smoothing",
        field<&T::label_smoothing>(), {.bounds = kShare}),
    row(kFixed, "guided-alignment",
        "weight of the alignment cost, the cross entropy between the word alignments of the corpus (prepare "
        "--train-alignments) and the attention weights (Chen et al. 2016), relative to the cost of the words; reported "
        "losses do not include it. Usual values are 0.1 to 1. 0: no alignment cost",
        field<&T::guided_alignment>(), {.bounds = {.from = 0, .to = 1e6}}),
    row(kFree, "clip-norm", "clip the gradient to this norm; 0: no clipping", field<&T::clip_norm>(),
        {.bounds = {.from = kPositive.from,
                    .to = kPositive.to,
                    .or_zero = true,
                    .sentence = "that is 0 (no limit), or at least 1.2e-38 and at most 3.4e38, as float32 has it"}}),
    row(kFree, "average-decay",
        "decay of an exponential moving average of the parameters, for instance 0.9999. Validation and translation "
        "then "
        "use the average instead of the parameters. 0: no average",
        field<&T::average_decay>(), {.bounds = kShare}),
    row(kFree, "max-skipped",
        "number of successive updates that are skipped because their gradient is not finite, after which the training "
        "ends with an error",
        field<&T::max_skipped>(), {.bounds = kAtLeast1}),
    row(kFree, "schedule", "learning rate schedule", field<&T::schedule>()),
    row(kFree, "warmup-updates", "number of updates in which the learning rate rises linearly from 0",
        field<&T::warmup_updates>()),
    row(kFree, "plateau-patience",
        "number of validations without a lower dev loss after which the learning rate is halved; only with "
        "--schedule plateau",
        field<&T::plateau_patience>(), {.bounds = kAtLeast1}),
    row(kFree, "halve-after-epochs",
        "number of passes over the corpus, fractions allowed, until the learning rate is halved for the first "
        "time; only with --schedule halving",
        field<&T::halve_after_epochs>(), {.bounds = kAtLeast0}),
    row(kFree, "halve-every-epochs",
        "number of passes over the corpus, fractions allowed, between two later halvings; only with --schedule "
        "halving",
        field<&T::halve_every_epochs>(), {.bounds = {.from = 0, .above = true}}),

    row(kFree, "overlap",
        "overlap the all-reduce of finished gradients with the computation of the others; does not affect the result",
        field<&T::overlap>(), {.group = "All-reduce of gradients"}),
    row(kFixed, "reproducible-shards",
        "divide each batch into this number of shards, so that the result is bit-identical on any number of ranks that "
        "divides the number of shards, also when a run is resumed on another number of ranks. Choose the largest "
        "number "
        "of ranks that you may use: a rank computes its shards one after the other, and small shards are slow. 0: the "
        "last bits of the result depend on the number of ranks",
        field<&T::reproducible_shards>(), {.bounds = {.from = 0, .to = 65536}}),

    row(kFree, "max-updates", "stop after this number of updates", field<&T::max_updates>(),
        {.group = "When to stop (the first limit reached; 0: no limit)"}),
    row(kFree, "max-epochs", "stop after this number of passes over the corpus", field<&T::max_epochs>()),
    row(kFree, "max-minutes", "stop after this number of minutes of training, summed over all attempts",
        field<&T::max_minutes>(), {.bounds = kAtLeast0}),
    row(kFree, "early-stop-patience", "stop after this number of successive validations without a better --best-metric",
        field<&T::early_stop_patience>()),

    row(kFree, "validate-every",
        "number of updates between validations; 0: validate only as --validate-minutes says, or never",
        field<&T::validate_every>(), {.group = "Validation"}),
    row(kFree, "validate-minutes", "minutes between validations; 0: validate only as --validate-every says",
        field<&T::validate_minutes>(), {.bounds = kAtLeast0}),
    row(kFree, "validation-share",
        "largest share of the time that validations may take, for instance 0.1. A validation that would exceed it, if "
        "it took as long as the last one, is postponed to the first update after which it no longer does; the first "
        "validation of an attempt and the one at the end are always made. 0: no limit",
        field<&T::validation_share>(), {.bounds = kShare}),
    row(kFree, "best-metric",
        "metric on the dev set that selects the best checkpoint and decides on early stopping; lower is better for "
        "loss "
        "and ter, higher for bleu and chrf",
        field<&T::best_metric>()),

    row(kFree, "checkpoint-every",
        "number of updates between checkpoints; 0: write them only as --checkpoint-minutes says",
        field<&T::checkpoint_every>(), {.group = "Checkpoints and log"}),
    row(kFree, "checkpoint-minutes", "minutes between checkpoints; 0: write them only as --checkpoint-every says",
        field<&T::checkpoint_minutes>(), {.bounds = kAtLeast0}),
    row(kFree, "synchronous-checkpoints",
        "let training wait while a checkpoint is written. Without this option a checkpoint is written in the "
        "background, from a copy that takes as much memory on rank 0 as the parameters, their average and the state of "
        "the optimizer together",
        field<&T::synchronous_checkpoints>()),
    row(kFree, "keep-checkpoints", "number of newest checkpoints to keep; the best checkpoint is always kept as well",
        field<&T::keep_checkpoints>(),
        {.bounds = {.from = 2, .sentence = "of at least 2, so that a damaged one can be replaced by the one before"}}),
    row(kFree, "log-every", "number of updates between two lines of log.jsonl", field<&T::log_every>(),
        {.bounds = kAtLeast1}),
};
static_assert(all_say_what_is_later(std::span<const Option<T>>(kOptions)), "what may a later attempt do with it?");

}  // namespace

std::span<const Option<TrainOptions>> option_table() {
  return kOptions;
}

void check(const TrainOptions& options) {
  check_bounds(option_table(), "", options);
  check_rules(option_rules(), option_table(), {}, "", options);
}

void check_ranks(const TrainOptions& options, int ranks) {
  const std::uint64_t shards = options.reproducible_shards;
  if (shards % static_cast<std::uint64_t>(ranks) == 0) return;
  std::string divisors;
  for (std::uint64_t n = 1; n < shards; ++n) {
    if (shards % n == 0) divisors += (divisors.empty() ? "" : ", ") + std::to_string(n);
  }
  throw Error(
      "reproducible-shards = {0} on {1} ranks: each rank needs the same number of shards; start {2}{3}{0} ranks, or "
      "choose a multiple of {1} for another run",
      shards, ranks, divisors, divisors.empty() ? "" : " or ");
}

std::uint64_t shards_of_rank(const TrainOptions& options, int ranks) {
  return std::max<std::uint64_t>(1, options.reproducible_shards / static_cast<std::uint64_t>(ranks));
}

void check(const TrainOptions& options, const model::ModelOptions& model) {
  if (options.guided_alignment == 0) return;
  const bool global = model.attention_window == model::AttentionWindow::kGlobal;
  if (model.attends() && global) return;
  throw Error("guided-alignment = {:g}{} makes no sense: {}; choose {}, or guided-alignment = 0",
              options.guided_alignment,
              model.attends() ? fmt::format(" with attention-window = {}", name_of(model.attention_window))
                              : " with attention = none",
              model.attends() ? "a word outside the window has no weight that a link could raise"
                              : "there are no weights to guide",
              model.attends() ? "attention-window = global" : "a score");
}

Config config_of(const model::ModelOptions& options) {
  return record_of(model::option_table(), options);
}
Config config_of(const TrainOptions& options) {
  return record_of(option_table(), options);
}

model::ModelOptions model_options_of(const Config& config) {
  model::ModelOptions options;
  read_record(model::option_table(), config, "checkpoint: its configuration", options);
  return options;
}

Config identity_of(const model::ModelOptions& model, const TrainOptions& options) {
  Config identity = config_of(model);
  for (const auto& row : option_table()) {
    if (row.more.later == kFixed) identity.emplace(row.name, row.field.write(options));
  }
  return identity;
}

}  // namespace rnnsearch::train
