// The layout of a checkpoint. It is a contract: people read checkpoints with h5py. A checkpoint is a sealed file
// (storage/sealed_file.h) and is never updated in place.
//
// As in a corpus (corpus/format.h), all datasets are contiguous, without filters.
//
//   /                      format="rnnsearch-checkpoint", format_version=5, created_by, source_language,
//                          target_language, update, compiler and libraries (versions) of the program that wrote it,
//                          complete=1 (written last)
//   /config                a text attribute for each option of the model and the training, named as the option;
//                          arithmetic: f32, bf16-avx512 ... (kernels/precision.h), of the last update
//   /vocabulary, /pipeline as in a corpus (corpus/format.h)
//   /parameters/NAME       float32, with the names and shapes of ParameterLayout, such as decoder/W_z [m, n];
//                          a matrix is [in, out]
//   /average/NAME          float32, in the shape of the parameter: the moving average, if the training keeps one.
//                          Translation uses /average, training resumes with /parameters
//   /optimizer             attribute steps
//   /optimizer/ACCUMULATOR/NAME   float32, in the shape of the parameter; squared_gradient and squared_delta
//                          (Adadelta), m and v (Adam), velocity (sgd with momentum)
//   /state                 an attribute for each field of TrainingState; the position in the data is counted in pairs
//   /history/update             uint64[logged updates]; beside it, as float64: loss_per_word, learning_rate,
//                               target_words_per_second
//   /history/validation/update  uint64[validations]; beside it, as float64: loss_per_word, bleu (NaN: not computed)
//
// A mean of checkpoints (average_checkpoints) has the attribute average_of with their file names and digests. It has no
// /optimizer and no /history, and its /state holds only corpus_fingerprint; `update` is that of the newest checkpoint.
#include "rnnsearch/train/checkpoint.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <optional>

#include "rnnsearch/base/error.h"
#include "rnnsearch/base/packed.h"
#include "rnnsearch/base/version.h"
#include "rnnsearch/comm/communicator.h"
#include "rnnsearch/corpus/format.h"
#include "rnnsearch/kernels/instruction_set.h"
#include "rnnsearch/kernels/precision.h"
#include "rnnsearch/storage/sealed_file.h"
#include "train/checkpoint_file.h"

