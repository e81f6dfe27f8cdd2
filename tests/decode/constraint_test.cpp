// Searches without repeated n-grams and with the repetition penalty find the best of all translations, by definition.
#include "rnnsearch/decode/translate.h"

#include "rnnsearch/base/portable.h"
#include "rnnsearch/decode/constraints.h"
#include "tests/decode/random_model.h"
#include "tests/decode/reference_search.h"
#include "tests/support/test.h"

namespace rnnsearch::decode {
namespace {

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
      for (const Translation& translation : found)
        EXPECT_NEAR(translation.log_probability, expected.at(translation.words), 1e-4 * penalty);
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

// No translation has a forbidden phrase, however it was split; and nothing else is forbidden.
struct Writing {
  std::string name;
  std::vector<std::string> pieces, phrases;
  corpus::TextPipeline pipeline;
};

std::vector<Writing> writings() {
  std::vector<Writing> all;
  corpus::TextPipeline words;
  words.tokenizer = "none";
  all.push_back({"words", {"cat", "catalog", "black", "the"}, {"cat", "black the"}, words});
  corpus::TextPipeline codes = words;
  codes.source_subwords = codes.target_subwords = text::Subwords::byte_pair_codes("#version: 0.2\nc a\na t</w>\n");
  all.push_back({"codes", {"ca@@", "t", "cat", "alog", "c@@", "at"}, {"cat", "alog ca", "ca"}, codes});
  corpus::TextPipeline line = words;
  text::SubwordTraining training;
  training.algorithm = "bpe";
  training.pieces = 300;
  training.exactly = false;
  line.source_subwords = line.target_subwords =
      text::train_subwords({"the cat sat on the catalog", "black cats and the cat!", "a cat"}, training);
  all.push_back({"line", {"\u2581ca", "t", "\u2581cat", "alog", "!", "\u2581"}, {"cat", "ca !", "catt"}, line});
  return all;
}

/// The text of a translation, in which punctuation stands apart from words.
std::string text_of(const Writing& writing, const corpus::Vocabulary& vocabulary, const Words& words) {
  std::vector<std::string> pieces;
  for (const WordId word : words) pieces.push_back(vocabulary.word_in_text(word));
  std::string text;
  if (writing.name == "line") {  // pieces that its model does not know, so that it cannot join them
    for (const std::string& piece : pieces) text += piece == corpus::kUnknownInText ? " " + piece + " " : piece;
    for (std::size_t at = 0; (at = text.find("\u2581", at)) != text.npos;) text.replace(at, 3, 1, ' ');
  } else {
    text = writing.pipeline.to_text(pieces);
  }
  for (std::size_t at = 0; (at = text.find('!', at)) != text.npos; at += 3) text.replace(at, 1, " ! ");
  return text;
}

/// Whether a text has the words of a phrase, one after the other.
bool has_phrase(const std::string& text, const std::string& phrase) {
  const auto words = text::split_words(text), wanted = text::split_words(phrase);
  return std::search(words.begin(), words.end(), wanted.begin(), wanted.end()) != words.end();
}

TEST(Forbidden, TheSearchFindsTheBestOfAllOtherTranslationsWhenTheBeamIsWide) {
  for (const Writing& writing : writings()) {
    const corpus::Vocabulary vocabulary = vocabulary_of(writing.pieces);
    const corpus::Spelling spelling(vocabulary, writing.pipeline);
    auto model = random_model({.target_words = vocabulary.size(), .seed = 5});
    const reference::System systems[] = {system_of(model)};
    Sentences source;
    source.add(Words{5});
    SearchOptions options{.beam = 9000, .n_best = 9000, .maximum_length_ratio = 2.5, .retry_below = 0};
    options.forbidden = std::make_shared<ForbiddenWords>(writing.phrases, spelling);
    const auto found = translate(model, source, options)[0];
    reference::SearchSettings settings;
    settings.shortest = 1;
    settings.longest = 5;
    auto expected = reference::exhaustive_search(systems, source[0], settings);
    const std::size_t all = expected.size();
    std::erase_if(expected, [&](const auto& hypothesis) {
      const std::string text = text_of(writing, vocabulary, hypothesis.words);
      return std::any_of(writing.phrases.begin(), writing.phrases.end(),
                         [&](const std::string& phrase) { return has_phrase(text, phrase); });
    });
    ASSERT_LT(expected.size(), all) << writing.name;
    ASSERT_GT(expected.size(), all / 20) << writing.name;
    expect_same(found, expected, writing.name);
  }
}

TEST(Forbidden, NothingHasAPhraseHoweverItIsTranslatedAndEnds) {
  for (const Writing& writing : writings()) {
    const corpus::Vocabulary vocabulary = vocabulary_of(writing.pieces);
    const corpus::Spelling spelling(vocabulary, writing.pipeline);
    auto model = random_model({.target_words = vocabulary.size(), .seed = 4});
    const Sentences source = some_sentences(30, 6);
    std::size_t changed = 0, cut_off = 0;
    for (const std::size_t kind : {0u, 1u, 2u, 3u}) {
      SearchOptions options{.beam = kind == 0 ? 1u : 4u, .n_best = kind == 0 ? 1u : 4u, .retry_below = 0};
      if (kind == 1) options.minimum_length = options.maximum_length.emplace(3);  // none can end
      if (kind == 2) options.sampling.emplace();
      if (kind == 3) {
        options.groups = 2;
        options.diversity = 0.5;
      }
      const auto plain = translate(model, source, options);
      options.forbidden = std::make_shared<ForbiddenWords>(writing.phrases, spelling);
      const auto found = translate(model, source, options);
      options.batch_sentences = 3;
      const auto again = translate(model, source, options);
      for (std::size_t i = 0; i < source.size(); ++i) {
        ASSERT_EQ(found[i].size(), again[i].size());
        for (std::size_t k = 0; k < found[i].size(); ++k) {
          EXPECT_EQ(found[i][k].words, again[i][k].words);
          EXPECT_NEAR(found[i][k].log_probability, again[i][k].log_probability, 1e-4);
          cut_off += found[i][k].finished ? 0 : 1;
          const std::string text = text_of(writing, vocabulary, found[i][k].words);
          for (const std::string& phrase : writing.phrases)
            EXPECT_FALSE(has_phrase(text, phrase)) << text << " has " << phrase;
        }
        changed += found[i].front().words != plain[i].front().words ? 1 : 0;
      }
    }
    EXPECT_GT(changed, 10u) << writing.name;
    EXPECT_GT(cut_off, 3u) << writing.name;
  }
}

// Searches for translations with required phrases against a slow one in float64, written from the paper.
/// Where the phrases of a sentence stand with a hypothesis, looked up anew in all its words: Post and Vilar (2018),
/// section 3. The words of a phrase count once it is complete, or as long as it is being written.
struct Progress {
  std::vector<bool> met;
  Words current;  // the words of the phrase that is being written
  std::size_t count = 0;

