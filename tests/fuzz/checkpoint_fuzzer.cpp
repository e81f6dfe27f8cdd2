// A checkpoint whose content is anything: it is refused, or gives a model that computes and a state to go on from.
#include "rnnsearch/train/checkpoint.h"

#include <algorithm>
#include <cmath>

#include "rnnsearch/corpus/prepare.h"
#include "rnnsearch/text/unicode.h"
#include "tests/fuzz/hostile_file.h"

namespace rnnsearch::fuzz {
namespace {

struct Training {
  train::TrainOptions options;
  model::ModelOptions model_options;
  std::string fingerprint = "0123";

  Training() {
    options.optimizer = train::OptimizerKind::kAdam;
    options.average_decay = 0.5;
    model_options.source_words = model_options.target_words = 5;
    model_options.embedding = model_options.state = model_options.alignment = model_options.maxout = 2;
  }
};

const Training& training() {
  static const Training the_one;
  return the_one;
}

HostileFile good_checkpoint() {
  model::Model model(training().model_options);
  model.initialise(1);
  const auto optimizer = train::make_optimizer(training().options, model.parameters().size());
  train::TrainingState state;
  state.corpus_fingerprint = training().fingerprint;
  state.update = 2;
  train::History history;
  history.updates = {{1, 2.5, 1, 100}, {2, 2.25, 0.5, 101}};
  history.validations = {{2, 2.3, std::nan("")}};
  const corpus::Vocabulary vocabulary({"<unk>", "<s>", "</s>", "a", "b"});
  const auto path = scratch("good.h5");
  train::save_checkpoint(
      path, {model, *optimizer, state, history, vocabulary, vocabulary, {}, training().options, model.parameters()});
  return HostileFile(path);
}

bool finite(std::span<const float> values) {
  return std::all_of(values.begin(), values.end(), [](float value) { return std::isfinite(value); });
}

void load(const std::filesystem::path& path) {
  train::LoadedModel loaded = train::load_model(path);
  require(finite(loaded.model.parameters()), "a parameter that is not finite");
  require(loaded.source_vocabulary.size() == loaded.model.options().source_words &&
              loaded.target_vocabulary.size() == loaded.model.options().target_words,
          "vocabularies of other sizes than the model's");
  for (const auto* vocabulary : {&loaded.source_vocabulary, &loaded.target_vocabulary}) {
    for (const std::string& word : vocabulary->words())
      require(!text::first_invalid_utf8(word) && word.find('\n') == word.npos, "a word that is none");
  }
  loaded.pipeline.to_words("a b", corpus::Side::kSource);
  Sentences sentences;
  const auto last = static_cast<WordId>(std::min(loaded.source_vocabulary.size(), loaded.target_vocabulary.size()) - 1);
  sentences.add(std::vector<WordId>{last, 0});
  require(loaded.model.score(sentences, sentences).size() == 1, "a model that does not compute");
}

void resume(const std::filesystem::path& path) {
  model::Model model(training().model_options);
  const auto optimizer = train::make_optimizer(training().options, model.parameters().size());
  train::History history;
  std::vector<float> average(model.parameters().size());
  const auto state =
      train::resume_checkpoint(path, training().fingerprint, training().options, model, *optimizer, history, average);
  require(finite(model.parameters()) && finite(average), "a parameter that is not finite");
  for (const auto& accumulator : optimizer->accumulators()) {
    // A square may have become infinite in the training itself.
    require(std::none_of(accumulator.values.begin(), accumulator.values.end(), [](float v) { return std::isnan(v); }),
            "an accumulator that is not a number");
  }
  for (const double value : {state.plateau.factor, state.plateau.best_loss, state.best_score, state.patience.best_score,
                             state.elapsed_seconds, state.interval.negative_log_likelihood, state.interval.words}) {
    require(std::isfinite(value), "a state that is not a number");
  }
  train::packed(state);
}

}  // namespace
}  // namespace rnnsearch::fuzz

void rnnsearch::fuzz::run(Input input) {
  static const HostileFile good = good_checkpoint();
  const auto path = scratch("checkpoint.h5");
  const auto kind = good.write(path, input);
  const bool loaded = accepted([&] { load(path); });
  const bool resumed = accepted([&] { resume(path); });
  accepted([&] { train::arithmetic_of(path); });
  require((loaded && resumed) || kind != HostileFile::Kind::kGood, "a good checkpoint was refused");
  require((!loaded && !resumed) || kind != HostileFile::Kind::kBrokenSeal, "read against its seal's digest");
}
