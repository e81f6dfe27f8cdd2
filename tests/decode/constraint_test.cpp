// Searches without repeated n-grams and with the repetition penalty find the best of all translations, by definition.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>
#include <vector>

#include "rnnsearch/decode/translate.h"
#include "tests/decode/random_model.h"
#include "tests/decode/reference_system.h"

namespace rnnsearch::decode {
namespace {

using Words = std::vector<WordId>;

constexpr std::size_t kShortest = 3, kLongest = 5;  // long enough that models repeat words

// All translations of this source, each with the scores of its words.
std::vector<reference::Hypothesis> all_translations(const model::Model& model, std::span<const WordId> source) {
  const reference::System systems[] = {system_of(model)};
  reference::SearchSettings settings;
  settings.shortest = kShortest;
  settings.longest = kLongest;
  return reference::exhaustive_search(systems, source, settings);
}

bool repeats_ngram(const Words& words, std::size_t n) {
  std::set<Words> seen;
  for (std::size_t i = 0; i + n <= words.size(); ++i) {
    if (!seen.insert(Words(words.begin() + static_cast<std::ptrdiff_t>(i),
                           words.begin() + static_cast<std::ptrdiff_t>(i + n)))
             .second) {
      return true;
    }
  }
  return false;
}

double penalised(const reference::Hypothesis& hypothesis, double penalty) {
  double sum = 0;
  for (std::size_t i = 0; i < hypothesis.word_scores.size(); ++i) {
    const bool is_word = i < hypothesis.words.size();
    const auto before = hypothesis.words.begin() + static_cast<std::ptrdiff_t>(i);
    const bool repeated = is_word && std::find(hypothesis.words.begin(), before, hypothesis.words[i]) != before;
    sum += (repeated ? penalty : 1) * hypothesis.word_scores[i];
  }
  return sum;
}

SearchOptions wide_beam() {
  return {.beam = 12000,
          .n_best = 12000,
          .maximum_length_ratio = kLongest / 2.0,
          .minimum_length = kShortest,
          .retry_below = 0};
}

TEST(Repetition, OfNgramsIsInNoTranslationAndAllOthersAreFound) {
  auto model = random_model({.target_words = 8, .seed = 5});
  Sentences source;
  source.add(Words{5});
  const auto all = all_translations(model, source[0]);
  for (const std::size_t n : {1u, 2u, 3u}) {
    auto expected = all;
    std::erase_if(expected, [&](const auto& hypothesis) { return repeats_ngram(hypothesis.words, n); });
    ASSERT_LT(expected.size(), all.size());
    SearchOptions options = wide_beam();
    options.no_repeat_ngram = n;
    const auto found = translate(model, source, options)[0];
    expect_same(found, expected, fmt::format("n {}", n));
  }
}

TEST(Repetition, IsPenalisedInTheScoresOfAllTranslations) {
  Sentences source;
  source.add(Words{5});
  std::size_t changed = 0;
  for (const std::uint64_t seed : {1u, 5u, 6u, 8u}) {
    auto model = random_model({.target_words = 7, .seed = seed});
    const auto all = all_translations(model, source[0]);
    for (const double penalty : {1.2, 3.0}) {
      std::map<Words, double> expected;
      double best = -1e9;
      for (const auto& one : all) best = std::max(best, expected[one.words] = penalised(one, penalty));
      changed += best < all.front().log_probability ? 1 : 0;
      SearchOptions options = wide_beam();
      options.repetition_penalty = penalty;
      const auto found = translate(model, source, options)[0];
      ASSERT_EQ(found.size(), expected.size());
      EXPECT_NEAR(found.front().log_probability, best, 1e-4);
      for (const Translation& translation : found) {
        EXPECT_NEAR(translation.log_probability, expected.at(translation.words), 1e-4 * penalty);
      }
    }
  }
  EXPECT_GT(changed, 2u) << "the best translations repeat no words, so that this tests little";
}

// Narrow beams, groups and samples keep the rule; a prefix may repeat what it likes.
TEST(Repetition, IsAvoidedBehindAPrefixAndInGroupsAndSamples) {
  auto model = random_model({.target_words = 30, .seed = 7});
  const Sentences source = some_sentences(20, 6);
  const std::vector<PerSentence> of(source.size(), {{4, 4}});
  for (const bool sample : {false, true}) {
    SearchOptions options{.beam = 4, .n_best = 4, .retry_below = 0};
    options.no_repeat_ngram = 2;
    options.repetition_penalty = 1.5;
    if (sample) {
      options.sampling.emplace();
    } else {
      options.groups = 2;
      options.diversity = 0.3;
    }
    for (const auto& translations : translate(model, source, options, {}, of)) {
      for (const Translation& translation : translations) {
        ASSERT_EQ(Words(translation.words.begin(), translation.words.begin() + 2), (Words{4, 4}));
        EXPECT_FALSE(repeats_ngram(translation.words, 2));
      }
    }
  }
}

TEST(Ngrams, MayRepeatInRequiredPhrases) {
  auto model = random_model();
  const Sentences source = some_sentences(6, 8);
  SearchOptions options{.beam = 20, .maximum_length_ratio = 10};
  options.no_repeat_ngram = 2;
  const std::vector<PerSentence> required(source.size(), {{}, 0, RequiredWords({{3, 4}, {3, 4, 5}}, nullptr)});
  for (const auto& found : translate(model, source, options, {}, required)) EXPECT_EQ(found.front().unmet, 0U);
}

}  // namespace
}  // namespace rnnsearch::decode
