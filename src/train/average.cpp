#include "rnnsearch/train/average.h"

#include <algorithm>
#include <cmath>
#include <functional>
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
    throw Error(text_of("", path.string(), " is itself the mean of checkpoints (", file.text_attribute("/", kAverageOf),
                        "); give those that it is the mean of"));
  }
  const std::uint64_t update = file.unsigned_attribute("/", "update");
  Config config = completed(read_config(file));
  return {path, std::move(file), update, std::move(config)};
}

[[noreturn]] void refuse(const Input& one, const Input& other, const std::string& difference) {
  throw Error(text_of("", one.path.string(), " and ", other.path.string(), " are not of one training: ", difference,
                      "; give checkpoints of one run"));
}

std::string value_in(const Config& config, const std::string& name) {
  const auto found = config.find(name);
  return found == config.end() ? "(unknown)" : found->second;
}

void check_same_training(const Input& one, const Input& other) {
  for (const auto& [name, _] : identity_of(model::ModelOptions(), TrainOptions())) {
    const std::string first = value_in(one.config, name), second = value_in(other.config, name);
    if (first != second)
      refuse(one, other, text_of(name, " is ", first, " in the first and ", second, " in the other"));
  }
  const auto fingerprint = [](const Input& input) { return input.file.text_attribute("/state", "corpus_fingerprint"); };
  if (fingerprint(one) != fingerprint(other)) {
    refuse(one, other,
           text_of("the first was trained on the corpus ", fingerprint(one), ", the other on ", fingerprint(other)));
  }
  for (const char* side : {"source", "target"}) {
    if (one.file.read_texts(text_of("/vocabulary/", side)) != other.file.read_texts(text_of("/vocabulary/", side))) {
      refuse(one, other, text_of("their ", side, " vocabularies differ"));
    }
  }
  if (corpus::read_pipeline(one.file) != corpus::read_pipeline(other.file)) {
    refuse(one, other, "they treat text differently (tokenizer, normalization, lowercase, subwords, languages)");
  }
}

/// Paths of all datasets below a group.
std::vector<std::string> datasets_of(const storage::File& file, const std::string& group) {
  std::vector<std::string> all;
  for (const std::string& name : file.children(group)) {
    const std::string path = group + "/" + name;
    if (!file.is_group(path)) {
      all.push_back(path);
      continue;
    }
    for (auto& inner : datasets_of(file, path)) all.push_back(std::move(inner));
  }
  return all;
}

std::vector<std::string> parameters_of(const storage::File& file) {
  auto all = datasets_of(file, "/parameters");
  std::sort(all.begin(), all.end());
  return all;
}

/// `datasets`: those of the first.
void check_same_layout(const Input& one, const Input& other, const std::vector<std::string>& datasets) {
  const auto theirs = parameters_of(other.file);
  for (const auto& [from, in] : {std::pair(&datasets, &theirs), std::pair(&theirs, &datasets)}) {
    for (const std::string& dataset : *from) {
      if (std::binary_search(in->begin(), in->end(), dataset)) continue;
      refuse(one, other, text_of("only one of them holds ", dataset));
    }
  }
  for (const std::string& dataset : datasets) {
    if (one.file.shape(dataset) == other.file.shape(dataset)) continue;
    refuse(one, other, text_of("the shapes of ", dataset, " differ"));
  }
}

/// call(values) with a view of `values` in the dataset's shape.
template <class Call>
void with_shape(const std::vector<std::uint64_t>& shape, std::vector<float>& values, const Call& call) {
  if (shape.size() == 1) {
    call(std::span<float>(values));
  } else {
    call(MatrixView<float>(values.data(), shape[0], shape[1]));
  }
}

