#include "rnnsearch/train/options.h"

#include <array>
#include <charconv>
#include <utility>

#include "rnnsearch/base/error.h"

namespace rnnsearch::train {
namespace {

template <class Value, std::size_t count>
using Names = std::array<std::pair<Value, const char*>, count>;

constexpr Names<OptimizerKind, 2> kOptimizers{{{OptimizerKind::kAdadelta, "adadelta"}, {OptimizerKind::kAdam, "adam"}}};
constexpr Names<GradientOf, 3> kGradients{
    {{GradientOf::kSum, "sum"}, {GradientOf::kSentence, "sentence"}, {GradientOf::kWord, "word"}}};
constexpr Names<Schedule, 3> kSchedules{{{Schedule::kConstant, "constant"},
                                         {Schedule::kInverseSquareRoot, "inverse-square-root"},
                                         {Schedule::kPlateau, "plateau"}}};
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

}  // namespace

void check(const TrainOptions& o) {
  const auto number = [](std::uint64_t value) { return static_cast<double>(value); };
  require(o.batch_sentences > 0, "batch-sentences", number(o.batch_sentences), "at least 1");
  require(o.pool_batches > 0, "pool-batches", number(o.pool_batches), "at least 1");
  require(o.learning_rate > 0, "learning-rate", o.learning_rate, "above 0");
  require(o.rho > 0 && o.rho < 1, "rho", o.rho, "between 0 and 1");
  require(o.epsilon > 0, "epsilon", o.epsilon, "above 0");
  require(o.adam_beta1 >= 0 && o.adam_beta1 < 1, "adam-beta1", o.adam_beta1, "at least 0 and below 1");
  require(o.adam_beta2 >= 0 && o.adam_beta2 < 1, "adam-beta2", o.adam_beta2, "at least 0 and below 1");
  require(o.adam_epsilon > 0, "adam-epsilon", o.adam_epsilon, "above 0");
  require(o.clip_norm >= 0, "clip-norm", o.clip_norm, "at least 0");
  require(o.max_skipped > 0, "max-skipped", number(o.max_skipped), "at least 1");
  require(o.schedule != Schedule::kInverseSquareRoot || o.warmup_updates > 0, "warmup-updates",
          number(o.warmup_updates), "at least 1 with the schedule inverse-square-root");
  require(o.plateau_patience > 0, "plateau-patience", number(o.plateau_patience), "at least 1");
  require(o.schedule != Schedule::kPlateau || o.validate_every > 0, "validate-every", number(o.validate_every),
          "at least 1 with the schedule plateau");
  require(o.early_stop_patience == 0 || o.validate_every > 0, "validate-every", number(o.validate_every),
          "at least 1 with early-stop-patience");
  require(o.max_minutes >= 0, "max-minutes", o.max_minutes, "at least 0");
  require(o.checkpoint_minutes >= 0, "checkpoint-minutes", o.checkpoint_minutes, "at least 0");
  require(o.keep_checkpoints >= 2, "keep-checkpoints", number(o.keep_checkpoints),
          "at least 2, so that a damaged one can be replaced by the one before");
  require(o.log_every > 0, "log-every", number(o.log_every), "at least 1");
  if (o.resume.empty()) throw Error("resume is empty; choose auto, never, or the path of a checkpoint");
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

Config config_of(const model::ModelOptions& o) {
  return {{"source-words", digits_of(o.source_words)},
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
}

Config config_of(const TrainOptions& o) {
  return {{"batch-sentences", digits_of(o.batch_sentences)},
          {"pool-batches", digits_of(o.pool_batches)},
          {"seed", digits_of(o.seed)},
          {"optimizer", name_of(o.optimizer)},
          {"learning-rate", digits_of(o.learning_rate)},
          {"rho", digits_of(o.rho)},
          {"epsilon", digits_of(o.epsilon)},
          {"adam-beta1", digits_of(o.adam_beta1)},
          {"adam-beta2", digits_of(o.adam_beta2)},
          {"adam-epsilon", digits_of(o.adam_epsilon)},
          {"gradient-of", name_of(o.gradient_of)},
          {"clip-norm", digits_of(o.clip_norm)},
          {"overlap", yes_or_no(o.overlap)},
          {"reduce-precision", name_of(o.reduce_precision)},
          {"max-skipped", digits_of(o.max_skipped)},
          {"schedule", name_of(o.schedule)},
          {"warmup-updates", digits_of(o.warmup_updates)},
          {"plateau-patience", digits_of(o.plateau_patience)},
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
    const std::string& digits = text(name);
    const auto end = std::from_chars(digits.data(), digits.data() + digits.size(), value);
    if (digits.empty() || end.ec != std::errc() || end.ptr != digits.data() + digits.size()) {
      throw Error(text_of("checkpoint: its configuration says ", name, " = '", digits, "', expected a number"));
    }
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
  return o;
}

Config identity_of(const model::ModelOptions& model, const TrainOptions& options) {
  Config identity = config_of(model);
  const Config training = config_of(options);
  for (const char* name : {"batch-sentences", "pool-batches", "seed", "optimizer"}) identity[name] = training.at(name);
  return identity;
}

}  // namespace rnnsearch::train
