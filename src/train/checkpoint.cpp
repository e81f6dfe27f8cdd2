// The layout of a checkpoint, a contract: people read it with h5py, and later versions must read it. It is a sealed
// file (storage/sealed_file.h), never updated in place.
//
//   /                      format="rnnsearch-checkpoint", format_version=1, created_by, source_language,
//                          target_language, update, complete=1 (written last)
//   /config                one text attribute an option of the model and of the training, names = option names;
//                          precision, f32 or bf16: of the last update's products (a file without it: f32)
//   /vocabulary, /pipeline as in a corpus (corpus/format.h)
//   /parameters/NAME       float32, names and shapes of model/parameters.h: decoder/W_z [m, n] and so on; [in, out]
//   /optimizer             attribute steps
//   /optimizer/ACCUMULATOR/NAME   float32, as the parameter; squared_gradient, squared_delta (Adadelta) or m, v (Adam)
//   /state                 one attribute a field of TrainingState; the position in the data in pairs
//   /history/update             uint64[logged updates], beside it loss_per_word, learning_rate, target_words_per_second
//   /history/validation/update  uint64[validations], beside it loss_per_word, bleu (NaN: not computed); all float64
#include "rnnsearch/train/checkpoint.h"

#include <algorithm>
#include <limits>

#include "rnnsearch/base/error.h"
#include "rnnsearch/corpus/format.h"
#include "rnnsearch/storage/sealed_file.h"

namespace rnnsearch::train {
namespace {

constexpr const char* kFormat = "rnnsearch-checkpoint";
constexpr std::int64_t kVersion = 1;
constexpr const char* kPrecision = "precision";

/// visit(name, field) for every field: the file's /state and the JSON cannot forget one.
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
  visit("validations_without_gain", state.validations_without_gain);
  visit("validated_update", state.validated_update);
  visit("elapsed_seconds", state.elapsed_seconds);
  visit("skipped_updates", state.skipped_updates);
  visit("skipped_in_a_row", state.skipped_in_a_row);
  visit("world_size", state.world_size);
  visit("corpus_fingerprint", state.corpus_fingerprint);
}

struct FromFile {
  const storage::File& file;
  void operator()(const char* name, std::uint64_t& field) const { field = file.unsigned_attribute("/state", name); }
  void operator()(const char* name, double& field) const { field = file.double_attribute("/state", name); }
  void operator()(const char* name, bool& field) const { field = file.unsigned_attribute("/state", name) != 0; }
  void operator()(const char* name, std::string& field) const { field = file.text_attribute("/state", name); }
};

struct FromJson {
  const Json& json;
  void operator()(const char* name, std::uint64_t& field) const {
    field = static_cast<std::uint64_t>(json.at(name).integer());
  }
  void operator()(const char* name, double& field) const { field = json.at(name).number(); }
  void operator()(const char* name, bool& field) const { field = json.at(name).boolean(); }
  void operator()(const char* name, std::string& field) const { field = json.at(name).string(); }
};

std::string dataset(const std::string& group, const model::Parameter& parameter) {
  return "/" + group + "/" + parameter.name;
}

/// A block of the parameters' layout, one dataset a parameter.
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

void read_block(const storage::File& file, const std::string& group, const model::ParameterLayout& layout,
                std::span<float> block) {
  for (const auto& parameter : layout.parameters) {
    float* data = block.data() + parameter.offset;
    if (parameter.shape.size() == 1) {
      file.read_into<float>(dataset(group, parameter), std::span(data, parameter.count()));
    } else {
      file.read_into<float>(dataset(group, parameter),
                            MatrixView<float>(data, parameter.rows(), parameter.cols(), parameter.stride));
    }
  }
}

/// One field of all rows.
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
  rows.resize(values.size());
  for (std::size_t i = 0; i < values.size(); ++i) rows[i].*field = values[i];
}

/// visit(path, rows, field) for every column: reading cannot forget what was written.
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

storage::File open_checkpoint(const std::filesystem::path& path, const storage::Poll& poll = {}) {
  storage::File file = storage::open_sealed(path, "checkpoint", storage::SealCheck::kDigest, poll);
  storage::check_format(file, kFormat, kVersion);
  if (!file.has_attribute("/", "complete"))
    throw Error(text_of("checkpoint: ", path.string(), " was never finished; take the one before"));
  return file;
}

Config read_config(const storage::File& file) {
  Config config;
  for (const auto& name : file.attributes("/config")) config[name] = file.text_attribute("/config", name);
  return config;
}

}  // namespace

