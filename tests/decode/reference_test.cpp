// Every number of a translation against the slow reference of tests/decode/reference_search.h.
#include "rnnsearch/base/portable.h"
#include "rnnsearch/decode/translate.h"
#include "tests/decode/random_model.h"
#include "tests/decode/reference_search.h"
#include "tests/support/test.h"

namespace rnnsearch::decode {
namespace {

constexpr double kTolerance = 1e-5;  // relative above 1

reference::SearchSettings settings_of(const SearchOptions& options, std::size_t source_words) {
  const auto Tx = static_cast<double>(source_words + 1);
  reference::SearchSettings settings;
  settings.beam = options.beam;
  settings.shortest = std::max(options.minimum_length, static_cast<std::size_t>(options.minimum_length_ratio * Tx));
  settings.longest = static_cast<std::size_t>(options.maximum_length_ratio * Tx);
  if (options.maximum_length) settings.longest = std::min(settings.longest, *options.maximum_length);
  settings.divide_by_length = options.normalize;
  settings.alpha = options.length_penalty;
  settings.beta = options.coverage_penalty;
  settings.bonus = options.word_bonus;
  return settings;
}

void expect_close(double found, double expected, const std::string& what) {
  EXPECT_NEAR(found, expected, kTolerance * std::max(1.0, std::abs(expected))) << what;
}

void expect_same(const Translation& found, const reference::Hypothesis& expected, const SearchOptions& options,
                 const std::string& what) {
  ASSERT_EQ(found.words, expected.words) << what;
  EXPECT_EQ(found.finished, expected.finished) << what;
  const Score score = found.score(options);
  EXPECT_EQ(score.length, expected.word_scores.size()) << what;
  expect_close(score.log_probability, expected.log_probability, what + ", log-probability");
  expect_close(score.length_penalty, expected.length_penalty, what + ", length penalty");
  expect_close(score.coverage_penalty, expected.coverage_penalty, what + ", coverage penalty");
  expect_close(score.word_bonus, expected.word_bonus, what + ", word bonus");
  expect_close(score.value(), expected.score, what + ", score");
  ASSERT_EQ(found.word_scores.size(), expected.word_scores.size()) << what;
  const std::size_t Tx = expected.p.front().size();
  for (std::size_t i = 0; i < found.word_scores.size(); ++i) {
    expect_close(static_cast<double>(found.word_scores[i]), expected.word_scores[i], what + ", a word's score");
    const auto& p = expected.p[i];
    for (std::size_t j = 0; j < Tx; ++j)
      expect_close(static_cast<double>(found.alignment.at(i * Tx + j)), p[j], what + ", a weight");
    const auto most = static_cast<std::uint32_t>(std::max_element(p.begin(), p.end()) - p.begin());
    EXPECT_TRUE(Tx == 0 || found.attended.at(i) == most) << what;
  }
}

struct Case {
  std::string name;
  SearchOptions options;
  model::Attention attention = model::Attention::kAdditive;