namespace rnnsearch::train {
namespace {

constexpr const char* kFormat = "rnnsearch-checkpoint";
constexpr const char* kAverage = "/average";
constexpr const char* kArithmetic = "arithmetic";

/// Calls visit(name, field) for every field. /state, the message to other ranks and the JSON use it, so none can miss a
/// field.
template <class State, class Visit>
void for_each_field(State& state, const Visit& visit) {
  visit("update", state.update);
  visit("epoch", state.position.epoch);
  visit("pairs", state.position.pairs);
  visit("plateau_factor", state.plateau.factor);
  visit("plateau_best_loss", state.plateau.best_loss);
  visit("plateau_validations_without_gain", state.plateau.validations_without_gain);
  visit("plateau_seen", state.plateau.seen);
  visit("best_score", state.best_score);
  visit("best_update", state.best_update);
  visit("validations_without_gain", state.patience.validations_without_gain);
  visit("validated_update", state.validated_update);
  visit("measured_by", state.measured_by);
  visit("validation_ended_seconds", state.validations.ended);
  visit("validation_seconds", state.validations.spent);
  visit("last_validation_seconds", state.validations.last);
  visit("former_checkpoint", state.former_checkpoint);
  visit("elapsed_seconds", state.elapsed_seconds);
  visit("skipped_updates", state.skipped_updates);
  visit("skipped_in_a_row", state.skipped_in_a_row);
  visit("world_size", state.world_size);
  visit("corpus_fingerprint", state.corpus_fingerprint);
  visit("patience_best_score", state.patience.best_score);
  visit("patience_seen", state.patience.seen);
  visit("interval_updates", state.interval.updates);
  visit("interval_pairs", state.interval.pairs);
  visit("interval_source_words", state.interval.source_words);
  visit("interval_target_words", state.interval.target_words);
  visit("interval_negative_log_likelihood", state.interval.negative_log_likelihood);
  visit("interval_words", state.interval.words);
  visit("interval_data_seconds", state.interval.data_seconds);
  visit("interval_compute_seconds", state.interval.compute_seconds);
  visit("interval_communication_seconds", state.interval.communication_seconds);
  visit("interval_optimizer_seconds", state.interval.optimizer_seconds);
  visit("interval_reduction_seconds", state.interval.reduction_seconds);
  visit("interval_bytes_sent", state.interval.bytes_sent);
}

struct FromFile {
  const storage::File& file;
  template <storage::Number T>
  void operator()(const char* name, T& field) const {
    field = file.attribute<T>("/state", name);
  }
  void operator()(const char* name, bool& field) const { field = file.attribute<std::uint64_t>("/state", name) != 0; }
  void operator()(const char* name, std::string& field) const { field = file.text_attribute("/state", name); }
};

std::string dataset(const std::string& group, const model::Parameter& parameter) {
  return "/" + group + "/" + parameter.name;
}

/// Writes a block in the layout of the parameters, as one dataset for each parameter.
void write_block(storage::File& file, const std::string& group, const model::ParameterLayout& layout,
                 std::span<const float> block) {
  for (const auto& parameter : layout.parameters) {
    const float* data = block.data() + parameter.offset;
    if (parameter.shape.size() == 1) {
      file.write<float>(dataset(group, parameter), std::span(data, parameter.count()));
    } else {
      file.write<float>(dataset(group, parameter),
                        ConstMatrixView<float>(data, parameter.rows(), parameter.cols(), parameter.stride));
    }
  }
}

/// kFinite: neither infinities nor NaNs are allowed. kNumbers: infinities are allowed, NaNs are not.
enum class Values { kFinite, kNumbers };

/// Returns the first value of `data` that is not allowed, if there is one.
std::optional<float> unexpected(const model::Parameter& parameter, const float* data, Values expected) {
  for (std::size_t i = 0; i < parameter.rows(); ++i) {
    const float* row = data + i * parameter.stride;
    const float* odd = std::find_if(row, row + parameter.cols(), [&](float value) {
      return expected == Values::kFinite ? !std::isfinite(value) : std::isnan(value);
    });
    if (odd != row + parameter.cols()) return *odd;
  }
  return {};
}

/// Throws Error for values that resume_checkpoint would reject: such a checkpoint would replace a usable one.
void expect_values(const std::string& group, const model::ParameterLayout& layout, std::span<const float> block,
                   std::uint64_t update, Values expected = Values::kFinite) {
  for (const auto& parameter : layout.parameters) {
    if (const auto odd = unexpected(parameter, block.data() + parameter.offset, expected)) {
      throw Error(
          "the training diverged: after update {} {} holds {:g}, so no checkpoint is written; run the command again "
          "with a lower learning-rate or clip-norm: it resumes from the checkpoint before, or begins anew if there is "
          "none",
          update, dataset(group, parameter), *odd);
    }
  }
}

void read_block(const storage::File& file, const std::string& group, const model::ParameterLayout& layout,
                std::span<float> block, Values expected = Values::kFinite) {
  for (const auto& parameter : layout.parameters) {
    float* data = block.data() + parameter.offset;
    if (parameter.shape.size() == 1) {
      file.read_into<float>(dataset(group, parameter), std::span(data, parameter.count()));
    } else {
      file.read_into<float>(dataset(group, parameter),
                            MatrixView<float>(data, parameter.rows(), parameter.cols(), parameter.stride));
    }
    if (const auto odd = unexpected(parameter, data, expected)) {
      throw Error("checkpoint: {} at {} holds {:g}, because the training diverged; use the previous checkpoint",
                  file.name(), dataset(group, parameter), *odd);
    }
  }
}

/// One field of every row.
template <class Value, class Row>
std::vector<Value> column(const std::vector<Row>& rows, Value Row::*field) {
  std::vector<Value> values;
  values.reserve(rows.size());
  for (const Row& row : rows) values.push_back(row.*field);
  return values;
}

template <class Value, class Row>
void write_column(storage::File& file, const std::string& path, const std::vector<Row>& rows, Value Row::*field) {
  file.write<Value>(path, std::span<const Value>(column(rows, field)));
}

template <class Value, class Row>
void read_column(const storage::File& file, const std::string& path, std::vector<Row>& rows, Value Row::*field) {
  const auto values = file.read<Value>(path);
  if (path.ends_with("/update")) rows.resize(values.size());  // the first column of each table sets its size
  if (rows.size() != values.size()) {
    throw Error("checkpoint: {} at {} has {} values for {} updates; use another copy or the previous checkpoint",
                file.name(), path, values.size(), rows.size());
  }
  for (std::size_t i = 0; i < values.size(); ++i) rows[i].*field = values[i];
}

/// Calls visit(path, rows, field) for every column. Reading and writing both use it, so neither can miss a column.
template <class SomeHistory, class Visit>
void for_each_column(SomeHistory& history, const Visit& visit) {
  using U = History::Update;
  using V = History::Validation;
  visit("/history/update", history.updates, &U::update);
  visit("/history/loss_per_word", history.updates, &U::loss_per_word);
  visit("/history/learning_rate", history.updates, &U::learning_rate);
  visit("/history/target_words_per_second", history.updates, &U::target_words_per_second);
  visit("/history/validation/update", history.validations, &V::update);
  visit("/history/validation/loss_per_word", history.validations, &V::loss_per_word);
  visit("/history/validation/bleu", history.validations, &V::bleu);
}

void write_history(storage::File& file, const History& history) {
  for_each_column(history,
                  [&](const char* path, const auto& rows, auto field) { write_column(file, path, rows, field); });
}

History read_history(const storage::File& file) {
  History history;
  for_each_column(history, [&](const char* path, auto& rows, auto field) { read_column(file, path, rows, field); });
  return history;
}

void write_checkpoint(storage::File& file, const CheckpointSource& source) {
  const storage::Exclusive alone;  // otherwise the prefetch of a slow corpus could delay every single write below
  Config config = config_of(source.options);
  config.merge(config_of(source.model_options));
  config[kArithmetic] = kernels::arithmetic();
  begin_checkpoint(file, source.state.update, config);
  corpus::write_vocabulary(file, "source", source.source_vocabulary);
  corpus::write_vocabulary(file, "target", source.target_vocabulary);
  corpus::write_pipeline(file, source.pipeline);

  write_block(file, "parameters", source.layout, source.parameters);
  if (!source.average.empty()) write_block(file, "average", source.layout, source.average);
  for (const auto& [name, values] : source.accumulators) write_block(file, "optimizer/" + name, source.layout, values);
  file.write_attribute("/optimizer", "steps", source.optimizer_steps);
  const auto write = [&](const char* name, const auto& field) {
    if constexpr (std::is_same_v<std::decay_t<decltype(field)>, bool>) {
      file.write_attribute("/state", name, std::uint64_t{field});
    } else {
      file.write_attribute("/state", name, field);
    }
  };
  for_each_field(source.state, write);
  write_history(file, source.history);
  file.write_attribute("/", "complete", 1);
}

}  // namespace

std::string libraries() {
  return fmt::format("{}, {}, {}, {}", kernels::libraries(), storage::library(), comm::library(), corpus::libraries());
}

storage::File open_checkpoint(const std::filesystem::path& path, const Poll& poll) {
  storage::File file = storage::open_sealed(path, "checkpoint", storage::SealCheck::kDigest, poll);
  storage::check_format(file, kFormat);
  if (!file.has_attribute("/", "complete"))
    throw Error("checkpoint: {} was not written to its end; use the previous checkpoint", path);
  return file;
}

void read_accumulator(const storage::File& file, const std::string& name, const model::ParameterLayout& layout,
                      std::span<float> block) {
  read_block(file, "optimizer/" + name, layout, block, Values::kNumbers);
}

Config read_config(const storage::File& file) {
  Config config;
  for (const auto& name : file.attributes("/config")) config[name] = file.text_attribute("/config", name);
  return config;
}

void begin_checkpoint(storage::File& file, std::uint64_t update, const Config& config) {
  storage::write_format(file, kFormat);
  file.write_attribute("/", "update", update);
  file.write_attribute("/", "compiler", std::string_view(kCompiler));
  file.write_attribute("/", "libraries", std::string_view(libraries()));
  for (const auto& [name, value] : config) file.write_attribute("/config", name, std::string_view(value));
}

Json json_of(const TrainingState& state) {
  Json json;
  const auto add = [&](const char* name, const auto& field) { json[name] = Json(field); };
  for_each_field(state, add);
  return json;
}

std::string packed(const TrainingState& state) {
  Packer packer;
  for_each_field(state, [&](const char*, const auto& field) { packer.add(field); });
  return packer.take();
}

TrainingState training_state_of(const std::string& packed) {
  TrainingState state;
  Unpacker unpacker(packed);
  for_each_field(state, [&](const char*, auto& field) { unpacker.read(field); });
  return state;
}

CheckpointSource::CheckpointSource(const model::Model& model, Optimizer& optimizer, const TrainingState& training_state,
                                   const History& training_history, const corpus::Vocabulary& words_of_source,
                                   const corpus::Vocabulary& words_of_target, const corpus::TextPipeline& text_pipeline,
                                   const TrainOptions& train_options, std::span<const float> moving_average)
    : model_options(model.options()),
      layout(model.layout()),
      source_vocabulary(words_of_source),
      target_vocabulary(words_of_target),
      pipeline(text_pipeline),
      options(train_options),
      state(training_state),
      history(training_history),
      optimizer_steps(optimizer.steps),
      parameters(model.parameters()),
      average(moving_average) {
  for (const auto& [name, values] : optimizer.accumulators()) accumulators.push_back({name, values});
}

void save_checkpoint(const std::filesystem::path& path, const CheckpointSource& source,
                     const std::function<void()>& check) {
  expect_values("parameters", source.layout, source.parameters, source.state.update);
  if (!source.average.empty()) expect_values("average", source.layout, source.average, source.state.update);
  for (const auto& [name, values] : source.accumulators) {
    expect_values("optimizer/" + name, source.layout, values, source.state.update, Values::kNumbers);
  }
  storage::SealedWriter writer(path);
  write_checkpoint(writer.file(), source);
  writer.publish(check);
}

TrainingState resume_checkpoint(const std::filesystem::path& path, const std::string& corpus_fingerprint,
                                const TrainOptions& options, model::Model& model, Optimizer& optimizer,
                                History& history, std::span<float> average) {
  const storage::File file = open_checkpoint(path);
  if (file.has_attribute("/", kAverageOf)) {
    throw Error("checkpoint: {} is the mean of {} and holds no optimizer state; resume from one of those", path,
                file.text_attribute("/", kAverageOf));
  }
  const Config config = read_config(file);
  TrainingState state;
  for_each_field(state, FromFile{file});
  if (state.corpus_fingerprint != corpus_fingerprint) {
    throw Error(
        "checkpoint: {} was trained on another corpus (fingerprint {}, this one has {}); use that corpus, with the "
        "same --mix if there was one, or another run folder",
        path, state.corpus_fingerprint, corpus_fingerprint);
  }
  if (const auto update = file.attribute<std::uint64_t>("/", "update"); update != state.update) {
    throw Error(
        "checkpoint: {} is from update {}, but its /state is from update {}; use another copy or the previous "
        "checkpoint",
        path, update, state.update);
  }
  const auto expect_finite = [&](const char* name, const auto& field) {
    if constexpr (std::is_same_v<std::decay_t<decltype(field)>, double>) {
      if (std::isfinite(field)) return;
      throw Error(
          "checkpoint: {} at /state/{} holds {:g} where a finite number was expected; use another copy or the previous "
          "checkpoint",
          path, name, field);
    }
  };
  for_each_field(state, expect_finite);
  for (const auto& [name, value] : identity_of(model.options(), options)) {
    const std::string former = value_in(config, name);
    if (former == value) continue;
    throw Error("checkpoint: {} was trained with {} = {}, now it is {}; give the same value, or another run folder",
                path, name, former, value);
  }
  const auto& layout = model.layout();
  read_block(file, "parameters", layout, model.parameters());
  if (!average.empty() && file.exists(kAverage)) {
    read_block(file, "average", layout, average);
  } else if (!average.empty()) {
    log_line(
        fmt::format("[train] {} holds no average of its parameters, so the average starts with the parameters", path));
    std::copy(model.parameters().begin(), model.parameters().end(), average.begin());
  } else if (file.exists(kAverage)) {
    log_line(fmt::format("[train] {} holds an average of its parameters, which is dropped because average-decay is 0",
                         path));
  }
  for (const auto& [name, values] : optimizer.accumulators()) read_accumulator(file, name, layout, values);
  optimizer.steps = file.attribute<std::uint64_t>("/optimizer", "steps");
  history = read_history(file);
  return state;
}

std::string digest_of(const model::Model& model) {
  auto parameters = model.layout().parameters;
  std::sort(parameters.begin(), parameters.end(), [](const auto& a, const auto& b) { return a.name < b.name; });
  storage::Digest digest;
  for (const model::Parameter& parameter : parameters) {
    digest.add(parameter.name).add(std::string_view("\0", 1));
    for (std::size_t i = 0; i < parameter.rows(); ++i) {
      const float* const row = model.parameters().data() + parameter.offset + i * parameter.stride;
      digest.add(std::as_bytes(std::span(row, parameter.cols())));
    }
  }
  return digest.hex();
}

std::string arithmetic_of(const std::filesystem::path& checkpoint) {
  return open_checkpoint(checkpoint).text_attribute("/config", kArithmetic);
}

model::ParameterLayout check_parameters(const storage::File& file, const std::string& group, const Config& config) {
  model::ParameterLayout layout = model::parameter_layout_of(model_options_of(config));
  for (const auto& parameter : layout.parameters) {
    const auto found = file.shape(dataset(group, parameter));
    if (std::equal(found.begin(), found.end(), parameter.shape.begin(), parameter.shape.end())) continue;
    throw Error(
        "checkpoint: {} at {} does not have the shape that the model's options require; use another copy or the "
        "previous checkpoint",
        file.name(), dataset(group, parameter));
  }
  return layout;
}

LoadedModel load_model(const std::filesystem::path& checkpoint, const std::function<void()>& poll) {
  const storage::File file = open_checkpoint(checkpoint, poll);
  Config config = read_config(file);
  const char* const group = file.exists(kAverage) ? "average" : "parameters";
  check_parameters(file, group, config);  // before memory is allocated for them
  model::Model model(model_options_of(config));
  read_block(file, group, model.layout(), model.parameters());
  LoadedModel loaded{std::move(model),
                     corpus::read_vocabulary(file, "source"),
                     corpus::read_vocabulary(file, "target"),
                     corpus::read_pipeline(file),
                     std::move(config),
                     file.attribute<std::uint64_t>("/", "update")};
  const auto check_size = [&](const char* side, std::size_t words, std::size_t expected) {
    if (words == expected) return;
    throw Error("checkpoint: {} has {} {} words, but its model expects {}", checkpoint, words, side, expected);
  };
  check_size("source", loaded.source_vocabulary.size(), loaded.model.options().source_words);
  check_size("target", loaded.target_vocabulary.size(), loaded.model.options().target_words);
  return loaded;
}

}  // namespace rnnsearch::train
