#include "decode/search.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <numeric>
#include <vector>

#include "rnnsearch/base/portable.h"
#include "tests/decode/random_model.h"

namespace rnnsearch::decode {
namespace {

constexpr std::size_t kWords = 40;
const PerSentence kNothingGiven;

// Of each row its most probable words.
class Lists {
 public:
  Lists(const std::vector<float>& log_probabilities, std::size_t limit) {
    for (std::size_t i = 0; i < log_probabilities.size() / kWords; ++i) {
      const float* const row = log_probabilities.data() + i * kWords;
      std::vector<std::uint32_t> order(kWords);
      std::iota(order.begin(), order.end(), 0u);
      std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return row[a] > row[b]; });
      auto& list = entries_.emplace_back();
      for (const auto word : order) {
        if (list.size() == limit || !(row[word] > kNever)) break;
        list.push_back({row[word], word});
      }
      next_.push_back({.listed = list, .others = list.size() == limit ? list.back().log_probability : kNever});
    }
  }
  std::span<const NextWords> next() const { return next_; }

 private:
  std::deque<std::vector<NextWords::Entry>> entries_;
  std::vector<NextWords> next_;
};

std::vector<NextWords> all_words(const std::vector<float>& log_probabilities) {
  std::vector<NextWords> next;
  for (std::size_t i = 0; i < log_probabilities.size(); i += kWords) {
    next.push_back({.all = std::span(log_probabilities).subspan(i, kWords)});
  }
  return next;
}

// Scores with many ties between words, between hypotheses, and with words that are impossible.
TEST(SearchByLists, FindsWhatTheScoresOfAllWordsTell) {
  Random random(3);
  std::size_t decided = 0, steps = 0;
  for (std::size_t search = 0; search < 200; ++search) {
    SearchOptions options;
    options.beam = options.n_best = 1 + random.below(5);
    options.no_unknown = search % 3 == 0;
    options.minimum_length = search % 4;
    const std::size_t limit = search % 2 == 0 ? 3 : Search::list_length(options, 1);
    Search by_lists(4, options, kNothingGiven, {}), by_all(4, options, kNothingGiven, {});
    while (by_all.live() > 0) {
      std::vector<float> scores(by_all.live() * kWords);
      for (float& score : scores) {
        score = random.below(5) == 0 ? -std::numeric_limits<float>::infinity()
                                     : -static_cast<float>(random.below(12)) / 4 - 0.5F;
      }
      by_all.extend(all_words(scores), {});
      ++steps;
      const std::size_t live = by_lists.live();
      if (by_lists.extend(Lists(scores, limit).next(), {})) {
        ++decided;
      } else {
        ASSERT_EQ(by_lists.live(), live);
        by_lists.extend(all_words(scores), {});
      }
      ASSERT_EQ(by_lists.live(), by_all.live());
    }
    expect_same_bits({by_lists.result()}, {by_all.result()}, fmt::format("search {}", search));
  }
  EXPECT_GT(decided, 0u);
  EXPECT_LT(decided, steps);
}

// Word 5 is not in the list, but its log-probability may have been rounded to that of words 6 and 7.
TEST(SearchByLists, AsksForAllWordsWhereATieMayBeHidden) {
  SearchOptions options;
  options.beam = 1;
  Search search(4, options, kNothingGiven, {});
  std::vector<NextWords::Entry> list{{-1.0F, 6}, {-1.0F, 7}};
  EXPECT_FALSE(search.extend(std::vector<NextWords>{{.listed = list, .others = -1.0F}}, {}));
  list[1].log_probability = -1.25F;
  EXPECT_TRUE(search.extend(std::vector<NextWords>{{.listed = list, .others = -1.25F}}, {}));
  ASSERT_EQ(search.survivors().size(), 1u);
  EXPECT_EQ(search.survivors().front().word, 6u);
}

// Sentences that are forced to begin with a prefix need the scores of all words, and if most rows are theirs, so have
// all sentences of the batch.
TEST(SearchByLists, GivesTheBitsThatTheScoresOfAllWordsGive) {
  RandomModel wanted;
  wanted.target_words = 1300;
  wanted.scale = 0.4;
  auto model = random_model(wanted);
  wanted.seed = 2;
  auto second = random_model(wanted);
  wanted.attention = model::Attention::kNone;
  wanted.seed = 3;
  auto third = random_model(wanted);
  const Sentences source = some_sentences(6, 8);
  const std::vector<WordId> prefix(90, 5);
  const auto expect_the_same = [&](const Ensemble& ensemble, std::size_t beam, std::size_t groups) {
    SearchOptions options{.beam = beam, .n_best = beam, .retry_below = 0, .batch_sentences = 100};
    options.groups = groups;
    options.diversity = 0.5;
    options.placeholders = {{5, 7}};
    if (beam == 2) {
      options.no_repeat_ngram = 2;
      options.repetition_penalty = 1.3;
    }
    const auto by_lists = translate(ensemble, source, options);
    Sentences with_others = source;
    std::vector<PerSentence> forced(source.size());
    for (std::size_t i = 0; i < source.size() * (beam + 1); ++i) {
      with_others.add(source[0]);
      forced.push_back({prefix});
    }
    auto by_all = translate(ensemble, with_others, options, {}, forced);
    by_all.resize(source.size());
    expect_same_bits(by_lists, by_all, fmt::format("beam {}", beam));
  };
  for (const std::size_t beam : {1u, 2u, 12u}) {
    expect_the_same(model, beam, 1);
    expect_the_same(model, beam, beam == 12 ? 4 : beam);
    for (const EnsembleMean how : {EnsembleMean::kProbabilities, EnsembleMean::kLogarithms}) {
      expect_the_same(Ensemble({&model, &second, &third}, {1, 2, 0.5}, how), beam, 1);
      expect_the_same(Ensemble({&model, &third}, {1, 1}, how), beam, beam == 12 ? 4 : beam);
    }
  }
}

// What has no context passes none on while hypotheses begin and end.
TEST(SystemsWithoutContext, AreSearched) {
  model::ModelOptions options;
  options.source_words = options.target_words = kSourceWords;
  options.embedding = options.state = options.alignment = options.maxout = 6;
  options.attention = model::Attention::kNone;
  options.state_inputs = {.word = true, .context = false};
  options.readout_inputs = {.state = true, .word = true, .context = false};
  model::Model model(options);
  model.initialise(3);
  const Sentences source = some_sentences(4, 8);
  for (const std::size_t beam : {1u, 5u}) {
    for (const auto& found : translate(model, source, {.beam = beam, .n_best = beam})) EXPECT_FALSE(found.empty());
  }
}

TEST(FixedParameters, GiveTheSameTranslationsUntilTheyChange) {
  auto model = random_model();
  const Sentences source = some_sentences(5, 8);
  SearchOptions options;
  options.beam = 3;
  const auto expected = translate(model, source, options);
  model.fix_parameters();
  for (int again = 0; again < 2; ++again) expect_same_bits(translate(model, source, options), expected);
  auto other = random_model({.seed = 9});
  const std::vector<float> parameters(other.parameters().begin(), other.parameters().end());
  std::copy(parameters.begin(), parameters.end(), model.parameters().begin());
  model.fix_parameters();
  expect_same_bits(translate(model, source, options), translate(other, source, options));
}

}  // namespace
}  // namespace rnnsearch::decode