Json json_of(const TrainingState& state) {
  Json json;
  for_each_field(state, [&](const char* name, const auto& field) { json[name] = Json(field); });
  return json;
}

TrainingState training_state_of(const Json& json) {
  TrainingState state;
  for_each_field(state, FromJson{json});
  return state;
}

void save_checkpoint(const std::filesystem::path& path, const CheckpointSource& source) {
  storage::SealedWriter writer(path);
  storage::File& file = writer.file();
  storage::write_format(file, kFormat, kVersion);
  file.write_attribute("/", "update", source.state.update);
  Config config = config_of(source.options);
  config.merge(config_of(source.model.options()));
  config[kPrecision] = kernels::name_of(kernels::precision());
  for (const auto& [name, value] : config) file.write_attribute("/config", name, std::string_view(value));
  corpus::write_vocabulary(file, "source", source.source_vocabulary);
  corpus::write_vocabulary(file, "target", source.target_vocabulary);
  corpus::write_pipeline(file, source.pipeline);

  const auto& layout = source.model.layout();
  write_block(file, "parameters", layout, source.model.parameters());
  for (const auto& [name, values] : source.optimizer.accumulators())
    write_block(file, "optimizer/" + name, layout, values);
  file.write_attribute("/optimizer", "steps", source.optimizer.steps);
  for_each_field(source.state, [&](const char* name, const auto& field) {
    if constexpr (std::is_same_v<std::decay_t<decltype(field)>, bool>) {
      file.write_attribute("/state", name, std::uint64_t{field});
    } else {
      file.write_attribute("/state", name, field);
    }
  });
  write_history(file, source.history);
  file.write_attribute("/", "complete", 1);
  writer.publish();
}

TrainingState resume_checkpoint(const std::filesystem::path& path, const std::string& corpus_fingerprint,
                                const TrainOptions& options, model::Model<float>& model, Optimizer& optimizer,
                                History& history) {
  const storage::File file = open_checkpoint(path);
  TrainingState state;
  for_each_field(state, FromFile{file});
  if (state.corpus_fingerprint != corpus_fingerprint) {
    throw Error(text_of("checkpoint: ", path.string(), " was trained on another corpus (fingerprint ",
                        state.corpus_fingerprint, ", this one has ", corpus_fingerprint,
                        "); give its own corpus, or another run folder"));
  }
  const Config config = read_config(file);
  for (const auto& [name, value] : identity_of(model.options(), options)) {
    const auto found = config.find(name);
    if (found == config.end() || found->second != value) {
      throw Error(text_of("checkpoint: ", path.string(), " was trained with ", name, " = ",
                          found == config.end() ? "(unknown)" : found->second, ", now it is ", value,
                          "; give the same value, or another run folder"));
    }
  }
  const auto& layout = model.layout();
  read_block(file, "parameters", layout, model.parameters());
  for (const auto& [name, values] : optimizer.accumulators()) read_block(file, "optimizer/" + name, layout, values);
  optimizer.steps = file.unsigned_attribute("/optimizer", "steps");
  history = read_history(file);
  return state;
}

kernels::Precision precision_of(const std::filesystem::path& checkpoint) {
  const Config config = read_config(open_checkpoint(checkpoint));
  const auto found = config.find(kPrecision);
  if (found == config.end()) return kernels::Precision::kFloat32;
  if (found->second != "f32" && found->second != "bf16") {
    throw Error(text_of("checkpoint: ", checkpoint.string(), " was trained in precision '", found->second,
                        "', which this version does not know; take the version that wrote it"));
  }
  return kernels::precision_of(found->second);
}

LoadedModel load_model(const std::filesystem::path& checkpoint, const std::function<void()>& poll) {
  const storage::File file = open_checkpoint(checkpoint, poll);
  Config config = read_config(file);
  model::Model<float> model(model_options_of(config));
  read_block(file, "parameters", model.layout(), model.parameters());
  LoadedModel loaded{std::move(model),
                     corpus::read_vocabulary(file, "source"),
                     corpus::read_vocabulary(file, "target"),
                     corpus::read_pipeline(file),
                     std::move(config),
                     file.unsigned_attribute("/", "update")};
  const auto check_size = [&](const char* side, std::size_t words, std::size_t expected) {
    if (words == expected) return;
    throw Error(text_of("checkpoint: ", checkpoint.string(), " has ", words, " ", side,
                        " words, but its model expects ", expected));
  };
  check_size("source", loaded.source_vocabulary.size(), loaded.model.options().source_words);
  check_size("target", loaded.target_vocabulary.size(), loaded.model.options().target_words);
  return loaded;
}

}  // namespace rnnsearch::train
