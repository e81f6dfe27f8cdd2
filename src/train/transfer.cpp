#include "rnnsearch/train/trainer.h"

#include <algorithm>
#include <array>
#include <string_view>
#include <vector>

#include "rnnsearch/base/error.h"
#include "rnnsearch/corpus/text_pipeline.h"
#include "train/checkpoint_file.h"

namespace rnnsearch::train {
namespace {

/// What may differ between the two models: sizes of the vocabularies, and options that say nothing of the parameters
/// that a training ends with.
constexpr std::array<std::string_view, 9> kFree{"source-words",        "target-words",        "dropout",
                                                "dropout-kind",        "attention-dropout",   "initialization",
                                                "source-word-dropout", "target-word-dropout", "initial-deviation"};

void check_same_model(const std::filesystem::path& checkpoint, const Config& then, const Config& now) {
  for (const auto& [name, value] : now) {
    if (std::find(kFree.begin(), kFree.end(), name) != kFree.end()) continue;
    const std::string former = value_in(then, name);
    if (former == value) continue;
    throw Error(
        "initial-model: {0} has {1} = {2}, and this training has {1} = {3}; give the same value, or take all settings "
        "of that run with --config RUN/config.ini",
        checkpoint, name, former, value);
  }
}

/// For each word of `now` its id in `then`, if that vocabulary has it.
using Ids = std::vector<std::optional<WordId>>;

Ids ids_in(const corpus::Vocabulary& then, const corpus::Vocabulary& now) {
  Ids ids(now.size());
  for (std::size_t id = 0; id < ids.size(); ++id) {
    if (id < corpus::kSpecialSymbols.size()) {  // text never has them, so that Vocabulary::id does not find them
      ids[id] = static_cast<WordId>(id);
    } else if (const WordId found = then.id(now.word(static_cast<WordId>(id))); found != kUnknown) {
      ids[id] = found;
    }
  }
  return ids;
}

Match match_of(const Ids& ids, const corpus::Vocabulary& then) {
  const auto found = std::count_if(ids.begin(), ids.end(), [](const auto& id) { return id.has_value(); });
  return {ids.size(), static_cast<std::size_t>(found), then.size()};
}

std::string differences(const corpus::TextPipeline& then, const corpus::TextPipeline& now) {
  std::string text;
  const auto compare = [&](const char* name, const std::string& former, const std::string& present) {
    if (former != present)
      text += fmt::format("{}{} {} then and {} now", text.empty() ? "" : ", ", name, former, present);
  };
  const auto yes_or_no = [](bool value) { return value ? "yes" : "no"; };
  compare("tokenizer", then.tokenizer, now.tokenizer);
  compare("normalization", then.normalization, now.normalization);
  compare("lowercase", yes_or_no(then.lowercase), yes_or_no(now.lowercase));
  compare("copy patterns", corpus::copy_patterns_of(then), corpus::copy_patterns_of(now));
  compare("subwords", corpus::subwords_of(then), corpus::subwords_of(now));
  return text;
}

/// The dimension of a parameter that counts the words of a side, which is what differs when that side has one word
/// more.
std::optional<std::size_t> dimension_of_words(const model::Parameter& parameter, const model::ParameterLayout& longer) {
  const auto& shape = longer.find(parameter.name).shape;
  for (std::size_t i = 0; i < shape.size(); ++i) {
    if (shape[i] != parameter.shape[i]) return i;
  }
  return {};
}

/// Where the rows and columns of each parameter come from.
class Copier {
 public:
  Copier(const model::ModelOptions& now, const model::ModelOptions& then, Ids source, Ids target)
      : layout_(model::parameter_layout_of(now)),
        former_(model::parameter_layout_of(then)),
        longer_source_(longer(now, 1, now.ties_sides() ? 1 : 0)),
        longer_target_(longer(now, now.ties_sides() ? 1 : 0, 1)),
        source_(std::move(source)),
        target_(std::move(target)) {}

