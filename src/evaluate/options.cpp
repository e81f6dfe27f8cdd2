#include "rnnsearch/evaluate/options.h"

#include <fmt/format.h>

#include <algorithm>
#include <string>
#include <type_traits>
#include <utility>

#include "rnnsearch/base/error.h"

namespace rnnsearch::evaluate {
namespace {

using E = EvaluationOptions;

/// A member of the options, or of one of their members.
template <auto... members>
constexpr Field<E> at() {
  using T = std::remove_reference_t<decltype((std::declval<E&>().*....*members))>;
  return {value::kind_of<T>(), [](const std::string& text, E& o) { return value::read(text, (o.*....*members)); },
          [](const E& o) { return value::write((o.*....*members)); }, &value::choices_of<T>};
}

/// The same of an optional member, which has no text where it is not given.
template <auto... members>
constexpr Field<E> optional_at() {
  using T = typename std::remove_reference_t<decltype((std::declval<E&>().*....*members))>::value_type;
  return {value::kind_of<T>(),
          [](const std::string& text, E& o) { return value::read(text, (o.*....*members).emplace()); },
          [](const E& o) { return (o.*....*members) ? value::write(*(o.*....*members)) : std::string(); },
          &value::choices_of<T>};
}

constexpr Option<E> kOptions[]{
    {"tokenizer", "tokenizer of BLEU, as in sacreBLEU", at<&E::bleu, &BleuOptions::tokenizer>(), {.group = "Metrics"}},
    {"smoothing", "BLEU smoothing method, as in sacreBLEU", at<&E::bleu, &BleuOptions::smoothing>()},
    {"smooth-value",
     "parameter of --smoothing floor [0.1] or add-k [1]",
     optional_at<&E::bleu, &BleuOptions::smooth_value>(),
     {.bounds = {.from = 0}}},
    {"lowercase", "compare lower-cased text", at<&E::bleu, &BleuOptions::lowercase>()},
    {"chrf", "also compute chrF and chrF++", at<&E::chrf>()},
    {"ter", "also compute TER, the number of edits per 100 reference words; lower is better", at<&E::ter>()},
    {"ter-normalized",
     "separate punctuation from words for TER and replace XML entities by their characters, as sacreBLEU's "
     "--ter-normalized",
     at<&E::ter_options, &TerOptions::normalized>()},
    {"ter-no-punctuation", "remove punctuation for TER, as sacreBLEU's --ter-no-punct",
     at<&E::ter_options, &TerOptions::no_punct>()},
    {"ter-asian",
     "for TER, apply --ter-normalized and --ter-no-punctuation to Chinese and Japanese too, as sacreBLEU's "
     "--ter-asian-support",
     at<&E::ter_options, &TerOptions::asian_support>()},
    {"ter-case-sensitive", "do not lower-case text for TER, as sacreBLEU's --ter-case-sensitive",
     at<&E::ter_options, &TerOptions::case_sensitive>()},
    {"sequence-accuracy",
     "also compute, for tasks with one right answer, the means over sentences, in percent, of PSA (share of reference "
     "positions whose word is right), LCSR (longest common subsequence over the reference's length) and GeoMean "
     "(sqrt(PSA LCSR) of each sentence). whole: LCSR of the whole output; cut: of the output cut to the reference's "
     "length",
     at<&E::sequence_accuracy>()},
    {"bootstrap",
     "number of bootstrap samples for the 95% intervals; 0: no intervals",
     at<&E::bootstrap, &Bootstrap::samples>(),
     {.bounds = {.from = 0, .to = 1e6}}},
    {"seed", "seed of the bootstrap and of the significance tests", at<&E::bootstrap, &Bootstrap::seed>()},
    {"bucket-by",
     "side whose length decides in which bucket a sentence is; longest: the longer side of the pair",
     at<&E::length>(),
     {.group = "Buckets"}},
    {"edges", "largest length of each bucket; one more bucket holds all longer sentences", at<&E::edges>()},
    {"length-tokenizer", "tokenizer that counts the words of a sentence [that of BLEU]",
     optional_at<&E::length_tokenizer>()},
    {"significance",
     "paired test of every other system against --baseline, overall and in each bucket",
     at<&E::significance, &SignificanceOptions::test>(),
     {.group = "Significance"}},
    {"baseline",
     "name of the system that others are compared with [the first]",
     at<&E::baseline>(),
     {.placeholder = "NAME"}},
    {"significance-samples",
     "number of samples of the bootstrap [1000] or trials of the randomization [10000]",
     optional_at<&E::significance, &SignificanceOptions::samples>(),
     {.bounds = {.from = 1, .to = 1e7}}},
};

}  // namespace

std::span<const Option<EvaluationOptions>> option_table() {
  return kOptions;
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
