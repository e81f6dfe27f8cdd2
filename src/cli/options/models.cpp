#include "cli/options/models.h"

#include "rnnsearch/base/error.h"
#include "rnnsearch/base/printable.h"
#include "rnnsearch/comm/meet.h"
#include "rnnsearch/train/shared_files.h"

namespace rnnsearch::cli {
namespace {

/// How the words differ: "its word 17 is 'x', not 'y'"; empty if they do not.
std::string difference(const corpus::Vocabulary& other, const corpus::Vocabulary& first) {
  if (other.size() != first.size()) return fmt::format("it holds {} words, not {}", other.size(), first.size());
  for (std::size_t i = 0; i < first.size(); ++i) {
    const std::string &word = other.words()[i], &expected = first.words()[i];
    if (word != expected) {
      return fmt::format("its word {} is '{}', not '{}'", i, printable(word), printable(expected));
    }
  }
  return "";
}

void check_same_text(const train::LoadedModel& other, const std::string& path, const train::LoadedModel& first,
                     const std::string& first_path) {
  const auto refuse = [&](const std::string& what) {
    throw comm::AgreedError(
        fmt::format("--model {} and --model {} cannot translate together: {}; train the models of an ensemble on one "
                    "corpus, or on corpora with the same vocabularies (prepare --vocabulary-of)",
                    path, first_path, what));
  };
  const std::string target = difference(other.target_vocabulary, first.target_vocabulary);
  if (!target.empty()) refuse(fmt::format("{} has another target vocabulary ({})", path, target));
  const std::string source = difference(other.source_vocabulary, first.source_vocabulary);
  if (!source.empty()) refuse(fmt::format("{} has another source vocabulary ({})", path, source));
  if (other.model.options().right_to_left() != first.model.options().right_to_left()) {
    throw comm::AgreedError(
        fmt::format("--model {} and --model {} cannot translate together: one predicts targets from left to right, the "
                    "other from right to left; let one translate, and the other one score its n-best list",
                    path, first_path));
  }
  if (other.pipeline != first.pipeline) {
    refuse(fmt::format(
        "{} splits text into words differently (languages, tokenizer, normalization, case, copy patterns or subwords)",
        path));
  }
}

std::vector<double> weights_of(const ModelChoice& choice) {
  std::vector<double> weights;
  for (const std::string& text : choice.model_weight) {
    if (!value::read(text, weights.emplace_back()) || !(weights.back() > 0))
      throw UsageError("--model-weight is '{}' but must be a number above 0", text);
  }
  if (weights.empty()) weights.assign(choice.model.size(), 1.0);
  return weights;
}

}  // namespace

void add_models(Options& options, ModelChoice& choice) {
  options.add("model", choice.model, kInputRun, kRequired,
              "run directory (its best checkpoint, otherwise its latest) or checkpoint file; several models form an "
              "ensemble and must have the same vocabularies");
  options.add(
      "ensemble-of", choice.ensemble_mean,
      "how an ensemble combines its models at each word: by averaging their probabilities, or the logarithms of these");
  options.add("model-weight", choice.model_weight, Placeholder{"X"},
              "weight of a model in the average, one for each --model in their order [equal weights]");
}

void check_models(const Options& options, const ModelChoice& choice) {
  const auto weights = weights_of(choice);
  options.refuse(choice.model.size() == 1, {"ensemble-of", "model-weight"},
                 "--{0} is for an ensemble: give --model more than once");
  if (weights.size() != choice.model.size()) {
    throw UsageError(
        "--model is given {} times, but --model-weight {} times; give one weight for each model, in their order",
        choice.model.size(), weights.size());
  }
}

OpenModels::OpenModels(const ModelChoice& choice, const comm::Communicator& communicator)
    : weights_(weights_of(choice)), mean_(choice.ensemble_mean) {
  for (const std::string& path : choice.model) {
    loaded_.push_back(train::open_model(path, communicator));
    loaded_.back().model.fix_parameters();
    check_same_text(loaded_.back(), path, loaded_.front(), choice.model.front());
  }
}

void OpenModels::copy(const text::CopyPatterns& patterns) {
  for (train::LoadedModel& loaded : loaded_) {
    if (!loaded.pipeline.copies)
      throw comm::AgreedError(
          "--copy-pattern is for a model that was trained with placeholders, and the corpus of this one has none; "
          "leave the option out, or prepare the corpus with --copy-pattern and train again");
    loaded.pipeline.copies = patterns;
  }
}

std::string OpenModels::digests() const {
  std::string all;
  for (const train::LoadedModel& loaded : loaded_) all += (all.empty() ? "" : " ") + loaded.digest;
  return all;
}

decode::Translator OpenModels::translator() {
  std::vector<model::Model*> models;
  for (train::LoadedModel& loaded : loaded_) models.push_back(&loaded.model);
  const train::LoadedModel& first = loaded_.front();
  return {{std::move(models), weights_, mean_}, first.source_vocabulary, first.target_vocabulary, first.pipeline};
}

}  // namespace rnnsearch::cli
