#include "rnnsearch/train/options.h"

#include <array>
#include <charconv>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>

#include "rnnsearch/base/error.h"

namespace rnnsearch::train {
namespace {

template <class Value, std::size_t count>
using Names = std::array<std::pair<Value, const char*>, count>;

constexpr Names<Shuffle, 3> kShuffles{
    {{Shuffle::kEveryEpoch, "every-epoch"}, {Shuffle::kOnce, "once"}, {Shuffle::kNever, "never"}}};
constexpr Names<BatchOrder, 2> kBatchOrders{
    {{BatchOrder::kShuffled, "shuffled"}, {BatchOrder::kByLength, "by-length"}}};
constexpr Names<OptimizerKind, 3> kOptimizers{
    {{OptimizerKind::kAdadelta, "adadelta"}, {OptimizerKind::kAdam, "adam"}, {OptimizerKind::kSgd, "sgd"}}};
constexpr Names<GradientOf, 3> kGradients{
    {{GradientOf::kSum, "sum"}, {GradientOf::kSentence, "sentence"}, {GradientOf::kWord, "word"}}};
constexpr Names<Schedule, 4> kSchedules{{{Schedule::kConstant, "constant"},
                                         {Schedule::kInverseSquareRoot, "inverse-square-root"},
                                         {Schedule::kPlateau, "plateau"},
                                         {Schedule::kHalving, "halving"}}};
constexpr Names<BestMetric, 2> kMetrics{{{BestMetric::kLoss, "loss"}, {BestMetric::kBleu, "bleu"}}};
constexpr Names<ReducePrecision, 2> kReducePrecisions{
    {{ReducePrecision::kFloat32, "f32"}, {ReducePrecision::kBfloat16, "bf16"}}};

template <class Value, std::size_t count>
Value value_of(const Names<Value, count>& names, const char* option, const std::string& name) {
  std::string choices;
  for (const auto& [value, text] : names) {
    if (name == text) return value;
    choices += text_of(choices.empty() ? "" : ", ", text);
  }
  throw Error(text_of(option, " is '", name, "'; choose one of: ", choices));
}

template <class Value, std::size_t count>
std::string name_in(const Names<Value, count>& names, Value wanted) {
  for (const auto& [value, text] : names) {
    if (value == wanted) return text;
  }
  return "";
}

// The fewest digits that read back as the same bits.
template <class Number>
std::string digits_of(Number value) {
  std::array<char, 40> digits{};
  const auto end = std::to_chars(digits.data(), digits.data() + digits.size(), value);
  return {digits.data(), end.ptr};
}

std::string yes_or_no(bool value) {
  return value ? "true" : "false";
}

void require(bool fine, const char* option, double value, const char* expected) {
  if (!fine) throw Error(text_of("", option, " is ", value, "; it must be ", expected));
}

// Options are double and the optimizers compute in float32, where 1e-46 is 0, 1e39 infinite, and 1 - 1e-9 is 1.
bool is_positive_float(double value) {
  return value >= static_cast<double>(std::numeric_limits<float>::min()) &&
         value <= static_cast<double>(std::numeric_limits<float>::max());
}
bool is_float_below_one(double value) {
  return value < 1 && static_cast<float>(value) < 1;
}
constexpr const char* kPositive = "at least 1.2e-38 and at most 3.4e38, as float32 has it";
constexpr const char* kDecay = "at least 0 and below 1 in float32, so at most 0.9999999";

}  // namespace

void check(const TrainOptions& o) {
  const auto number = [](std::uint64_t value) { return static_cast<double>(value); };
  require(o.batch_sentences > 0, "batch-sentences", number(o.batch_sentences), "at least 1");
  require(o.accumulate > 0, "accumulate", number(o.accumulate), "at least 1");
  require(o.pool_batches > 0, "pool-batches", number(o.pool_batches), "at least 1");
  require(is_positive_float(o.learning_rate), "learning-rate", o.learning_rate, kPositive);
  require(o.rho > 0 && is_float_below_one(o.rho), "rho", o.rho,
          "above 0 and below 1 in float32, so at most 0.9999999");
  require(is_positive_float(o.epsilon), "epsilon", o.epsilon, kPositive);
  require(o.adam_beta1 >= 0 && is_float_below_one(o.adam_beta1), "adam-beta1", o.adam_beta1, kDecay);
  require(o.adam_beta2 >= 0 && is_float_below_one(o.adam_beta2), "adam-beta2", o.adam_beta2, kDecay);
  require(is_positive_float(o.adam_epsilon), "adam-epsilon", o.adam_epsilon, kPositive);
  require(o.optimizer != OptimizerKind::kAdam || is_positive_float(o.learning_rate / (1 - o.adam_beta1)),
          "learning-rate", o.learning_rate, "at most 3.4e38 when it is divided by 1 - adam-beta1");
  require(o.momentum >= 0 && is_float_below_one(o.momentum), "momentum", o.momentum, kDecay);
  require(o.momentum == 0 || o.optimizer == OptimizerKind::kSgd, "momentum", o.momentum,
          "0 unless the optimizer is sgd");
  require(o.label_smoothing >= 0 && o.label_smoothing < 1, "label-smoothing", o.label_smoothing,
          "at least 0 and below 1");
  require(o.clip_norm == 0 || is_positive_float(o.clip_norm), "clip-norm", o.clip_norm,
          "0 (no limit), or at least 1.2e-38 and at most 3.4e38, as float32 has it");
  require(o.average_decay >= 0 && o.average_decay < 1, "average-decay", o.average_decay, "at least 0 and below 1");
  require(o.max_skipped > 0, "max-skipped", number(o.max_skipped), "at least 1");
  require(o.schedule != Schedule::kInverseSquareRoot || o.warmup_updates > 0, "warmup-updates",
          number(o.warmup_updates), "at least 1 with the schedule inverse-square-root");
  require(o.plateau_patience > 0, "plateau-patience", number(o.plateau_patience), "at least 1");
  require(o.schedule != Schedule::kPlateau || o.validate_every > 0, "validate-every", number(o.validate_every),
          "at least 1 with the schedule plateau");
  require(o.halve_after_epochs >= 0, "halve-after-epochs", o.halve_after_epochs, "at least 0");
  require(o.halve_every_epochs > 0, "halve-every-epochs", o.halve_every_epochs, "above 0");
  require(o.early_stop_patience == 0 || o.validate_every > 0, "validate-every", number(o.validate_every),
          "at least 1 with early-stop-patience");
  require(o.max_minutes >= 0, "max-minutes", o.max_minutes, "at least 0");
  require(o.checkpoint_minutes >= 0, "checkpoint-minutes", o.checkpoint_minutes, "at least 0");
  require(o.keep_checkpoints >= 2, "keep-checkpoints", number(o.keep_checkpoints),
          "at least 2, so that a damaged one can be replaced by the one before");
  require(o.log_every > 0, "log-every", number(o.log_every), "at least 1");
  if (o.resume.empty()) throw Error("resume is empty; choose auto, never, or the path of a checkpoint");
}

Shuffle shuffle_of(const std::string& name) {
  return value_of(kShuffles, "shuffle", name);
}
BatchOrder batch_order_of(const std::string& name) {
  return value_of(kBatchOrders, "batch-order", name);
}
OptimizerKind optimizer_of(const std::string& name) {
  return value_of(kOptimizers, "optimizer", name);
}
GradientOf gradient_of_of(const std::string& name) {
  return value_of(kGradients, "gradient-of", name);
}
Schedule schedule_of(const std::string& name) {
  return value_of(kSchedules, "schedule", name);
}
BestMetric best_metric_of(const std::string& name) {
  return value_of(kMetrics, "best-metric", name);
}
ReducePrecision reduce_precision_of(const std::string& name) {
  return value_of(kReducePrecisions, "reduce-precision", name);
}
std::string name_of(Shuffle shuffle) {
  return name_in(kShuffles, shuffle);
}
std::string name_of(BatchOrder batch_order) {
  return name_in(kBatchOrders, batch_order);
}
std::string name_of(OptimizerKind optimizer) {
  return name_in(kOptimizers, optimizer);
}
std::string name_of(GradientOf gradient_of) {
  return name_in(kGradients, gradient_of);
}
std::string name_of(Schedule schedule) {
  return name_in(kSchedules, schedule);
}
std::string name_of(BestMetric best_metric) {
  return name_in(kMetrics, best_metric);
}
std::string name_of(ReducePrecision reduce_precision) {
  return name_in(kReducePrecisions, reduce_precision);
}

namespace {

template <class Number>
Number number_of(const char* name, const std::string& digits) {
  Number value{};
  const auto end = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (digits.empty() || end.ec != std::errc() || end.ptr != digits.data() + digits.size()) {
    throw Error(text_of("checkpoint: its configuration says ", name, " = '", digits, "', expected a number"));
  }
  return value;
}

/// Options that the first checkpoints did not know: where one lacks them, they had their defaults.
struct Later {
  const char* name;
  std::string (*write)(const model::ModelOptions&);
  void (*read)(const char* name, const std::string& text, model::ModelOptions&);
};
template <auto field, auto of>
Later choice(const char* name) {
  return {name, [](const model::ModelOptions& o) { return model::name_of(o.*field); },
          [](const char*, const std::string& text, model::ModelOptions& o) { o.*field = of(text); }};
}
template <auto field>
Later number(const char* name) {
  return {name, [](const model::ModelOptions& o) { return digits_of(o.*field); },
          [](const char* at, const std::string& text, model::ModelOptions& o) {
            o.*field = number_of<std::decay_t<decltype(o.*field)>>(at, text);
          }};
}
template <auto field>
Later yes(const char* name) {
  return {name, [](const model::ModelOptions& o) { return yes_or_no(o.*field); },
          [](const char*, const std::string& text, model::ModelOptions& o) { o.*field = text == "true"; }};
}

std::span<const Later> later_options() {
  using M = model::ModelOptions;
  static const std::array all{choice<&M::cell, model::cell_of>("cell"),
                              choice<&M::gru_reset, model::gru_reset_of>("gru-reset"),
                              choice<&M::encoder, model::encoder_of>("encoder"),
                              number<&M::encoder_state>("encoder-state"),
                              yes<&M::source_start>("source-start"),
                              yes<&M::source_end>("source-end"),
                              number<&M::layers>("layers"),
                              choice<&M::attend_from, model::attend_from_of>("attend-from"),
                              choice<&M::attention_window, model::attention_window_of>("attention-window"),
                              number<&M::window>("window"),
                              choice<&M::fixed_context, model::fixed_context_of>("fixed-context"),
                              choice<&M::initial_state, model::initial_state_of>("initial-state"),
                              choice<&M::state_inputs, model::state_inputs_of>("state-inputs"),
                              choice<&M::readout_inputs, model::readout_inputs_of>("readout-inputs"),
                              choice<&M::readout, model::readout_of>("readout"),
                              choice<&M::readout_state, model::readout_state_of>("readout-state"),
                              yes<&M::input_feeding>("input-feeding"),
                              choice<&M::feedback, model::feedback_of>("feedback"),
                              choice<&M::start, model::start_of>("start"),
                              number<&M::dropout>("dropout"),
                              choice<&M::dropout_kind, model::dropout_kind_of>("dropout-kind"),
                              number<&M::attention_dropout>("attention-dropout"),
                              yes<&M::layer_normalisation>("layer-normalisation"),
                              choice<&M::initialisation, model::initialisation_of>("initialisation"),
                              choice<&M::tied_embeddings, model::tied_embeddings_of>("tied-embeddings")};
  return all;
}

}  // namespace

Config completed(Config config) {
  for (const Later& option : later_options()) config.emplace(option.name, option.write({}));
  config.emplace("shuffle", name_of(TrainOptions().shuffle));
  config.emplace("batch-order", name_of(TrainOptions().batch_order));
  return config;
}

Config config_of(const model::ModelOptions& o) {
  Config config{{"source-words", digits_of(o.source_words)},
                {"target-words", digits_of(o.target_words)},
                {"embedding", digits_of(o.embedding)},
                {"state", digits_of(o.state)},
                {"alignment", digits_of(o.alignment)},
                {"maxout", digits_of(o.maxout)},
                {"readout-rank", digits_of(o.readout_rank)},
                {"attention", model::name_of(o.attention)},
                {"state-word", model::name_of(o.state_word)},
                {"gate-biases", yes_or_no(o.gate_biases)},
                {"embedding-biases", yes_or_no(o.embedding_biases)},
                {"initial-deviation", digits_of(o.initial_deviation)}};
  for (const Later& option : later_options()) config[option.name] = option.write(o);
  return config;
}

Config config_of(const TrainOptions& o) {
  return {{"batch-sentences", digits_of(o.batch_sentences)},
          {"accumulate", digits_of(o.accumulate)},
          {"pool-batches", digits_of(o.pool_batches)},
          {"shuffle", name_of(o.shuffle)},
          {"batch-order", name_of(o.batch_order)},
          {"seed", digits_of(o.seed)},
          {"prefetch", yes_or_no(o.prefetch)},
          {"optimizer", name_of(o.optimizer)},
          {"learning-rate", digits_of(o.learning_rate)},
          {"rho", digits_of(o.rho)},
          {"epsilon", digits_of(o.epsilon)},
          {"adam-beta1", digits_of(o.adam_beta1)},
          {"adam-beta2", digits_of(o.adam_beta2)},
          {"adam-epsilon", digits_of(o.adam_epsilon)},
          {"momentum", digits_of(o.momentum)},
          {"gradient-of", name_of(o.gradient_of)},
          {"label-smoothing", digits_of(o.label_smoothing)},
          {"clip-norm", digits_of(o.clip_norm)},
          {"average-decay", digits_of(o.average_decay)},
          {"overlap", yes_or_no(o.overlap)},
          {"reduce-precision", name_of(o.reduce_precision)},
          {"max-skipped", digits_of(o.max_skipped)},
          {"schedule", name_of(o.schedule)},
          {"warmup-updates", digits_of(o.warmup_updates)},
          {"plateau-patience", digits_of(o.plateau_patience)},
          {"halve-after-epochs", digits_of(o.halve_after_epochs)},
          {"halve-every-epochs", digits_of(o.halve_every_epochs)},
          {"max-updates", digits_of(o.max_updates)},
          {"max-epochs", digits_of(o.max_epochs)},
          {"max-minutes", digits_of(o.max_minutes)},
          {"early-stop-patience", digits_of(o.early_stop_patience)},
          {"best-metric", name_of(o.best_metric)},
          {"validate-every", digits_of(o.validate_every)},
          {"checkpoint-every", digits_of(o.checkpoint_every)},
          {"checkpoint-minutes", digits_of(o.checkpoint_minutes)},
          {"keep-checkpoints", digits_of(o.keep_checkpoints)},
          {"log-every", digits_of(o.log_every)},
          {"resume", o.resume}};
}

model::ModelOptions model_options_of(const Config& config) {
  const auto text = [&](const char* name) -> const std::string& {
    const auto found = config.find(name);
    if (found == config.end()) throw Error(text_of("checkpoint: its configuration lacks ", name));
    return found->second;
  };
  const auto read = [&](const char* name, auto& value) {
    value = number_of<std::decay_t<decltype(value)>>(name, text(name));
  };
  model::ModelOptions o;
  read("source-words", o.source_words);
  read("target-words", o.target_words);
  read("embedding", o.embedding);
  read("state", o.state);
  read("alignment", o.alignment);
  read("maxout", o.maxout);
  read("readout-rank", o.readout_rank);
  o.attention = model::attention_of(text("attention"));
  o.state_word = model::state_word_of(text("state-word"));
  o.gate_biases = text("gate-biases") == "true";
  o.embedding_biases = text("embedding-biases") == "true";
  read("initial-deviation", o.initial_deviation);
  for (const Later& option : later_options()) {
    if (const auto found = config.find(option.name); found != config.end()) option.read(option.name, found->second, o);
  }
  return o;
}

void refuse_outdated(const Config& config, const std::string& file) {
  const auto reads_context = [&](const char* name, model::Inputs (*inputs_of)(const std::string&)) {
    const auto found = config.find(name);
    return found == config.end() || inputs_of(found->second).context;
  };
  const auto attention = config.find("attention");
  if (config.count("fixed-context") > 0 || attention == config.end() || attention->second != "none") return;
  if (!reads_context("state-inputs", model::state_inputs_of) &&
      !reads_context("readout-inputs", model::readout_inputs_of)) {
    return;
  }
  throw Error(text_of("checkpoint: ", file,
                      " holds a model whose fixed context goes through a tanh layer (context/V), which RNNencdec does "
                      "not have (arXiv 1409.0473, appendix A.2.2) and this version leaves out; train it again, with "
                      "fixed-context = tanh if you want that layer"));
}

Config identity_of(const model::ModelOptions& model, const TrainOptions& options) {
  Config identity = config_of(model);
  const Config training = config_of(options);
  for (const char* name : {"batch-sentences", "pool-batches", "shuffle", "batch-order", "seed", "optimizer"})
    identity[name] = training.at(name);
  // With momentum there is a velocity to go on with, without there is none.
  if (options.optimizer == OptimizerKind::kSgd) identity["momentum"] = training.at("momentum");
  return identity;
}

}  // namespace rnnsearch::train
