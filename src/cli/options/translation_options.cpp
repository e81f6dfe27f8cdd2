#include "cli/options/translation_options.h"

#include "rnnsearch/base/error.h"
#include "rnnsearch/base/number_text.h"

namespace rnnsearch::cli {

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
              "shortest translation, as a multiple of the source length; 0 for a model that has learned empty "
              "translations (prepare --keep-empty-targets)");
  options.add("maximum-length-ratio", search.maximum_length_ratio, within(0.01, 100),
              "longest translation, as a multiple of the source length");
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

void add_sampling_options(Options& options, SamplingOptions& sampling) {
  options.group("Sampling");
  options.add("sample", sampling.sample,
              "draw each word at random from the model's distribution instead of searching, as for back-translation "
              "(Edunov et al. 2018); --n-best N draws N independent translations. The result does not depend on the "
              "number of threads or ranks or the batch size");
  options.add("temperature", sampling.sampling.temperature, within(0.01, 100),
              "draw from softmax(score / X): below 1 favours probable words, above 1 improbable ones");
  options.add("top-k", sampling.sampling.top_k, within(0, 1e9),
              "draw only from the N most probable words (Fan et al. 2018); 0: from all");
  options.add("sampling-seed", sampling.sampling.seed, "seed of the random numbers");
}

void take_sampling_options(const Options& options, const SamplingOptions& sampling, decode::SearchOptions& search) {
  for (const char* option : {"temperature", "top-k", "sampling-seed"}) {
    if (!sampling.sample && options.given(option)) throw UsageError("--{} is for --sample; give both", option);
  }
  for (const char* option : {"beam", "retry-below"}) {
    if (sampling.sample && options.given(option)) {
      throw UsageError(
          "--{0} is for a search, and --sample draws words in place of one; leave --{0} out (--n-best is the number of "
          "samples)",
          option);
    }
  }
  if (sampling.sample) search.sampling = sampling.sampling;
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
  if (search.normalize && options.given("length-penalty")) {
    throw UsageError(
        "--normalize and --length-penalty both divide log-probabilities by a function of the length; give one of the "
        "two");
  }
  if (search.minimum_length_ratio >= search.maximum_length_ratio) {
    throw UsageError(
        "--maximum-length-ratio is {:g} but --minimum-length-ratio is {:g}: no translation can end; let the maximum be "
        "larger",
        search.maximum_length_ratio, search.minimum_length_ratio);
  }
  if (search.maximum_length && *search.maximum_length <= search.minimum_length) {
    throw UsageError(
        "--maximum-length is {} but --minimum-length is {}: no translation can end, because </s> is one of the words "
        "of the maximum",
        *search.maximum_length, search.minimum_length);
  }
}

}  // namespace rnnsearch::cli
