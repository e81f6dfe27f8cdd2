#include "rnnsearch/evaluate/evaluation.h"

#include <fmt/format.h>

#include <algorithm>

#include "rnnsearch/base/error.h"

namespace rnnsearch::evaluate {
void declare(OptionList& options, EvaluationOptions& o) {
  options.group("Metrics");
  options.add("tokenizer", o.bleu.tokenizer, "tokenizer of BLEU, as in sacreBLEU");
  options.add("smoothing", o.bleu.smoothing, "BLEU smoothing method, as in sacreBLEU");
  options.add("smooth-value", o.bleu.smooth_value, at_least(0), "parameter of --smoothing floor [0.1] or add-k [1]");
  options.add("lowercase", o.bleu.lowercase, "compare lower-cased text");
  options.add("chrf", o.chrf, "also compute chrF and chrF++");
  options.add("ter", o.ter, "also compute TER, the number of edits per 100 reference words; lower is better");
  options.add("ter-normalized", o.ter_options.normalized,
              "separate punctuation from words for TER and replace XML entities by their characters, as sacreBLEU's "
              "--ter-normalized");
  options.add("ter-no-punctuation", o.ter_options.no_punct,
              "remove punctuation for TER, as sacreBLEU's --ter-no-punct");
  options.add("ter-asian", o.ter_options.asian_support,
              "for TER, apply --ter-normalized and --ter-no-punctuation to Chinese and Japanese too, as sacreBLEU's "
              "--ter-asian-support");
  options.add("ter-case-sensitive", o.ter_options.case_sensitive,
              "do not lower-case text for TER, as sacreBLEU's --ter-case-sensitive");
  options.add("sequence-accuracy", o.sequence_accuracy,
              "also compute, for tasks with one right answer, the means over sentences, in percent, of PSA (share of "
              "reference positions whose word is right), LCSR (longest common subsequence over the reference's length) "
              "and GeoMean (sqrt(PSA LCSR) of each sentence). whole: LCSR of the whole output; cut: of the output cut "
              "to the reference's length");
  options.add("bootstrap", o.bootstrap.samples, within(0, 1e6),
              "number of bootstrap samples for the 95% intervals; 0: no intervals");
  options.add("seed", o.bootstrap.seed, "seed of the bootstrap and of the significance tests");
  options.group("Buckets");
  options.add("bucket-by", o.length,
              "side whose length decides in which bucket a sentence is; longest: the longer side of the pair");
  options.add("edges", o.edges, "largest length of each bucket; one more bucket holds all longer sentences");
  options.add("length-tokenizer", o.length_tokenizer, "tokenizer that counts the words of a sentence [that of BLEU]");
  options.group("Significance");
  options.add("significance", o.significance.test,
              "paired test of every other system against --baseline, overall and in each bucket");
  options.add("baseline", o.baseline, Placeholder{"NAME"},
              "name of the system that others are compared with [the first]");
  options.add("significance-samples", o.significance.samples, within(1, 1e7),
              "number of samples of the bootstrap [1000] or trials of the randomization [10000]");
}

void check(const EvaluationOptions& options) {
  const Smoothing smoothing = options.bleu.smoothing;
  if (options.bleu.smooth_value && smoothing != Smoothing::kFloor && smoothing != Smoothing::kAddK) {
    throw UsageError("--smooth-value is for --smoothing floor or add-k, not for " + name_of(smoothing));
  }
  if (!options.ter && options.ter_options != TerOptions{}) {
    throw UsageError("--ter-normalized, --ter-no-punctuation, --ter-asian and --ter-case-sensitive are for --ter");
  }
  if (options.ter_options.asian_support && !options.ter_options.normalized && !options.ter_options.no_punct) {
    throw UsageError("--ter-asian is for --ter-normalized or --ter-no-punctuation, which it extends");
  }
  if (options.significance.samples && options.significance.test == SignificanceTest::kNone) {
    throw UsageError("--significance-samples is for --significance bootstrap or randomization");
  }
}

void check_systems(const EvaluationOptions& options, std::span<const std::string> systems) {
  for (auto system = systems.begin(); system != systems.end(); ++system) {
    if (std::find(systems.begin(), system, *system) == system) continue;
    throw UsageError("two systems are called '" + *system + "'; give each a name of its own: NAME=FILE");
  }
  if (options.significance.test == SignificanceTest::kNone) {
    if (!options.baseline.empty()) {
      throw UsageError("--baseline is for --significance bootstrap or randomization, which compare with it");
    }
    return;
  }
  if (systems.size() < 2) {
    throw UsageError("--significance compares systems, but there is only '" + systems.front() +
                     "'; give another one by --hypotheses or --model");
  }
  if (!options.baseline.empty() && std::find(systems.begin(), systems.end(), options.baseline) == systems.end())
    throw UsageError("--baseline is '{}', but the systems are {}", options.baseline,
                     fmt::to_string(fmt::join(systems, ", ")));
}

}  // namespace rnnsearch::evaluate
