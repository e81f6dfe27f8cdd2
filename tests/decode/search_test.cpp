#include "decode/search.h"

#include "rnnsearch/base/portable.h"
#include "rnnsearch/decode/translate.h"
#include "tests/decode/random_model.h"
#include "tests/support/test.h"

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

using Words = std::vector<WordId>;  // of a translation, with </s> if it has ended
using Distribution = std::map<Words, double>;

/// Pearson's statistic of the counts, and how large it may be: its mean and four standard deviations. Words that are
/// expected fewer than five times are counted together.
struct ChiSquare {
  double statistic = 0, limit = 0;

  ChiSquare(const std::map<Words, std::size_t>& counts, const Distribution& expected) {
    double total = 0, rare = 0, rare_expected = 0, cells = 0;
    for (const auto& [words, count] : counts) {
      total += static_cast<double>(count);
      EXPECT_TRUE(expected.contains(words)) << "drawn, but impossible";
    }
    const auto add = [&](double count, double mean) {
      statistic += (count - mean) * (count - mean) / mean;
      ++cells;
    };
    for (const auto& [words, probability] : expected) {
      const auto found = counts.find(words);
      const double count = found == counts.end() ? 0 : static_cast<double>(found->second);
      if (probability * total >= 5) {
        add(count, probability * total);
      } else {
        rare += count;
        rare_expected += probability * total;
      }
    }
    if (rare_expected > 0) add(rare, rare_expected);
    limit = cells - 1 + 4 * std::sqrt(2 * (cells - 1));
  }
};

/// The probability of every outcome of at most `longest` words, from the definition: step by step, renormalised.
void enumerate(std::span<model::Model* const> models, std::span<const WordId> source, const Sampling& sampling,
               std::size_t shortest, std::size_t longest, const Words& prefix, double probability, Distribution& all) {
  std::vector<double> mean(models.front()->options().target_words, 0.0);
  for (model::Model* model : models) {
    const auto row = next_word(*model, source, prefix);
    for (std::size_t y = 0; y < mean.size(); ++y)
      mean[y] += std::exp(static_cast<double>(row[y])) / static_cast<double>(models.size());
  }
  std::vector<std::pair<double, WordId>> words;
  for (WordId y = 0; y < mean.size(); ++y) {
    if (y == kStart || (y == kEnd && prefix.size() < shortest)) continue;
    words.emplace_back(std::pow(mean[y], 1 / sampling.temperature), y);
  }
  std::sort(words.rbegin(), words.rend());
  if (sampling.top_k > 0) words.resize(std::min(words.size(), sampling.top_k));
  double sum = 0;
  for (const auto& [weight, word] : words) sum += weight;
  for (const auto& [weight, word] : words) {
    Words longer = prefix;
    longer.push_back(word);
    if (word == kEnd || longer.size() == longest) {
      all[longer] += probability * weight / sum;
    } else {
      enumerate(models, source, sampling, shortest, longest, longer, probability * weight / sum, all);
    }
  }
}

std::map<Words, std::size_t> counted(const std::vector<Translation>& samples) {
  std::map<Words, std::size_t> counts;
  for (const Translation& sample : samples) {
    Words words = sample.words;
    if (sample.finished) words.push_back(kEnd);
    ++counts[words];
  }
  return counts;
}