  friend void PrintTo(const Case& one, std::ostream* stream) { *stream << one.name; }
};

std::vector<Case> cases() {
  std::vector<Case> all{
      {"greedy", {.beam = 1}},
      {"log_probability", {.beam = 4}},
      {"without_attention", {.beam = 4, .normalize = true}, model::Attention::kNone},
      {"normalize", {.beam = 5, .normalize = true}},
      {"length_penalty", {.beam = 4, .length_penalty = 1.6}},
      {"coverage_penalty", {.beam = 4, .coverage_penalty = 0.2}},
      {"word_bonus", {.beam = 6, .word_bonus = 0.7}},
      {"all", {.beam = 5, .length_penalty = 1.3, .coverage_penalty = 0.5, .word_bonus = -0.2}},
      {"lengths",
       {.beam = 4, .length_penalty = 0.9, .coverage_penalty = 0.4, .minimum_length = 3, .maximum_length = 6}},
      {"cut_off", {.beam = 3, .coverage_penalty = 3, .minimum_length = 4, .maximum_length = 4}}};
  for (Case& one : all) {
    one.options.n_best = one.options.beam;
    one.options.retry_below = 0;
    one.options.batch_sentences = 7;
    one.options.alignments = one.options.attended = true;
  }
  return all;
}

std::string name_of_case(const testing::TestParamInfo<Case>& info) { return info.param.name; }

class Reference : public testing::TestWithParam<Case> {};
INSTANTIATE_TEST_SUITE_P(Search, Reference, testing::ValuesIn(cases()), name_of_case);

TEST_P(Reference, HasEveryNumberOfTheHypotheses) {
  auto model = random_model({.target_words = 13, .attention = GetParam().attention, .seed = 1});
  const std::vector<reference::System> systems{system_of(model)};
  const Sentences source = some_sentences(GetParam().name == "all" ? 200 : 40, 7);
  const SearchOptions& options = GetParam().options;
  const auto found = translate(model, source, options);
  std::size_t finished = 0, reordered = 0;
  for (std::size_t i = 0; i < source.size(); ++i) {
    const auto expected = reference::beam_search(systems, source[i], settings_of(options, source.length(i)));
    ASSERT_EQ(found[i].size(), std::min(expected.size(), options.n_best)) << "sentence " << i;
    for (std::size_t k = 0; k < found[i].size(); ++k) {
      expect_same(found[i][k], expected[k], options,
                  "sentence " + std::to_string(i) + ", translation " + std::to_string(k));
      finished += found[i][k].finished ? 1 : 0;
      reordered += k > 0 && found[i][k].log_probability > found[i][k - 1].log_probability ? 1 : 0;
    }
  }
  EXPECT_EQ(finished > 0, GetParam().name != "cut_off");
  const bool by_probability = options.beam == 1 || GetParam().name == "log_probability";
  EXPECT_EQ(reordered > 0, !by_probability) << "the penalties change nothing, or something else does";
}

bool begins_with(std::span<const WordId> words, std::span<const WordId> prefix) {
  return words.size() >= prefix.size() && std::equal(prefix.begin(), prefix.end(), words.begin());
}

// With no prefix these are all translations.
TEST(Prefix, IsFollowedByTheBestOfAllContinuationsUnderEveryPenaltyWhenTheBeamIsWide) {
  for (const Case& one : cases()) {
    SearchOptions options = one.options;
    options.beam = options.n_best = 6000;
    options.maximum_length_ratio = 2;
    if (options.maximum_length) options.maximum_length = 4;
    if (one.name == "cut_off") continue;
    auto model = random_model({.target_words = 6, .attention = one.attention, .seed = 5});
    const std::vector<reference::System> systems{system_of(model)};
    Sentences source;
    std::vector<PerSentence> of;
    const std::vector<std::pair<std::vector<WordId>, std::vector<WordId>>> sentences{
        {{5}, {4}}, {{3, 4}, {3, 5}}, {{4, 3}, {kUnknown}}, {{5}, {}}, {{3, 4}, {}}};
    for (const auto& [words, prefix] : sentences) {
      source.add(words);
      of.push_back({prefix});
    }
    const auto found = translate(model, source, options, {}, of);
    for (std::size_t i = 0; i < source.size(); ++i) {
      auto expected = reference::exhaustive_search(systems, source[i], settings_of(options, source.length(i)));
      std::erase_if(expected, [&](const auto& hypothesis) { return !begins_with(hypothesis.words, of[i].prefix); });
      ASSERT_EQ(found[i].size(), expected.size());
      ASSERT_FALSE(expected.empty());
      for (std::size_t k = 0; k < found[i].size(); ++k) expect_same(found[i][k], expected[k], options, one.name);
    }
  }
}

TEST(Prefix, StandsWholeInATranslationWhateverLengthsAndWordsAreAllowed) {
  auto model = random_model({.target_words = 13, .seed = 1});
  const Sentences source = some_sentences(20, 3);
  std::vector<PerSentence> of;
  Random random(4);
  for (std::size_t i = 0; i < source.size(); ++i) {
    std::vector<WordId> prefix(i % 6, kUnknown);
    for (WordId& word : prefix) word = static_cast<WordId>(random.below(3) == 0 ? kUnknown : 3 + random.below(10));
    of.push_back({prefix});
  }
  SearchOptions options{.beam = 3, .n_best = 3, .no_unknown = true, .minimum_length = 2, .maximum_length = 3};
  options.retry_below = 0;
  for (const bool sample : {false, true}) {
    if (sample) options.sampling.emplace();
    const auto found = translate(model, source, options, {}, of);
    std::size_t finished = 0;
    for (std::size_t i = 0; i < source.size(); ++i) {
      for (const Translation& translation : found[i]) {
        ASSERT_TRUE(begins_with(translation.words, of[i].prefix)) << "sentence " << i;
        EXPECT_LE(translation.word_scores.size(), std::max<std::size_t>(3, of[i].prefix.size() + 1));
        const auto rest = std::span(translation.words).subspan(of[i].prefix.size());
        EXPECT_EQ(std::count(rest.begin(), rest.end(), kUnknown), 0);
        if (!translation.finished) continue;
        ++finished;
        Sentences one_source, one_target;
        one_source.add(source[i]);
        one_target.add(translation.words);
        expect_close(translation.log_probability, model.score(one_source, one_target).front(), "score");
      }
    }
    EXPECT_GT(finished, 5u);
  }
}

/// An RNNsearch, an RNNencdec and a wider RNNsearch that reads the previous word in its state.
struct Trio {
  std::vector<model::Model> models;
  std::vector<double> weights{1, 0.5, 2.5};
  std::vector<reference::System> systems;

