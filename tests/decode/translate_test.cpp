#include "rnnsearch/decode/translate.h"

#include "rnnsearch/base/parallel.h"
#include "rnnsearch/base/portable.h"
#include "rnnsearch/decode/translate_lines.h"
#include "rnnsearch/kernels/precision.h"
#include "tests/decode/random_model.h"
#include "tests/support/test.h"

namespace rnnsearch::decode {
namespace {

double score_of(model::Model& model, std::span<const WordId> source, const std::vector<WordId>& target) {
  Sentences sources, targets;
  sources.add(source);
  targets.add(target);
  return model.score(sources, targets).front();
}

/// A model that reads or writes the last word first returns words and alignments in the order of the sentence.
TEST(Directions, GiveTranslationsAndAlignmentsInTheOrderOfTheSentence) {
  for (const bool reverse_source : {false, true}) {
    for (const auto direction : {model::TargetDirection::kLeftToRight, model::TargetDirection::kRightToLeft}) {
      SCOPED_TRACE(testing::Message() << reverse_source << ", " << name_of(direction));
      model::ModelOptions options = random_model({.target_words = 13}).options();
      options.reverse_source = reverse_source;
      options.target_direction = direction;
      model::Model turned(options), plain(random_model({.target_words = 13}).options());
      Random random(1);
      for (float& weight : turned.parameters()) weight = static_cast<float>(0.6 * random.normal());
      std::copy(turned.parameters().begin(), turned.parameters().end(), plain.parameters().begin());
      const Sentences source = some_sentences(20, 7);
      const auto found = translate(
          turned, source, {.beam = 4, .n_best = 4, .batch_sentences = 6, .alignments = true, .attended = true});
      // the same weights without the options, and the words turned round by hand
      const auto expected = translate(plain, reverse_source ? with_last_word_first(source) : source,
                                      {.beam = 4, .n_best = 4, .batch_sentences = 6, .alignments = true});
      std::size_t finished = 0, long_ones = 0;
      for (std::size_t i = 0; i < source.size(); ++i) {
        ASSERT_EQ(found[i].size(), expected[i].size());
        for (std::size_t k = 0; k < found[i].size(); ++k) {
          const Translation& t = found[i][k];
          std::vector<WordId> words = expected[i][k].words;
          if (options.right_to_left()) std::reverse(words.begin(), words.end());
          EXPECT_EQ(t.words, words);
          EXPECT_NEAR(t.log_probability, expected[i][k].log_probability, 1e-4);
          if (!t.finished) continue;
          ++finished;
          long_ones += t.words.size() > 2 ? 1 : 0;
          EXPECT_NEAR(t.log_probability, score_of(turned, source[i], t.words), 1e-4);
          Sentences one_source, one_target;
          one_source.add(source[i]);
          one_target.add(t.words);
          const auto alignment = turned.align(one_source, one_target).front().alpha;
          ASSERT_EQ(t.alignment.size(), alignment.size());
          for (std::size_t j = 0; j < alignment.size(); ++j) EXPECT_NEAR(t.alignment[j], alignment[j], 1e-5) << j;
          const auto word_scores = turned.word_scores(one_source, one_target).front();
          ASSERT_EQ(t.word_scores.size(), word_scores.size());
          ASSERT_EQ(t.attended.size(), word_scores.size());
          const std::size_t Tx = alignment.size() / word_scores.size();
          for (std::size_t w = 0; w < word_scores.size(); ++w) {
            EXPECT_NEAR(static_cast<double>(t.word_scores[w]), word_scores[w], 1e-4) << w;
            const auto row = t.alignment.begin() + static_cast<std::ptrdiff_t>(w * Tx);
            EXPECT_EQ(t.attended[w], std::max_element(row, row + static_cast<std::ptrdiff_t>(Tx)) - row) << w;
          }
        }
      }
      EXPECT_GT(finished, 10u);
      EXPECT_GT(long_ones, 5u);
    }
  }
}

TEST(Search, OfASourceWithAStartSymbolIsThatOfForcedDecodingAndHasTheSameLimits) {
  auto model = random_model({.target_words = 13, .attention = model::Attention::kNone, .source_start = true});
  const Sentences source = some_sentences(20, 7);
  const auto translations =
      translate(model, source, {.beam = 4, .n_best = 4, .minimum_length_ratio = 1, .batch_sentences = 6});
  std::size_t finished = 0;
  for (std::size_t i = 0; i < source.size(); ++i) {
    const std::size_t Tx = source.length(i) + 1;  // </s> counted, <s> not
    for (const Translation& translation : translations[i]) {
      EXPECT_GE(translation.words.size(), Tx);
      EXPECT_LE(translation.words.size(), 3 * Tx);
      if (!translation.finished) {
        EXPECT_EQ(translation.words.size(), 3 * Tx);
        continue;
      }
      ++finished;
      EXPECT_NEAR(translation.log_probability, score_of(model, source[i], translation.words), 1e-4);
    }
  }
  EXPECT_GT(finished, 10u);
}

TEST(Search, GivesAnEmptySourceOneEmptyTranslationInItsPlace) {
  auto model = random_model({.target_words = 9});
  Sentences source;
  source.add({});
  source.add(std::vector<WordId>{4, 5});
  source.add({});
  const auto translations = translate(model, source, {.beam = 2, .n_best = 2});
  EXPECT_EQ(translations[0].size(), 1u);
  EXPECT_TRUE(translations[0].front().words.empty() && translations[0].front().finished);
  EXPECT_FALSE(translations[1].front().words.empty());
  EXPECT_EQ(translations[2].size(), 1u);
  EXPECT_TRUE(translate(model, {}, {}).empty());
}

TEST(Search, LeavesOffAfterTheSentencesUnderWay) {
  auto model = random_model({.target_words = 9});
  const Sentences source = some_sentences(33, 9);
  const auto part = translate(model, source, {.beam = 2, .retry_below = 0, .batch_sentences = 5},
                              [](std::size_t done) { return done < 10; });
  const auto whole = translate(model, source, {.beam = 2, .retry_below = 0, .batch_sentences = 5});
  std::size_t translated = 0;
  for (std::size_t i = 0; i < source.size(); ++i) {
    if (part[i].empty()) continue;
    ++translated;
    EXPECT_EQ(part[i].front().words, whole[i].front().words);
  }
  EXPECT_EQ(translated, 10u);
}

TEST(Search, EndsInTheMiddleOfASentenceWhenItIsToldTo) {
  auto model = random_model({.target_words = 13});
  const Sentences source = some_sentences(3, 7);
  std::atomic<int> asked = 0;
  const auto translated = [&](int stop_after) {
    asked = 0;
    const Interruptible interruptible([&] { return ++asked > stop_after; });
    return translate(model, source, {.beam = 4, .batch_sentences = 3}, [](std::size_t) { return true; });
  };
  const auto whole = translated(1 << 30);
  const int all = asked;
  EXPECT_GT(all, 100) << "it asks at every step";
  for (const int stop_after : {0, all / 2, all - 1}) {
    std::size_t missing = 0;
    const auto part = translated(stop_after);
    for (std::size_t i = 0; i < source.size(); ++i) {
      if (part[i].empty()) {
        ++missing;
      } else {
        EXPECT_EQ(part[i].front().words, whole[i].front().words);
      }
    }
    EXPECT_GE(missing, stop_after == 0 ? 3U : 1U);
  }
  const Interruptible at_once([] { return true; });
  EXPECT_THROW(translate(model, source, {}), Interrupted);
  EXPECT_THROW(model.score(source, source), Interrupted);
}

TEST(Search, LetsASentenceBeginWhereAnotherHasEnded) {
  auto model = random_model({.target_words = 9});
  Sentences source;
  for (const std::size_t length : {1, 9, 1, 1}) source.add(std::vector<WordId>(length, 4));
  // Translations have 3 times the length of the source. While the long one is searched, the others are, too.
  const SearchOptions options{
      .beam = 2, .minimum_length_ratio = 3.0, .maximum_length_ratio = 3.0, .retry_below = 0, .batch_sentences = 2};
  const auto whole = translate(model, source, options);
  const auto part = translate(model, source, options, [](std::size_t done) { return done < 3; });
  EXPECT_TRUE(part[1].empty());
  for (const std::size_t i : {0, 2, 3}) {
    ASSERT_FALSE(part[i].empty());
    EXPECT_EQ(part[i].front().words, whole[i].front().words);
    EXPECT_EQ(part[i].front().log_probability, whole[i].front().log_probability);
  }
}

// Few sentences together, so that most begin while others are searched.
void expect_the_same_by_any_number_together(const Ensemble& ensemble) {
  const Sentences source = some_sentences(25, 9);
  SearchOptions options{
      .beam = 3, .n_best = 2, .retry_below = 0, .batch_sentences = 1, .alignments = ensemble.attends()};
  const auto one = translate(ensemble, source, options);
  for (const std::size_t together : {2, 7, 100}) {
    options.batch_sentences = together;
    expect_same_bits(translate(ensemble, source, options), one, fmt::format("{} together", together));
  }
}

TEST(Search, GivesEnsemblesTheSameForAnyNumberTogether) {
  auto first = random_model({.target_words = 9}), second = random_model({.target_words = 9, .seed = 7});
  auto without =
      random_model({.target_words = 9, .attention = model::Attention::kNone, .seed = 8, .source_end = false});
  expect_the_same_by_any_number_together(Ensemble({&first, &second}, {1, 2}, EnsembleMean::kProbabilities));
  expect_the_same_by_any_number_together(Ensemble({&without, &first}, {1, 2}, EnsembleMean::kLogarithms));
  expect_the_same_by_any_number_together(without);
}

TEST(Search, GivesTheSameForAnyNumberTogetherInEveryPrecisionAndFromRightToLeft) {
  auto model = random_model({.target_words = 9, .state = 16});
  model::ModelOptions options = model.options();
  options.target_direction = model::TargetDirection::kRightToLeft;
  model::Model leftwards(options);
  std::copy(model.parameters().begin(), model.parameters().end(), leftwards.parameters().begin());
  expect_the_same_by_any_number_together(leftwards);
  for (const auto precision :
       {kernels::Precision::kFloat32, kernels::Precision::kBFloat16, kernels::Precision::kInt8}) {
    kernels::set_precision(precision);
    expect_the_same_by_any_number_together(model);
  }
  kernels::set_precision(kernels::Precision::kFloat32);
}

TEST(Search, PrefersTheLowerIdAmongEquallyProbableWords) {
  auto model = random_model({.target_words = 9, .scale = 0.0});  // zero weights: every word is as probable
  Sentences source;
  source.add(std::vector<WordId>{4, 5, 6});
  const auto translations = translate(model, source, {.beam = 3, .n_best = 3});
  const auto again = translate(model, source, {.beam = 3, .n_best = 3});
  EXPECT_EQ(translations[0][0].words, (std::vector<WordId>{0, 0}));  // Tx = 4: </s> may come third
  EXPECT_EQ(translations[0][0].words, again[0][0].words);
}

// A model that ignores its source: the probability of a word depends on the word before it alone. What a row does not
// name has the logit -100, and </s> -200, so that no beam prefers it to any other word.
constexpr WordId kA = 3, kB = 4, kC = 5, kD = 6, kE = 7;
constexpr std::size_t kWords = 8;
using Row = std::vector<std::pair<WordId, double>>;  // words and their probabilities, which sum to 1
model::Model bigram_model(const Row& first, const std::vector<std::pair<WordId, Row>>& after) {
  model::ModelOptions options;
  options.source_words = 12;
  options.target_words = options.embedding = options.maxout = kWords;
  options.state = options.alignment = 2;
  model::Model model(options);
  std::fill(model.parameters().begin(), model.parameters().end(), 0.0F);
  const auto at = [&](const char* name, std::size_t index) -> float& {
    return model.parameters()[model.layout().find(name).offset + index];
  };
  const auto logits_of = [](const Row& row) {
    std::vector<double> logits(kWords, -100.0);
    logits[kEnd] = -200;
    for (const auto& [word, probability] : row) logits[word] = std::log(probability);
    return logits;
  };
  const auto begin = logits_of(first);
  for (std::size_t word = 0; word < kWords; ++word) {
    at("readout/b_w", word) = static_cast<float>(begin[word]);
    at("decoder/embedding", word * kWords + word) = 1;    // E is the identity,
    at("readout/V_o", word * 2 * kWords + 2 * word) = 1;  // and t = maxout(y_{i-1} V_o) is y_{i-1}
  }
  for (const auto& [word, row] : after) {
    const auto logits = logits_of(row);
    for (std::size_t next = 0; next < kWords; ++next)
      at("readout/W_o", word * kWords + next) = static_cast<float>(logits[next] - begin[next]);
  }
  return model;
}

Sentences sentences_of(std::initializer_list<std::size_t> lengths) {
  Sentences sentences;
  for (const std::size_t length : lengths) sentences.add(std::vector<WordId>(length, 4));
  return sentences;
}

// Only C and D, the third and fourth of the first words, lead to </s>.
model::Model model_of_a_wide_beam() {
  return bigram_model({{kA, 0.5}, {kB, 0.3}, {kC, 0.12}, {kD, 0.08}},
                      {{kA, {{kA, 1}}}, {kB, {{kB, 1}}}, {kC, {{kEnd, 1}}}, {kD, {{kEnd, 1}}}, {kE, {{kE, 1}}}});
}

// Only <unk> leads to </s>.
model::Model model_of_the_unknown() {
  return bigram_model(
      {{kA, 0.9}, {kUnknown, 0.1}},
      {{kA, {{kA, 1}}}, {kB, {{kB, 1}}}, {kC, {{kC, 1}}}, {kD, {{kD, 1}}}, {kE, {{kE, 1}}}, {kUnknown, {{kEnd, 1}}}});
}

// A B C D </s> takes five words, more than Tx = 2 allows with a ratio of 2; E </s> is less probable.
model::Model model_of_a_chain() {
  return bigram_model({{kA, 0.9}, {kE, 0.1}},
                      {{kA, {{kB, 1}}}, {kB, {{kC, 1}}}, {kC, {{kD, 1}}}, {kD, {{kEnd, 1}}}, {kE, {{kEnd, 1}}}});
}

void expect_translation(const Translation& translation, const std::vector<WordId>& words, double probability,
                        std::size_t retries) {
  EXPECT_TRUE(translation.finished);
  EXPECT_EQ(translation.words, words);
  EXPECT_NEAR(translation.log_probability, std::log(probability), 1e-3);
  EXPECT_EQ(translation.retries, retries);
}

void expect_cut_off(const Translation& translation, const std::vector<WordId>& words) {
  EXPECT_FALSE(translation.finished);
  EXPECT_EQ(translation.words, words);
  EXPECT_EQ(translation.retries, 0u);
}

TEST(Retry, AllowsUnknownWordsAndThenDoublesTheBeamWhileItIsBelowTheLimit) {
  auto wide = model_of_a_wide_beam(), unknown = model_of_the_unknown();
  const std::vector<WordId> cut(6, kA);  // Tx = 2: at most 6 words
  constexpr std::size_t kNever = 99;
  const auto expect = [&](model::Model& model, const SearchOptions& options, std::size_t retries) {
    const Translation found = translate(model, sentences_of({1}), options)[0][0];
    if (retries == kNever) return expect_cut_off(found, cut);
    &model == &wide ? expect_translation(found, {kC}, 0.12, retries)
                    : expect_translation(found, {kUnknown}, 0.1, retries);
  };
  expect(wide, {.beam = 4}, 0);
  expect(wide, {.beam = 2}, 1);
  expect(wide, {.beam = 1}, 2);  // 2, then 4
  for (const std::size_t retry_below : {0u, 1u, 2u}) expect(wide, {.beam = 1, .retry_below = retry_below}, kNever);
  expect(wide, {.beam = 1, .retry_below = 3}, 2);
  expect(wide, {.beam = 2, .retry_below = 2}, kNever);
  expect(unknown, {.beam = 2}, 0);
  expect(unknown, {.beam = 2, .no_unknown = true}, 1);
  expect(unknown, {.beam = 2, .no_unknown = true, .retry_below = 1}, 1);
  expect(unknown, {.beam = 2, .no_unknown = true, .retry_below = 0}, kNever);
  // With a beam of one only A is kept, <unk> or not: 1 without it, 1 with it, 2.
  expect(unknown, {.beam = 1, .no_unknown = true}, 2);
}

TEST(Retry, LeavesWhatNeverEndsAsTheFirstSearchHadIt) {
  auto model = model_of_the_unknown();
  model.parameters()[model.layout().find("readout/W_o").offset + kUnknown * kWords + kEnd] = -100;  // </s> never
  for (const bool no_unknown : {false, true}) {
    const auto retried = translate(model, sentences_of({1, 3}),
                                   {.beam = 1, .no_unknown = no_unknown, .retry_below = 4, .alignments = true});
    const auto once = translate(model, sentences_of({1, 3}),
                                {.beam = 1, .no_unknown = no_unknown, .retry_below = 0, .alignments = true});
    for (std::size_t i = 0; i < 2; ++i) {
      expect_cut_off(retried[i][0], std::vector<WordId>(i == 0 ? 6 : 12, kA));
      EXPECT_EQ(retried[i][0].log_probability, once[i][0].log_probability);
      EXPECT_EQ(retried[i][0].alignment, once[i][0].alignment);
    }
  }
}

TEST(Retry, IsNotMadeWhereTheLimitsNeverAllowAnEnd) {
  auto model = model_of_a_wide_beam();
  std::size_t ends = 0;
  const SearchOptions options{.beam = 1, .minimum_length_ratio = 2.0, .maximum_length_ratio = 2.0};
  const auto translations = translate(model, sentences_of({1, 2}), options, [&](std::size_t) { return ++ends > 0; });
  expect_cut_off(translations[0][0], std::vector<WordId>(4, kA));
  expect_cut_off(translations[1][0], std::vector<WordId>(6, kA));
  EXPECT_EQ(ends, 2u);  // each has one search
}

TEST(Retry, GivesAsManyOfTheBestAsWereAskedFor) {
  auto model = model_of_a_wide_beam();
  const auto best = translate(model, sentences_of({1}), {.beam = 2, .n_best = 2, .alignments = true})[0];
  ASSERT_EQ(best.size(), 2u);
  expect_translation(best[0], {kC}, 0.12, 1);
  expect_translation(best[1], {kD}, 0.08, 1);
  EXPECT_EQ(best[1].alignment.size(), 4u);  // D and </s>, Tx = 2
  EXPECT_EQ(translate(model, sentences_of({1}), {.beam = 1, .n_best = 1})[0].size(), 1u);
}

TEST(Retry, ConcernsOnlyTheSentencesThatNeedIt) {
  auto model = model_of_a_chain();
  const Sentences source = sentences_of({1, 4, 0, 1, 5, 3, 1});
  for (const std::size_t batch_sentences : {1u, 2u, 7u}) {
    std::vector<std::size_t> done;
    const auto translations =
        translate(model, source, {.beam = 1, .maximum_length_ratio = 2.0, .batch_sentences = batch_sentences},
                  [&](std::size_t count) {
                    done.push_back(count);
                    return true;
                  });
    for (std::size_t i = 0; i < source.size(); ++i) {
      if (source.length(i) == 0) {
        expect_translation(translations[i][0], {}, 1, 0);
      } else if (source.length(i) == 1) {
        expect_translation(translations[i][0], {kE}, 0.1, 1);
      } else {
        expect_translation(translations[i][0], {kA, kB, kC, kD}, 0.9, 0);
      }
    }
    EXPECT_TRUE(std::is_sorted(done.begin(), done.end()));
    EXPECT_EQ(done.back(), source.size());
  }
}

TEST(Retry, LeavesOutWhatWaitsForItWhenItIsStopped) {
  auto model = model_of_a_wide_beam();
  const auto translations = translate(model, sentences_of({1, 2, 1}), {.beam = 2, .batch_sentences = 1},
                                      [calls = 0](std::size_t) mutable { return ++calls < 4; });
  // Three first searches finish nothing; the first retry, of the longest sentence, is the last.
  EXPECT_TRUE(translations[0].empty());
  EXPECT_EQ(translations[1].size(), 1u);
  EXPECT_TRUE(translations[2].empty());
}

TEST(Retry, FindsTheSameOnAnyNumberOfThreads) {
  auto model = model_of_a_chain();
  const SearchOptions options{.beam = 1, .maximum_length_ratio = 2.0};
  set_thread_count(1);
  const auto one = translate(model, some_sentences(20, 5), options);
  set_thread_count(3);
  expect_same_bits(translate(model, some_sentences(20, 5), options), one);
  std::set<std::size_t> retries;
  for (const auto& found : one) retries.insert(found[0].retries);
  EXPECT_EQ(retries, (std::set<std::size_t>{0, 1}));
}

TEST(Search, GivesAnEmptyTranslationWhereNoWordIsAllowed) {
  auto model = random_model({.target_words = 3});  // <unk>, <s> and </s> alone, and the first word must be none of them
  const SearchOptions options{.beam = 3, .no_unknown = true, .retry_below = 0};
  expect_cut_off(translate(model, sentences_of({3}), options)[0].at(0), {});
}

/// The model computes NaN once it has said a word whose embedding is NaN, as a hypothesis of a wide beam does.
TEST(Search, GivesOneTranslationThatIsNanWhereTheModelComputesNan) {
  for (const std::size_t beam : {1u, 4u, 12u}) {
    auto model = random_model({.target_words = 9});
    const Sentences source = some_sentences(8, 4);
    const auto whole = translate(model, source, {.beam = beam, .n_best = beam, .retry_below = 50});
    const auto& embedding = model.layout().find("decoder/embedding");
    const WordId word = whole[0][0].words.at(0);
    model.parameters()[embedding.offset + word * embedding.stride] = std::numeric_limits<float>::quiet_NaN();
    const auto translations = translate(model, source, {.beam = beam, .n_best = beam, .retry_below = 50});
    std::size_t nan = 0;
    for (std::size_t i = 0; i < source.size(); ++i) {
      ASSERT_FALSE(translations[i].empty());
      if (!translations[i].front().is_nan()) {
        EXPECT_EQ(translations[i].front().words, whole[i].front().words) << "another hypothesis was searched";
        continue;
      }
      ++nan;
      EXPECT_EQ(translations[i].size(), 1u);
      EXPECT_TRUE(translations[i].front().words.empty() && !translations[i].front().finished);
    }
    EXPECT_GT(nan, 0u);
  }
}

TEST(Parts, EndWhereASentenceEndsOrNoFurtherWordFits) {
  for (const auto& [line, longest, ends] : std::vector<std::tuple<std::string, std::size_t, std::vector<std::size_t>>>{
           {"", 3, {0}},
           {"a . b", 3, {3}},  // a short line is one part
           {"a . b . c", 0, {5}},
           {"a . b c ? d e f", 6, {5, 8}},  // the last sentence end that fits
           {"a . b c ? d e f", 4, {2, 5, 8}},
           {"a b. c! d e f", 4, {3, 6}},     // a mark at a word's end
           {"a b c d e f g", 3, {3, 6, 7}},  // no sentence ends
           {". b c d e f", 3, {1, 4, 6}},
           {"a . \" ) b c d", 5, {4, 7}},        // closing marks belong to the sentence
           {"a . ) b ? \u201d c d", 5, {3, 8}},  // the mark after ? does not fit
           {"a .\" b c d", 3, {2, 5}},
           {"\u4f60 \u597d \u3002 \u4f60 \u597d", 4, {3, 5}},  // marks of other scripts
           {"a \u061f b \u0964 c", 3, {2, 5}},                 // the last of two marks that fits
           {"a \uffed. \uffed\" b \uffed, c d", 5, {3, 7}},    // joiner marks
           {"a \uffed. \"\uffed b \uffed, c d", 5, {2, 7}},    // an opening mark
           {"\u2581a . \u2581b c \u2581d", 4, {2, 5}}}) {      // pieces
    EXPECT_EQ(part_ends(text::split_words(line), longest), ends) << line;
  }
}

TEST(Parts, NeverHaveMoreWordsThanAllowedAndLoseNone) {
  Random random(1);
  const std::vector<std::string> some{"a", ".", ")", "\"", "b.", "?"};
  for (int round = 0; round < 200; ++round) {
    std::vector<std::string> words(random.below(60));
    for (std::string& word : words) word = some[random.below(some.size())];
    const std::size_t longest = 1 + random.below(12);
    std::size_t begin = 0;
    for (const std::size_t end : part_ends(words, longest)) {
      EXPECT_LE(end - begin, longest);
      EXPECT_TRUE(end > begin || words.empty());
      begin = end;
    }
    EXPECT_EQ(begin, words.size());
  }
}

}  // namespace
}  // namespace rnnsearch::decode