TEST(Sampling, DrawsTranslationsAsOftenAsTheyAreProbable) {
  auto first = random_model({.target_words = 7, .seed = 5}), second = random_model({.target_words = 7, .seed = 6});
  const Words source{4, 9, 3};
  Sentences one;
  one.add(source);
  const Sampling samplings[] = {{}, {.temperature = 0.6}, {.temperature = 2}, {.top_k = 3}, {0.7, 4, 9}};
  for (const bool together : {false, true}) {
    std::vector<model::Model*> models{&first};
    if (together) models.push_back(&second);
    const Ensemble ensemble(models, std::vector<double>(models.size(), 1.0), EnsembleMean::kProbabilities);
    for (const Sampling& sampling : samplings) {
      SearchOptions options{.n_best = 20000, .minimum_length_ratio = 0, .minimum_length = 1, .maximum_length = 3};
      options.sampling = sampling;
      const auto samples = translate(ensemble, one, options)[0];
      ASSERT_EQ(samples.size(), options.n_best);
      const auto counts = counted(samples);
      Distribution expected, other;
      enumerate(models, source, sampling, 1, 3, {}, 1, expected);
      const ChiSquare found(counts, expected);
      EXPECT_LT(found.statistic, found.limit) << "temperature " << sampling.temperature << ", k " << sampling.top_k;
      enumerate(models, source, {sampling.temperature * 1.1, sampling.top_k, 1}, 1, 3, {}, 1, other);
      const ChiSquare wrong(counts, other);
      EXPECT_GT(wrong.statistic, wrong.limit) << "the test would not see another temperature";
    }
  }
}

TEST(Sampling, GivesEachSentenceAndSampleItsOwnStream) {
  auto model = random_model({.target_words = 9});
  Sentences source;
  for (int i = 0; i < 3000; ++i) source.add(Words{4, 9});
  SearchOptions options{.n_best = 2, .maximum_length = 2};
  options.sampling.emplace();
  const auto found = translate(model, source, options);
  std::vector<Translation> firsts, seconds;
  std::map<Words, std::size_t> pairs;
  for (const auto& samples : found) {
    firsts.push_back(samples.at(0));
    seconds.push_back(samples.at(1));
    ++pairs[{samples[0].words.at(0), samples[1].words.at(0)}];
  }
  std::vector<model::Model*> models{&model};
  Distribution expected, independent;
  enumerate(models, source[0], {}, 1, 2, {}, 1, expected);
  for (const auto* samples : {&firsts, &seconds}) {
    const ChiSquare one(counted(*samples), expected);
    EXPECT_LT(one.statistic, one.limit);
  }
  std::map<WordId, double> word;
  for (const auto& [words, probability] : expected) word[words[0]] += probability;
  for (const auto& [a, p] : word) {
    for (const auto& [b, q] : word) independent[{a, b}] = p * q;
  }
  const ChiSquare both(pairs, independent);
  EXPECT_LT(both.statistic, both.limit) << "two samples of a sentence depend on each other";
}

TEST(Sampling, OfTheMostProbableWordAloneIsGreedySearch) {
  auto model = random_model({.target_words = 13});
  const Sentences source = some_sentences(30, 6);
  SearchOptions options{.beam = 1, .coverage_penalty = 0.3, .retry_below = 0, .alignments = true};
  const auto greedy = translate(model, source, options);
  options.sampling = Sampling{.top_k = 1};
  const auto samples = translate(model, source, options);
  expect_same_bits(samples, greedy);
}

TEST(Draw, TakesTheWordAtThisPlaceOfTheDistribution) {
  const std::vector<float> scores{std::log(0.1F), kNever, std::log(0.2F), std::log(0.4F), std::log(0.2F)};
  const auto word = [&](double uniform, Sampling sampling) { return draw(scores, sampling, uniform); };
  EXPECT_EQ(word(0, {}), 0u);
  EXPECT_EQ(word(0.11, {}), 0u);  // 1 / 9
  EXPECT_EQ(word(0.12, {}), 2u);
  EXPECT_EQ(word(0.99, {}), 4u);
  EXPECT_EQ(word(0, {.top_k = 2}), 2u) << "the lower of two equally probable words";
  EXPECT_EQ(word(0.34, {.top_k = 2}), 3u);
  EXPECT_EQ(word(0.99, {.top_k = 2}), 3u);
  EXPECT_EQ(word(0.3, {.temperature = 0.5}), 3u);  // 1 : 4 : 16 : 4
  EXPECT_EQ(word(0.19, {.temperature = 0.5}), 2u);
  EXPECT_EQ(draw(std::vector<float>(3, kNever), {}, 0.5), std::nullopt);
}

}  // namespace
}  // namespace rnnsearch::decode