/// Returns how many numbers it has.
std::uint64_t write_mean(storage::File& output, const std::string& dataset, const std::vector<Input>& inputs) {
  const auto shape = inputs.front().file.shape(dataset);
  std::size_t count = 1;
  for (const std::uint64_t extent : shape) count *= extent;
  std::vector<double> sums(count);
  std::vector<float> values(count);
  for (const Input& input : inputs) {
    with_shape(shape, values, [&](auto view) { input.file.read_into<float>(dataset, view); });
    for (std::size_t i = 0; i < count; ++i) sums[i] += static_cast<double>(values[i]);
  }
  if (std::any_of(sums.begin(), sums.end(), [](double sum) { return !std::isfinite(sum); })) {
    throw Error(text_of("the mean of ", dataset,
                        " is NaN or infinite, because the training diverged; give checkpoints "
                        "of earlier updates"));
  }
  const auto n = static_cast<double>(inputs.size());
  std::transform(sums.begin(), sums.end(), values.begin(), [n](double sum) { return static_cast<float>(sum / n); });
  if (shape.size() == 1) {
    output.write<float>(dataset, std::span<const float>(values));
  } else {
    output.write<float>(dataset, ConstMatrixView<float>(values.data(), shape[0], shape[1]));
  }
  return count;
}

}  // namespace

Averaged average_checkpoints(std::span<const fs::path> checkpoints, const fs::path& output, bool overwrite) {
  if (checkpoints.size() < 2) {
    throw Error(text_of("a mean needs at least two checkpoints and there is ", checkpoints.size(), "; name more"));
  }
  std::error_code ignored;
  if (fs::exists(output, ignored)) {
    for (const fs::path& path : checkpoints) {
      if (fs::equivalent(path, output, ignored)) {
        throw Error(text_of("the output ", output.string(), " is one of the checkpoints; choose another name"));
      }
    }
    if (!overwrite) {
      throw Error(text_of("", output.string(), " exists; choose another name, or replace it with --overwrite"));
    }
  }
  std::vector<Input> inputs;
  for (const fs::path& path : checkpoints) inputs.push_back(open_input(path));
  std::stable_sort(inputs.begin(), inputs.end(), [](const Input& a, const Input& b) { return a.update > b.update; });
  for (std::size_t i = 1; i < inputs.size(); ++i) check_same_training(inputs.front(), inputs[i]);
  for (std::size_t i = 1; i < inputs.size(); ++i) {
    if (inputs[i].update != inputs[i - 1].update) continue;
    throw Error(text_of("", inputs[i - 1].path.string(), " and ", inputs[i].path.string(), " are both of update ",
                        inputs[i].update, ", and would count twice; give each checkpoint once"));
  }
  const Input& newest = inputs.front();
  const auto datasets = parameters_of(newest.file);
  for (std::size_t i = 1; i < inputs.size(); ++i) check_same_layout(newest, inputs[i], datasets);

  Averaged averaged;
  averaged.update = newest.update;
  std::string names;
  for (const Input& input : inputs) {
    averaged.of.push_back(input.path.filename().string());
    names += text_of(names.empty() ? "" : ", ", averaged.of.back(), " (digest ",
                     storage::sealed_digest(input.path, "checkpoint"), ")");
  }
  storage::SealedWriter writer(output);
  storage::File& file = writer.file();
  const corpus::TextPipeline pipeline = corpus::read_pipeline(newest.file);
  begin_checkpoint(file, pipeline, false, newest.update, newest.config);
  file.write_attribute("/", kAverageOf, std::string_view(names));
  for (const char* side : {"source", "target"}) {
    corpus::write_vocabulary(file, side, corpus::read_vocabulary(newest.file, side));
  }
  corpus::write_pipeline(file, pipeline);
  file.write_attribute("/state", "corpus_fingerprint",
                       std::string_view(newest.file.text_attribute("/state", "corpus_fingerprint")));
  for (const std::string& dataset : datasets) averaged.parameters += write_mean(file, dataset, inputs);
  file.write_attribute("/", "complete", 1);
  writer.publish();
  return averaged;
}

}  // namespace rnnsearch::train