  explicit Trio(std::size_t target_words) {
    models.push_back(random_model({.target_words = target_words, .attention = model::Attention::kNone, .seed = 21}));
    models.push_back(random_model({.target_words = target_words, .seed = 22}));
    models.push_back(random_model({.target_words = target_words, .seed = 23, .state = 9}));
    for (std::size_t m = 0; m < models.size(); ++m) {
      models[m].parameters()[models[m].layout().find("readout/b_w").offset + kEnd] = 1.5;  // so that something ends
      systems.push_back(system_of(models[m], weights[m]));
    }
  }
  Ensemble ensemble(EnsembleMean of) {
    std::vector<model::Model*> pointers;
    for (auto& model : models) pointers.push_back(&model);
    return {pointers, weights, of};
  }
};

TEST(EnsembleReference, HasEveryNumberOfTheHypotheses) {
  Trio trio(13);
  std::size_t finished = 0;
  for (const Case& one : cases()) {
    if (one.name != "log_probability" && one.name != "all" && one.name != "greedy") continue;
    const Sentences source = some_sentences(one.name == "all" ? 200 : 40, 7);
    for (const EnsembleMean of : {EnsembleMean::kProbabilities, EnsembleMean::kLogarithms}) {
      const Ensemble ensemble = trio.ensemble(of);
      const auto found = translate(ensemble, source, one.options);
      Sentences sources, targets;
      std::vector<double> expected_scores;
      for (std::size_t i = 0; i < source.size(); ++i) {
        auto settings = settings_of(one.options, source.length(i));
        settings.average_logarithms = of == EnsembleMean::kLogarithms;
        const auto expected = reference::beam_search(trio.systems, source[i], settings);
        ASSERT_EQ(found[i].size(), std::min(expected.size(), one.options.n_best)) << "sentence " << i;
        for (std::size_t k = 0; k < found[i].size(); ++k) {
          expect_same(found[i][k], expected[k], one.options,
                      one.name + " of " + name_of(of) + ", sentence " + std::to_string(i));
          if (!found[i][k].finished) continue;
          sources.add(source[i]);
          targets.add(found[i][k].words);
          expected_scores.push_back(expected[k].log_probability);
        }
      }
      const auto scores = score(ensemble, sources, targets);
      finished += scores.size();
      for (std::size_t i = 0; i < scores.size(); ++i) expect_close(scores[i], expected_scores[i], "score");
    }
  }
  EXPECT_GT(finished, 500u);
}

TEST(EnsembleReference, FindsTheBestOfAllTranslationsWhenTheBeamIsWide) {
  Trio trio(6);
  Sentences source;
  source.add(std::vector<WordId>{5});
  source.add(std::vector<WordId>{3});
  for (const EnsembleMean of : {EnsembleMean::kProbabilities, EnsembleMean::kLogarithms}) {
    SearchOptions options{.beam = 500, .n_best = 500, .length_penalty = 0.8, .coverage_penalty = 0.4};
    options.maximum_length_ratio = 2;
    options.alignments = options.attended = true;
    const auto found = translate(trio.ensemble(of), source, options);
    for (std::size_t i = 0; i < source.size(); ++i) {
      auto settings = settings_of(options, source.length(i));
      settings.average_logarithms = of == EnsembleMean::kLogarithms;
      const auto expected = reference::exhaustive_search(trio.systems, source[i], settings);
      ASSERT_EQ(found[i].size(), expected.size());
      for (std::size_t k = 0; k < found[i].size(); ++k) expect_same(found[i][k], expected[k], options, name_of(of));
    }
  }
}

TEST(Coverage, CountsAWordThatNothingAttendedToAsTheSmallestNormalNumber) {
  EXPECT_DOUBLE_EQ(coverage_of(std::vector<double>{1.5, 0.5, 1}), std::log(0.5));
  EXPECT_NEAR(coverage_of(std::vector<double>{0, 1}), -126 * std::log(2), 1e-12);
}

TEST(Score, OfAnEmptySourceIsZeroWhateverThePenalties) {
  auto model = random_model({.target_words = 13, .seed = 1});
  Sentences source;
  source.add({});
  for (const Case& one : cases()) {
    const Translation translation = translate(model, source, one.options)[0].at(0);
    EXPECT_EQ(translation.score(one.options).length, 0u);
    EXPECT_EQ(translation.score(one.options).value(), 0) << one.name;
  }
}

}  // namespace
}  // namespace rnnsearch::decode
