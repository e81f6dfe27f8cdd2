#include "rnnsearch/train/checkpoint.h"

#include <algorithm>
#include <cmath>
#include <utility>

#include "rnnsearch/base/error.h"
#include "rnnsearch/corpus/format.h"
#include "rnnsearch/storage/sealed_file.h"
#include "train/checkpoint_file.h"

namespace rnnsearch::train {
namespace {

namespace fs = std::filesystem;

struct Input {
  fs::path path;
  storage::File file;
  std::uint64_t update;
  Config config;
};

Input open_input(const fs::path& path) {
  storage::File file = open_checkpoint(path);
  if (file.has_attribute("/", kAverageOf)) {
    throw Error("{} is itself the mean of checkpoints ({}); give those checkpoints instead", path,
                file.text_attribute("/", kAverageOf));
  }
  const std::uint64_t update = file.attribute<std::uint64_t>("/", "update");
  Config config = read_config(file);
  return {path, std::move(file), update, std::move(config)};
}

[[noreturn]] void refuse(const Input& one, const Input& other, const std::string& difference) {
  throw Error("{} and {} are not from the same training: {}; give checkpoints of one run", one.path, other.path,
              difference);
}

void check_same_training(const Input& one, const Input& other) {
  for (const auto& [name, _] : identity_of(model::ModelOptions(), TrainOptions())) {  // the names of all fixed options
    const std::string first = value_in(one.config, name), second = value_in(other.config, name);
    if (first != second)
      refuse(one, other, fmt::format("{} is {} in the first and {} in the second", name, first, second));
  }
  const auto fingerprint = [](const Input& input) { return input.file.text_attribute("/state", "corpus_fingerprint"); };
  if (fingerprint(one) != fingerprint(other)) {
    refuse(one, other,
           fmt::format(
               "the first was trained on the corpus with fingerprint {}, the second on the one with fingerprint {}",
               fingerprint(one), fingerprint(other)));
  }
  for (const char* side : {"source", "target"}) {
    if (one.file.read_texts(fmt::format("/vocabulary/{}", side)) !=
        other.file.read_texts(fmt::format("/vocabulary/{}", side))) {
      refuse(one, other, fmt::format("their {} vocabularies differ", side));
    }
  }
  if (corpus::read_pipeline(one.file) != corpus::read_pipeline(other.file)) {
    refuse(one, other, "their text pipelines differ (tokenizer, normalization, lowercase, subwords, languages)");
  }
}

/// Writes the mean of one parameter.
void write_mean(storage::File& output, const model::Parameter& parameter, const std::vector<Input>& inputs) {
  const std::string dataset = "/parameters/" + parameter.name;
  std::vector<double> sums(parameter.count());
  std::vector<float> values(parameter.count());
  const bool is_list = parameter.shape.size() == 1;
  for (const Input& input : inputs) {
    if (is_list) {
      input.file.read_into<float>(dataset, std::span(values));
    } else {
      input.file.read_into<float>(dataset, MatrixView<float>(values.data(), parameter.rows(), parameter.cols()));
    }
    for (std::size_t i = 0; i < values.size(); ++i) sums[i] += static_cast<double>(values[i]);
  }
  if (std::any_of(sums.begin(), sums.end(), [](double sum) { return !std::isfinite(sum); })) {
    throw Error("the mean of {} is NaN or infinite, because the training diverged; give checkpoints of earlier updates",
                dataset);
  }
  const auto n = static_cast<double>(inputs.size());
  std::transform(sums.begin(), sums.end(), values.begin(), [n](double sum) { return static_cast<float>(sum / n); });
  if (is_list) {
    output.write<float>(dataset, std::span<const float>(values));
  } else {
    output.write<float>(dataset, ConstMatrixView<float>(values.data(), parameter.rows(), parameter.cols()));
  }
}

}  // namespace

Averaged average_checkpoints(std::span<const fs::path> checkpoints, const fs::path& output, bool overwrite,
                             bool successive) {
  if (checkpoints.size() < 2) {
    throw UsageError("averaging needs at least two checkpoints, but the number given is {}; name more",
                     checkpoints.size());
  }
  std::error_code ignored;
  if (fs::exists(output, ignored)) {
    for (const fs::path& path : checkpoints) {
      if (fs::equivalent(path, output, ignored))
        throw Error("the output {} is one of the checkpoints; choose another name", output);
    }
    if (!overwrite) throw Error("{} exists; choose another name, or replace it with --overwrite", output);
  }
  std::vector<Input> inputs;
  for (const fs::path& path : checkpoints) inputs.push_back(open_input(path));
  std::stable_sort(inputs.begin(), inputs.end(), [](const Input& a, const Input& b) { return a.update > b.update; });
  for (std::size_t i = 1; i < inputs.size(); ++i) check_same_training(inputs.front(), inputs[i]);
  for (std::size_t i = 1; i < inputs.size(); ++i) {
    if (inputs[i].update != inputs[i - 1].update) continue;
    throw Error("{} and {} are both from update {} and would count twice; give each checkpoint once",
                inputs[i - 1].path, inputs[i].path, inputs[i].update);
  }
  for (std::size_t i = 1; successive && i < inputs.size(); ++i) {
    const std::uint64_t before = inputs[i - 1].file.attribute<std::uint64_t>("/state", "former_checkpoint");
    if (before == inputs[i].update) continue;
    throw Error(
        "the checkpoint before {} was of update {} and is gone: {} is older and was kept as the best; average {}{}, or "
        "train with --keep-checkpoints {}",
        inputs[i - 1].path, before, inputs[i].path.filename(), i,
        i < 2 ? " or name checkpoints with --checkpoint" : " or fewer", inputs.size());
  }
  const Input& newest = inputs.front();
  for (const Input& input : inputs) check_parameters(input.file, "parameters", input.config);

  Averaged averaged;
  averaged.update = newest.update;
  std::string names;
  for (const Input& input : inputs) {
    averaged.checkpoints.push_back(input.path.filename().string());
    names += fmt::format("{}{} (digest {})", names.empty() ? "" : ", ", averaged.checkpoints.back(),
                         storage::sealed_digest(input.path, "checkpoint"));
  }
  storage::SealedWriter writer(output);
  storage::File& file = writer.file();
  begin_checkpoint(file, newest.update, newest.config);
  file.write_attribute("/", kAverageOf, std::string_view(names));
  for (const char* side : {"source", "target"}) {
    corpus::write_vocabulary(file, side, corpus::read_vocabulary(newest.file, side));
  }
  corpus::write_pipeline(file, corpus::read_pipeline(newest.file));
  file.write_attribute("/state", "corpus_fingerprint",
                       std::string_view(newest.file.text_attribute("/state", "corpus_fingerprint")));
  for (const model::Parameter& parameter : model::parameter_layout_of(model_options_of(newest.config)).parameters) {
    write_mean(file, parameter, inputs);
    averaged.parameters += parameter.count();
  }
  file.write_attribute("/", "complete", 1);
  writer.publish();
  return averaged;
}

}  // namespace rnnsearch::train