  std::size_t former_size() const { return former_.size; }
  const model::ParameterLayout& former() const { return former_; }

  /// Blocks in the layouts of the two models.
  void copy(std::span<const float> from, std::span<float> to) const {
    for (const auto& parameter : layout_.parameters) {
      const auto& other = former_.find(parameter.name);
      const Ids* rows = nullptr;
      const Ids* columns = nullptr;
      const auto copy_entries = [&](std::optional<std::size_t> dimension, const Ids& ids) {
        if (dimension) (*dimension + 1 == parameter.shape.size() ? columns : rows) = &ids;
      };
      copy_entries(dimension_of_words(parameter, longer_source_), source_);
      copy_entries(dimension_of_words(parameter, longer_target_), target_);
      for (std::size_t i = 0; i < parameter.rows(); ++i) {
        const auto row = rows ? (*rows)[i] : std::optional(static_cast<WordId>(i));
        if (!row) continue;
        const float* const source_row = from.data() + other.offset + *row * other.stride;
        float* const row_of_parameter = to.data() + parameter.offset + i * parameter.stride;
        for (std::size_t j = 0; j < parameter.cols(); ++j) {
          const auto column = columns ? (*columns)[j] : std::optional(static_cast<WordId>(j));
          if (column) row_of_parameter[j] = source_row[*column];
        }
      }
    }
  }

 private:
  static model::ParameterLayout longer(model::ModelOptions options, std::size_t source, std::size_t target) {
    options.source_words += source;
    options.target_words += target;
    return model::parameter_layout_of(options);
  }

  model::ParameterLayout layout_, former_, longer_source_, longer_target_;
  Ids source_, target_;
};

Transferred transfer_from(const std::filesystem::path& checkpoint, const corpus::Corpus& corpus,
                          const TrainOptions& options, model::Model& model, Optimizer* optimizer) {
  const LoadedModel former = load_model(checkpoint);
  const Config& then = former.config;
  check_same_model(checkpoint, then, config_of(model.options()));
  Ids source = ids_in(former.source_vocabulary, corpus.source_vocabulary());
  Ids target = ids_in(former.target_vocabulary, corpus.target_vocabulary());
  const Transferred transferred{checkpoint, former.update, match_of(source, former.source_vocabulary),
                                match_of(target, former.target_vocabulary),
                                differences(former.pipeline, corpus.pipeline())};
  const Copier copier(model.options(), former.model.options(), std::move(source), std::move(target));
  copier.copy(former.model.parameters(), model.parameters());
  if (!optimizer) return transferred;

  const storage::File file = open_checkpoint(checkpoint);
  const Config now = config_of(options);
  for (const char* name : {"optimizer", "momentum"}) {
    const std::string trained_with = value_in(then, name);
    if (trained_with == now.at(name)) continue;
    throw Error(
        "initial-optimizer: {} was trained with {} = {}, and this training has {}; give the same value, or leave out "
        "--initial-optimizer",
        checkpoint, name, trained_with, now.at(name));
  }
  if (file.has_attribute("/", kAverageOf)) {
    throw Error(
        "initial-optimizer: {} is the mean of {} and holds no optimizer state; give one of those, or leave out "
        "--initial-optimizer",
        checkpoint, file.text_attribute("/", kAverageOf));
  }
  std::vector<float> values(copier.former_size());
  for (const auto& [name, accumulator] : optimizer->accumulators()) {
    read_accumulator(file, name, copier.former(), values);
    copier.copy(values, accumulator);
  }
  optimizer->steps = file.attribute<std::uint64_t>("/optimizer", "steps");
  return transferred;
}

}  // namespace

Transferred transfer(const std::filesystem::path& initial, const corpus::Corpus& corpus, const TrainOptions& options,
                     model::Model& model, Optimizer* optimizer) {
  return read_newest([&] { return checkpoint_of(initial); },
                     [&](const std::filesystem::path& checkpoint) {
                       return transfer_from(checkpoint, corpus, options, model, optimizer);
                     });
}

}  // namespace rnnsearch::train
