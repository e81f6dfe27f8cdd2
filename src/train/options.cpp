#include "rnnsearch/train/options.h"

#include <algorithm>
#include <limits>

#include "rnnsearch/base/error.h"
#include "rnnsearch/train/optimizer.h"

namespace rnnsearch::train {
namespace {

using enum Later;

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

using T = TrainOptions;

constexpr Rule<T> kRules[]{
    {[](const T& o) { return o.scale_learning_rate != ScaleLearningRate::kNone && o.reference_batch == 0; },
     "scale-learning-rate = {scale-learning-rate} with reference-batch = 0",
     "it is not known which batch the learning rate is for",
     "name the size of that batch with reference-batch, or choose scale-learning-rate = none"},
    {[](const T& o) { return o.scale_learning_rate == ScaleLearningRate::kNone && o.reference_batch > 0; },
     "reference-batch = {reference-batch} with scale-learning-rate = none", "the learning rate is not scaled",
     "choose scale-learning-rate = linear or square-root, or leave reference-batch out"},
    {[](const T& o) {
       return o.scale_learning_rate != ScaleLearningRate::kNone && o.optimizer == OptimizerKind::kSgd &&
              o.gradient_of == GradientOf::kSum;
     },
     "scale-learning-rate = {scale-learning-rate} with optimizer = sgd and gradient-of = sum",
     "the gradient of the sum grows with the batch by itself", "choose gradient-of = sentence or word"},
    {[](const T& o) { return !kPositive.contains(scaled_learning_rate(o)); },
     "learning-rate = {learning-rate} with reference-batch = {reference-batch}",
     "what it is scaled to is no positive number in float32", "choose another reference-batch"},
    {[](const T& o) {
       return o.optimizer == OptimizerKind::kAdam && !kPositive.contains(scaled_learning_rate(o) / (1 - o.adam_beta1));
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
    {[](const T& o) { return o.validation_share > 0 && !validates(o); },
     "validation-share = {validation-share} with validate-every = 0 and validate-minutes = 0",
     "there are no validations to limit", "choose validate-every or validate-minutes of more than 0"},
    {[](const T& o) { return o.validation_share > 0 && o.schedule == Schedule::kPlateau; },
     "validation-share = {validation-share} with schedule = plateau",
     "validations set the learning rate, and the clock would decide when there is one, so no training could be "
     "repeated",
     "choose validation-share = 0, or another schedule"},
    {[](const T& o) { return o.validation_share > 0 && o.early_stop_patience > 0; },
     "validation-share = {validation-share} with early-stop-patience = {early-stop-patience}",
     "validations end the training, and the clock would decide when there is one, so no training could be repeated",
     "choose validation-share = 0, or early-stop-patience = 0"},
    {[](const T& o) { return o.validate_minutes > 0 && o.schedule == Schedule::kPlateau; },
     "validate-minutes = {validate-minutes} with schedule = plateau",
     "validations set the learning rate, and the clock would decide when there is one, so no training could be "
     "repeated",
     "choose validate-minutes = 0, or another schedule"},
    {[](const T& o) { return o.validate_minutes > 0 && o.early_stop_patience > 0; },
     "validate-minutes = {validate-minutes} with early-stop-patience = {early-stop-patience}",
     "validations end the training, and the clock would decide when there is one, so no training could be repeated",
     "choose validate-minutes = 0, or early-stop-patience = 0"},
    {[](const T& o) { return o.reproducible_shards > 0 && o.accumulate > 1; },
     "reproducible-shards = {reproducible-shards} with accumulate = {accumulate}",
     "each rank already computes its shards one after the other",
     "choose accumulate = 1, and more shards to save memory"},
    {[](const T& o) { return o.batch_words.updates > 0 && std::min(o.batch_words.from, o.batch_words.to) < 1; },
     "batch-words = {batch-words}", "a batch of no words has no sentence pair",
     "choose two numbers of words of at least 1, such as 400:1600@6000"},
    {[](const T& o) { return o.batch_words.largest() == 0 && o.reproducible_shards > o.batch_sentences; },
     "reproducible-shards = {reproducible-shards} with batch-sentences = {batch-sentences}",
     "some shards would never have a sentence pair", "choose at most as many shards as sentence pairs"},
    {[](const T& o) { return o.resume.empty(); }, "resume without a value", "training begins somewhere",
     "choose auto, never, or the path of a checkpoint"},
    {[](const T& o) { return o.resume != "auto" && o.resume != "never" && !o.initial_model.empty(); },
     "resume = {resume} with initial-model = {initial-model}", "a run begins with one of the two",
     "choose resume = auto, or leave initial-model out"},
    {[](const T& o) { return o.initial_optimizer && o.initial_model.empty(); },
     "initial-optimizer without initial-model", "no checkpoint is named whose optimizer state it could be",
     "name one with initial-model, or leave initial-optimizer out"},
};

}  // namespace

void declare(OptionList& options, TrainOptions& o) {
  options.group("Files");
  options.add("resume", o.resume, kFirst, Placeholder{"auto|never|FILE"},
              Path{.kind = Path::kInputFile,
                   .in =
                       [](const std::string& where) {
                         return where == "auto" || where == "never" ? std::vector<std::filesystem::path>{}
                                                                    : std::vector<std::filesystem::path>{where};
                       }},
              "where an empty run begins. auto: at the beginning; FILE: at this checkpoint of another run; never: at "
              "the beginning, and a run that was begun otherwise and holds checkpoints is refused. A run that holds "
              "checkpoints resumes from the newest one");
  options.add("initial-model", o.initial_model, kFirst, kInputRun,
              "initialize a new run with the parameters of another run or of a checkpoint, for instance to adapt a "
              "model to another domain. Vocabularies are matched by word; all other sizes must be the same");
  options.add("initial-optimizer", o.initial_optimizer, kFirst,
              "with --initial-model, also take over the state of the optimizer instead of starting with a new one");
  options.group("Training");
  options.add("batch-sentences", o.batch_sentences, kFixed, kUpToABillion,
              "batch size: number of sentence pairs in an update, summed over all ranks");
  options.add("batch-words", o.batch_words, kFixed, within(0, 1e9),
              "batch size in words instead of sentence pairs: the number of sentence pairs times the length of the "
              "longest sentence among them, source or target, summed over all ranks. Updates then take about the same "
              "time and memory. 400:1600@6000: batches grow from 400 to 1600 words during some 6,000 updates (Smith et "
              "al. 2018). 0: --batch-sentences sets the batch size");
  options.add("accumulate", o.accumulate, kFree, kUpToABillion,
              "number of pieces into which each rank divides its share of a batch, to compute them one after the other "
              "and accumulate their gradients; more pieces take less memory");
  options.add(
      "pool-batches", o.pool_batches, kFixed, within(1, 1e6),
      "number of batches whose sentence pairs are sorted by length together, so that a batch has little padding");
  options.add("shuffle", o.shuffle, kFixed,
              "when the order of the sentence pairs is drawn. every-epoch: again for every epoch; once: every epoch "
              "reads the same batches in the same order, as in the paper; never: pairs are read in the order of the "
              "corpus, which may be a curriculum");
  options.add(
      "batch-order", o.batch_order, kFixed,
      "order of the batches that were sorted by length together: shuffled; by-length, short sentences first, as "
      "in the paper's code; or curriculum, shuffled, but in the first pass over the corpus (with --shuffle once or "
      "never in each) long sentences come later within every 65536 pairs (Platanios et al. 2019), which helps in the "
      "first minutes of a training; batches that grow then do so from one 65536 pairs to the next");
  options.add("seed", o.seed, kFixed,
              "random seed of the initial parameters, of the order of the data, and of dropout");
  options.add("prefetch", o.prefetch, kFree,
              "read the next sentence pairs on a background thread while the current ones are trained on; does not "
              "affect the result");
  options.add("optimizer", o.optimizer, kFixed, "optimization algorithm");
  options.add("learning-rate", o.learning_rate, kFree, kPositive,
              "learning rate of the optimizer: 1 for adadelta, some 0.001 for adam, 0.1 to 1 for sgd");
  options.add("scale-learning-rate", o.scale_learning_rate, kFree,
              "how the learning rate grows with the batch: --learning-rate is then that of a batch of "
              "--reference-batch, and is multiplied by the ratio of the sizes (linear: Goyal et al. 2017) or by its "
              "square root (square-root: Krizhevsky 2014). For larger batches --warmup-updates begins at "
              "--learning-rate in place of 0, as in Goyal et al. 2017, except with --schedule inverse-square-root");
  options.add("reference-batch", o.reference_batch, kFree, within(0, 1e9),
              "for --scale-learning-rate: size of the batch for which --learning-rate was found, in sentence pairs, or "
              "with --batch-words in words");
  options.add("rho", o.rho, kFree,
              Bounds{.from = 0,
                     .to = kOneInFloat32,
                     .above = true,
                     .below = true,
                     .sentence = "above 0 and below 1 in float32, so at most 0.9999999"},
              "decay of the running averages of Adadelta");
  options.add("epsilon", o.epsilon, kFree, kPositive,
              "epsilon of Adadelta; above zero, so that the first steps are not zero");
  options.add("adam-beta1", o.adam_beta1, kFree, kDecay, "decay of Adam's average of gradients");
  options.add("adam-beta2", o.adam_beta2, kFree, kDecay, "decay of Adam's average of squared gradients");
  options.add("adam-epsilon", o.adam_epsilon, kFree, kPositive,
              "epsilon of Adam, added to the divisor so that it is never zero");
  // fixed: with momentum there is a velocity to go on with, without there is none
  options.add("momentum", o.momentum, kFixed, kDecay, "momentum of sgd; 0: plain gradient descent");
  options.add("gradient-of", o.gradient_of, kFree,
              "normalization of the cost whose gradient is computed. sum: sum over the batch; sentence: divided by the "
              "number of sentence pairs; word: divided by the number of target words. The best --clip-norm and "
              "--learning-rate depend on it");
  options.add("label-smoothing", o.label_smoothing, kFree, kShare,
              "share of the probability of each target word that is spread over all words of the softmax; reported "
              "losses do not include it. About 0.1 often improves BLEU. 0: no smoothing");
  options.add("sampled-softmax", o.sampled_softmax, kFixed, within(0, 1e9),
              "number of target words over which the softmax sums in training: those of as many consecutive batches as "
              "have this number of distinct words (Jean et al. 2015), on both sides if these have a joint vocabulary. "
              "Updates are then faster, most of all with large vocabularies, and teach a little less. Losses of "
              "training are those of this softmax, while validation and translation use all words. 0: all words");
  options.add("guided-alignment", o.guided_alignment, kFixed, within(0, 1e6),
              "weight of the alignment cost, the cross entropy between the word alignments of the corpus (prepare "
              "--train-alignments) and the attention weights (Chen et al. 2016), relative to the cost of the words; "
              "reported losses do not include it. Usual values are 0.1 to 1, and 1:0@5000 fades out during the first "
              "5000 updates. 0: no alignment cost");
  options.add("clip-norm", o.clip_norm, kFree,
              Bounds{.from = kPositive.from,
                     .to = kPositive.to,
                     .or_zero = true,
                     .sentence = "that is 0 (no limit), or at least 1.2e-38 and at most 3.4e38, as float32 has it"},
              "clip the gradient to this norm; 0: no clipping");
  options.add("average-decay", o.average_decay, kFree, kShare,
              "decay of an exponential moving average of the parameters, for instance 0.9999. Validation and "
              "translation then use the average instead of the parameters. 0: no average");
  options.add("max-skipped", o.max_skipped, kFree, kAtLeast1,
              "number of successive updates that are skipped because their gradient is not finite, after which the "
              "training ends with an error");
  options.add("schedule", o.schedule, kFree, "learning rate schedule");
  options.add("warmup-updates", o.warmup_updates, kFree,
              "number of updates in which the learning rate rises linearly from 0");
  options.add("plateau-patience", o.plateau_patience, kFree, kAtLeast1,
              "number of validations without a lower dev loss after which the learning rate is halved; only with "
              "--schedule plateau");
  options.add("halve-after-epochs", o.halve_after_epochs, kFree, kAtLeast0,
              "number of passes over the corpus, fractions allowed, until the learning rate is halved for the first "
              "time; only with --schedule halving");
  options.add(
      "halve-every-epochs", o.halve_every_epochs, kFree, Bounds{.from = 0, .above = true},
      "number of passes over the corpus, fractions allowed, between two later halvings; only with --schedule halving");
  options.group("All-reduce of gradients");
  options.add(
      "overlap", o.overlap, kFree,
      "overlap the all-reduce of finished gradients with the computation of the others; does not affect the result");
  options.add("reproducible-shards", o.reproducible_shards, kFixed, within(0, 65536),
              "divide each batch into this number of shards, so that the result is bit-identical on any number of "
              "ranks that divides the number of shards, also when a run is resumed on another number of ranks. Choose "
              "the largest number of ranks that you may use: a rank computes its shards one after the other, and small "
              "shards are slow. 0: the last bits of the result depend on the number of ranks");
  options.group("When to stop (the first limit reached; 0: no limit)");
  options.add("max-updates", o.max_updates, kFree, "stop after this number of updates");
  options.add("max-epochs", o.max_epochs, kFree, "stop after this number of passes over the corpus");
  options.add("max-minutes", o.max_minutes, kFree, kBasic, kAtLeast0,
              "stop after this number of minutes of training, summed over all attempts");
  options.add("early-stop-patience", o.early_stop_patience, kFree,
              "stop after this number of successive validations without a better --best-metric");
  options.group("Validation");
  options.add("validate-every", o.validate_every, kFree,
              "number of updates between validations; 0: validate only as --validate-minutes says, or never");
  options.add("validate-minutes", o.validate_minutes, kFree, kAtLeast0,
              "minutes between validations; 0: validate only as --validate-every says");
  options.add("validation-share", o.validation_share, kFree, kShare,
              "largest share of the time that validations may take, for instance 0.1. A validation that would exceed "
              "it, if it took as long as the last one, is postponed to the first update after which it no longer does; "
              "the first validation of an attempt and the one at the end are always made. 0: no limit");
  options.add("best-metric", o.best_metric, kFree,
              "metric on the dev set that selects the best checkpoint and decides on early stopping; lower is better "
              "for loss and ter, higher for bleu and chrf");
  options.group("Checkpoints and log");
  options.add("checkpoint-every", o.checkpoint_every, kFree,
              "number of updates between checkpoints; 0: write them only as --checkpoint-minutes says");
  options.add("checkpoint-minutes", o.checkpoint_minutes, kFree, kAtLeast0,
              "minutes between checkpoints; 0: write them only as --checkpoint-every says");
  options.add("synchronous-checkpoints", o.synchronous_checkpoints, kFree,
              "let training wait while a checkpoint is written. Without this option a checkpoint is written in the "
              "background, from a copy that takes as much memory on rank 0 as the parameters, their average and the "
              "state of the optimizer together");
  options.add("keep-checkpoints", o.keep_checkpoints, kFree,
              Bounds{.from = 2, .sentence = "of at least 2, so that a damaged one can be replaced by the one before"},
              "number of newest checkpoints to keep; the best checkpoint is always kept as well");
  options.add("log-every", o.log_every, kFree, kAtLeast1, "number of updates between two lines of log.jsonl");
}

void check(const TrainOptions& options) { check_options<TrainOptions>(options, kRules, {}, ""); }

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
  if (options.guided_alignment.largest() == 0) return;
  const bool global = model.attention_window == model::AttentionWindow::kGlobal;
  if (model.attends() && global) return;
  throw Error("guided-alignment = {}{} makes no sense: {}; choose {}, or guided-alignment = 0",
              value::write(options.guided_alignment),
              model.attends() ? fmt::format(" with attention-window = {}", name_of(model.attention_window))
                              : " with attention = none",
              model.attends() ? "a word outside the window has no weight that a link could raise"
                              : "there are no weights to guide",
              model.attends() ? "attention-window = global" : "a score");
}

Config config_of(model::ModelOptions options) { return options_of(options).record(); }
Config config_of(TrainOptions options) { return options_of(options).record(); }

model::ModelOptions model_options_of(const Config& config) {
  model::ModelOptions options;
  options_of(options).read_record(config, "checkpoint: its configuration");
  return options;
}

Config identity_of(const model::ModelOptions& model, TrainOptions options) {
  Config identity = config_of(model);
  const OptionList list = options_of(options);
  for (const Option& option : list.rows()) {
    if (option.later == kFixed) identity.emplace(option.name, option.text());
  }
  return identity;
}

}  // namespace rnnsearch::train