  Progress(const Words& words, const std::vector<Words>& phrases) : met(phrases.size(), false) {
    for (const WordId word : words) {
      const auto take = [&] {
        for (std::size_t i = 0; i < phrases.size(); ++i) {
          if (met[i] || current.size() >= phrases[i].size()) continue;
          if (!std::equal(current.begin(), current.end(), phrases[i].begin())) continue;
          if (phrases[i][current.size()] != word) continue;
          current.push_back(word);
          if (current.size() == phrases[i].size()) {
            met[i] = true;
            current.clear();
          }
          return true;
        }
        return false;
      };
      if (take() || current.empty()) continue;
      current.clear();
      take();
    }
    count = current.size();
    for (std::size_t i = 0; i < phrases.size(); ++i) count += met[i] ? phrases[i].size() : 0;
  }
  bool all() const { return std::count(met.begin(), met.end(), true) == static_cast<std::ptrdiff_t>(met.size()); }
  std::set<WordId> next(const std::vector<Words>& phrases) const {
    std::set<WordId> words;
    for (std::size_t i = 0; i < phrases.size(); ++i) {
      if (!met[i] && phrases[i].size() > current.size() &&
          std::equal(current.begin(), current.end(), phrases[i].begin())) {
        words.insert(phrases[i][current.size()]);
      }
    }
    return words;
  }
};

/// Dynamic beam allocation of Post and Vilar (2018), section 3.
std::vector<reference::Hypothesis> allocated_search(reference::Space& space, std::size_t beam,
                                                    const std::vector<Words>& phrases) {
  std::vector<reference::Hypothesis> live(1), finished;
  std::size_t total = 0;
  for (const Words& phrase : phrases) total += phrase.size();
  for (std::size_t t = 0; t < space.settings().longest && !live.empty() && finished.size() < beam; ++t) {
    struct Item {
      double score;
      std::size_t of;
      WordId word;
      bool operator<(const Item& other) const {
        return score != other.score ? score > other.score : std::pair(of, word) < std::pair(other.of, other.word);
      }
    };
    std::set<Item> all, chosen;  // best first
    for (std::size_t i = 0; i < live.size(); ++i) {
      const auto& row = space.after(live[i].words).log_probabilities;
      const Progress progress(live[i].words, phrases);
      const auto item = [&](WordId word) { return Item{live[i].log_probability + row[word], i, word}; };
      std::set<Item> of_row;
      for (WordId word = 0; word < row.size(); ++word)
        if (space.allowed(t, word) && (word != kEnd || progress.all())) of_row.insert(item(word));
      if (!of_row.empty()) chosen.insert(*of_row.begin());
      for (const WordId word : progress.next(phrases)) chosen.insert(item(word));
      all.insert(of_row.begin(), of_row.end());
    }
    const std::size_t room = beam - finished.size();
    for (const Item& item : all)
      if (std::distance(all.begin(), all.find(item)) < static_cast<std::ptrdiff_t>(room)) chosen.insert(item);
    std::vector<reference::Hypothesis> next_of;
    std::vector<std::size_t> bank;
    for (const Item& item : chosen) {
      next_of.push_back(space.extended(live[item.of], item.word));
      bank.push_back(Progress(next_of.back().words, phrases).count);
    }
    // Equal shares, the rest to the last bank; what a bank cannot fill goes to the one before it.
    std::vector<std::size_t> share(total + 1, room / (total + 1));
    share[total] += room % (total + 1);
    for (std::size_t b = total + 1; b-- > 0;) {
      const auto there = static_cast<std::size_t>(std::count(bank.begin(), bank.end(), b));
      if (share[b] <= there) continue;
      share[b == 0 ? total : b - 1] += share[b] - there;
      share[b] = there;
    }
    live.clear();
    for (std::size_t k = 0; k < next_of.size(); ++k) {
      if (share[bank[k]] == 0) continue;
      --share[bank[k]];
      (next_of[k].finished ? finished : live).push_back(next_of[k]);
    }
  }
  std::vector<reference::Hypothesis> result = finished.empty() ? live : finished;
  const auto met = [&](const auto& found) {
    const Progress progress(found.words, phrases);
    return std::count(progress.met.begin(), progress.met.end(), true);
  };
  std::stable_sort(result.begin(), result.end(), [&](const auto& a, const auto& b) {
    return met(a) != met(b) ? met(a) > met(b) : a.log_probability > b.log_probability;
  });
  return result;
}

/// Some of the sentences have one or two phrases of one to three words; the others have none.
std::vector<std::vector<Words>> some_phrases(std::size_t sentences, std::uint64_t seed) {
  Random random(seed);
  std::vector<std::vector<Words>> all(sentences);
  for (std::size_t i = 0; i < sentences; ++i) {
    const std::size_t count = i % 3;
    for (std::size_t k = 0; k < count; ++k) {
      Words phrase(1 + random.below(3));
      // Phrases of a sentence begin with different words, none of which another word of a phrase equals.
      for (std::size_t w = 0; w < phrase.size(); ++w) phrase[w] = static_cast<WordId>(3 + 3 * k + w);
      std::rotate(phrase.begin(), phrase.begin() + static_cast<std::ptrdiff_t>(random.below(phrase.size())),
                  phrase.end());
      all[i].push_back(phrase);
    }
  }
  return all;
}

std::vector<PerSentence> requiring(const std::vector<std::vector<Words>>& phrases) {
  std::vector<PerSentence> per_sentence;
  for (const auto& of_sentence : phrases) per_sentence.push_back({{}, 0, RequiredWords(of_sentence, nullptr)});
  return per_sentence;
}

bool contains(const Words& words, const Words& phrase) {
  return std::search(words.begin(), words.end(), phrase.begin(), phrase.end()) != words.end();
}

TEST(Required, FindsWhatDynamicBeamAllocationFinds) {
  auto model = random_model({.target_words = 13, .seed = 1});
  const Sentences source = some_sentences(30, 6);
  const auto phrases = some_phrases(source.size(), 5);
  for (const std::size_t beam : {1u, 3u, 6u, 11u}) {
    SearchOptions options{.beam = beam, .n_best = beam, .retry_below = 0, .batch_sentences = 7};
    const auto plain = translate(model, source, options);
    const auto found = translate(model, source, options, {}, requiring(phrases));
    for (std::size_t i = 0; i < source.size(); ++i) {
      if (phrases[i].empty()) {
        ASSERT_EQ(found[i].size(), plain[i].size());
        for (std::size_t k = 0; k < found[i].size(); ++k) {
          EXPECT_EQ(found[i][k].words, plain[i][k].words) << "a sentence without phrases changes";
          EXPECT_NEAR(found[i][k].log_probability, plain[i][k].log_probability, 1e-5);
        }
        continue;
      }
      reference::Space space = space_of(model, source[i]);
      expect_same(found[i], allocated_search(space, beam, phrases[i]), fmt::format("sentence {}", i));
    }
  }
}

TEST(Required, AllStandInEveryTranslationThatHasRoomForThem) {
  auto model = random_model({.target_words = 13, .seed = 8});
  const Sentences source = some_sentences(60, 6, 9);
  const auto phrases = some_phrases(source.size(), 6);
  std::size_t feasible = 0, infeasible = 0;
  for (const std::size_t beam : {1u, 2u, 5u}) {
    const auto found = translate(model, source, {.beam = beam, .n_best = beam}, {}, requiring(phrases));
    for (std::size_t i = 0; i < source.size(); ++i) {
      std::size_t words = 0;
      for (const Words& phrase : phrases[i]) words += phrase.size();
      if (words > 0) ++(words < 3 * (source.length(i) + 1) ? feasible : infeasible);
      for (const Translation& translation : found[i]) {
        std::size_t unmet = 0;
        for (const Words& phrase : phrases[i]) unmet += contains(translation.words, phrase) ? 0 : 1;
        EXPECT_EQ(translation.unmet, unmet);
        const bool best_of_feasible = words < 3 * (source.length(i) + 1) && &translation == &found[i].front();
        if (best_of_feasible || translation.finished) {
          EXPECT_EQ(unmet, 0u) << i;
        }
      }
    }
  }
  EXPECT_GT(feasible, 50u);
}

TEST(Required, AsManyAsFitStandInATranslationWithoutRoomForAll) {
  auto model = random_model({.target_words = 13, .seed = 8});
  const Sentences source = some_sentences(10, 6, 9);
  std::vector<std::vector<Words>> phrases(source.size(), {{3, 4}, {5}, {6, 7, 8}});
  for (const std::size_t room : {2u, 3u, 5u}) {
    SearchOptions options{.beam = 4, .n_best = 4, .minimum_length_ratio = 0, .maximum_length = room};
    const auto found = translate(model, source, options, {}, requiring(phrases));
    for (const auto& of_sentence : found) {
      // Banks count words, so of three words the best may be of two phrases or of one; five are of two at least.
      EXPECT_LE(of_sentence.front().unmet, room == 5 ? 1u : 2u);
      for (const auto& translation : of_sentence) EXPECT_GE(translation.unmet, of_sentence.front().unmet);
      EXPECT_FALSE(of_sentence.front().finished);
      EXPECT_EQ(of_sentence.front().retries, 0u);
    }
  }
}

TEST(Required, StandsBehindThePrefixUnlessItStandsInIt) {
  auto model = random_model({.target_words = 13, .seed = 1});
  const Sentences source = some_sentences(4, 6);
  auto of = requiring({{{4}}, {{4}}, {{5, 6}}, {}});
  const std::vector<PerSentence> only_prefixes{{{3, 4}}, {{7}}, {{8, 5}}, {{9}}};
  for (std::size_t i = 0; i < 4; ++i) of[i].prefix = only_prefixes[i].prefix;
  const SearchOptions options{.beam = 5};
  const auto found = translate(model, source, options, {}, of);
  const auto free = translate(model, source, options, {}, only_prefixes);
  EXPECT_EQ(found[0].front().words, free[0].front().words) << "the prefix has the phrase already";
  EXPECT_TRUE(contains(found[1].front().words, {4}));
  EXPECT_TRUE(contains(found[2].front().words, {5, 6}));
  for (std::size_t i = 0; i < 4; ++i)
    EXPECT_TRUE(std::equal(of[i].prefix.begin(), of[i].prefix.end(), found[i].front().words.begin()));
}

TEST(Required, OfPhrasesThatBeginAlikeEachIsWritten) {
  RequiredWords required({{3, 4}, {3, 5}}, nullptr);
  auto state = required.start();
  EXPECT_EQ(required.next_words(state), (Words{3}));
  state = required.after(state, 3);
  EXPECT_EQ(required.next_words(state), (Words{4, 5}));
  state = required.after(state, 5);
  EXPECT_EQ(RequiredWords::phrases_met(state), 1u);
  EXPECT_FALSE(required.allows(state, kEnd));
  state = required.after(required.after(state, 3), 7);
  EXPECT_EQ(state.words_met, 2u) << "the words of a phrase that breaks off no longer count";
  state = required.after(required.after(state, 3), 4);
  EXPECT_TRUE(required.allows(state, kEnd));
  const auto phrase_words = required.phrase_words({3, 5, 3, 7, 3, 4});
  EXPECT_EQ(phrase_words[1]->phrase, 1u);
  EXPECT_FALSE(phrase_words[2] || phrase_words[3]);
  EXPECT_EQ(phrase_words[4]->phrase, 0u);
}

TEST(Banks, ShareTheBeamAndPassOnWhatTheyCannotFill) {
  EXPECT_EQ(bank_sizes(7, {9, 9, 9}), (std::vector<std::size_t>{2, 2, 3}));
  EXPECT_EQ(bank_sizes(6, {9, 1, 0}), (std::vector<std::size_t>{5, 1, 0}));
  EXPECT_EQ(bank_sizes(1, {3, 1, 0}), (std::vector<std::size_t>{0, 1, 0}));
  EXPECT_EQ(bank_sizes(6, {1, 0, 9}), (std::vector<std::size_t>{1, 0, 5}));
}

}  // namespace
}  // namespace rnnsearch::decode
