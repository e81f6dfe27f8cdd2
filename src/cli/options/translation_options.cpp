#include "cli/options/translation_options.h"

#include "cli/options/common.h"
#include "rnnsearch/base/error.h"
#include "rnnsearch/base/packed.h"
#include "rnnsearch/base/printable.h"
#include "rnnsearch/base/signals.h"
#include "rnnsearch/comm/meet.h"
#include "rnnsearch/corpus/text_lines.h"
#include "rnnsearch/decode/constraints.h"
#include "rnnsearch/decode/shortlist.h"
#include "rnnsearch/train/run_directory.h"

namespace rnnsearch::cli {
namespace {

/// How the words differ: "its word 17 is 'x', not 'y'"; empty if they do not.
std::string difference(const corpus::Vocabulary& other, const corpus::Vocabulary& first) {
  if (other.size() != first.size()) return fmt::format("it holds {} words, not {}", other.size(), first.size());
  for (std::size_t i = 0; i < first.size(); ++i) {
    const std::string &word = other.words()[i], &expected = first.words()[i];
    if (word != expected) return fmt::format("its word {} is '{}', not '{}'", i, printable(word), printable(expected));
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
  if (other.model.options().right_to_left() != first.model.options().right_to_left())
    throw comm::AgreedError(
        fmt::format("--model {} and --model {} cannot translate together: one predicts targets from left to right, the "
                    "other from right to left; let one translate, and the other one score its n-best list",
                    path, first_path));
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
  if (weights.size() != choice.model.size())
    throw UsageError(
        "--model is given {} times, but --model-weight {} times; give one weight for each model, in their order",
        choice.model.size(), weights.size());
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

void add_translation_options(Options& options, decode::TranslationOptions& translation) {
  options.group("Search");
  decode::SearchOptions& search = translation.search;
  options.add("beam", search.beam, kBasic, within(1, 1000),
              "beam width: the number of hypotheses kept at each step; 1 is greedy search, and a wider beam takes "
              "longer. The paper does not state its beam width");
  options.add(
      "retry-below", search.retry_below, within(0, 1000),
      "if no hypothesis ends within the maximum length, search again: first with unknown words allowed (after "
      "--no-unknown), then with twice the beam while the beam is below this number; 500 is the limit in the paper's "
      "released code. If nothing ends in any search, the translation is cut off. 0: never search again");
  options.add("normalize", search.normalize, kBasic,
              "rank hypotheses by log-probability divided by length, instead of by log-probability; not together with "
              "--length-penalty");
  options.add("length-penalty", search.length_penalty, within(0, 10),
              "rank hypotheses by log-probability divided by ((5 + length) / 6)^X (Wu et al. 2016, equation 14): 0 "
              "prefers short translations, 1 comes close to --normalize. Lengths count </s>");
  options.add("coverage-penalty", search.coverage_penalty, within(0, 100),
              "add X times the sum over source words of log(min(attention, 1)), where attention is the sum of the "
              "word's weights (Wu et al. 2016, equation 14), as a penalty for source words left untranslated; needs a "
              "model with attention");
  options.add("word-bonus", search.word_bonus, within(-100, 100),
              "add X for each word, </s> included, when hypotheses are ranked; a positive number prefers long "
              "translations (Murray and Chiang 2018)");
  options.add("no-repeat-ngram", search.no_repeat_ngram, within(0, 1000),
              "write no sequence of N words (of the model: subwords, if it has them) twice in a translation, against "
              "repetitions (Paulus et al. 2018); 0: no limit");
  options.add("repetition-penalty", search.repetition_penalty, within(1, 100),
              "multiply the log-probability of a word that the translation has already by X (Keskar et al. 2019, "
              "section 4.1); scores are those of the products. 1: no penalty");
  options.add("no-unknown", search.no_unknown,
              "give unknown words probability zero, so that no translation has one, unless --retry-below needs them");
  options.add("replace-unknown", translation.replace_unknown,
              "write the source word with the largest attention weight in place of \u2047, the unknown word");
  options.add("minimum-length-ratio", search.minimum_length_ratio, within(0, 100),
              "shortest translation, as a multiple of the source length, which counts </s>; 0 for a model that has "
              "learned empty translations (prepare --keep-empty-targets)");
  options.add("maximum-length-ratio", search.maximum_length_ratio, within(0.01, 100),
              "longest translation, as a multiple of the source length, which counts </s>");
  options.add("minimum-length", search.minimum_length, within(0, 1e6),
              "shortest translation in words, in addition to the ratio. Where the limits of a sentence contradict each "
              "other, the maximum wins: its translation has at most one word fewer, and </s>");
  options.add("maximum-length", search.maximum_length, within(1, 1e6),
              "longest translation in words, counting </s>, in addition to the ratio");
  options.add("batch-sentences", search.batch_sentences, within(1, 100000),
              "number of sentences that a rank searches together, of which up to twice as many are held encoded; "
              "affects memory and speed, not the result");
}

void add_maximum_source_length(Options& options, decode::TranslationOptions& translation) {
  options.add("maximum-source-length", translation.maximum_source_length, within(0, 1e6),
              "split a line of more words than this at ends of sentences, translate the parts separately and join the "
              "translations, because the time of a search grows with the square of the length; 0: never split");
}

std::string sentence_of_parts(std::size_t lines, const decode::TranslationOptions& translation) {
  if (lines == 0) return "";
  return fmt::format(
      "{}{} more words than --maximum-source-length, {}, and {} translated in parts, split where sentences end",
      counted(lines, "line"), lines == 1 ? " has" : " have", translation.maximum_source_length,
      lines == 1 ? "was" : "were");
}

void check_translation_options(const Options& options, const decode::TranslationOptions& translation) {
  const decode::SearchOptions& search = translation.search;
  if (search.normalize && options.given("length-penalty"))
    throw UsageError(
        "--normalize and --length-penalty both divide log-probabilities by a function of the length; give one of the "
        "two");
  if (search.minimum_length_ratio >= search.maximum_length_ratio)
    throw UsageError(
        "--maximum-length-ratio is {:g} but --minimum-length-ratio is {:g}: no translation can end; let the maximum be "
        "larger",
        search.maximum_length_ratio, search.minimum_length_ratio);
  if (search.maximum_length && *search.maximum_length <= search.minimum_length)
    throw UsageError(
        "--maximum-length is {} but --minimum-length is {}: no translation can end, because </s> is one of the words "
        "of the maximum",
        *search.maximum_length, search.minimum_length);
}

text::CopyPatterns copy_patterns_from(const std::vector<std::string>& patterns) try {
  return text::CopyPatterns(patterns);
} catch (const Error& error) {
  throw UsageError("--copy-pattern: {}", error.what());
}

}  // namespace rnnsearch::cli
