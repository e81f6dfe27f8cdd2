#include "rnnsearch/decode/shortlist.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "rnnsearch/base/error.h"
#include "rnnsearch/decode/translate.h"
#include "tests/decode/random_model.h"
#include "tests/decode/reference_system.h"
#include "tests/support/given_bytes.h"
#include "tests/support/message_of.h"

namespace rnnsearch::decode {
namespace {

using Words = std::vector<WordId>;

LexicalTable table_of(const std::string& text, std::size_t most = 100) {
  LineSource lines(given_bytes(text), "lex", {});
  return read_lexical_table(lines, "lex", vocabulary_of({"house", "the"}), vocabulary_of({"maison", "la", "le", "les"}),
                            most);
}

Words translations(const LexicalTable& table, WordId source) {
  return {table.translations[source].begin(), table.translations[source].end()};
}

TEST(LexicalTable, HasTheMostProbableTranslationsOfEachWordFirst) {
  const std::string text =
      "la the 0.3\nle\tthe\t0.4\r\nles the 0.3\nmaison house 1e-05\nla house 0\nle the 0.1\n"
      "maison NULL 0.5\nNULL the 0.5\n</s> the 0.9\n<unk> <unk> 0.25\nmaison <unk> 0.5\n";
  const auto table = table_of(text);
  EXPECT_EQ(table.lines, 11u);
  EXPECT_EQ(table.used, 8u);
  EXPECT_EQ(translations(table, 4), (Words{5, 4, 6})) << "equally probable ones in the order of the vocabulary";
  EXPECT_EQ(translations(table, 3), (Words{3})) << "none has the probability 0";
  EXPECT_EQ(translations(table, kUnknown), (Words{3, kUnknown}));
  EXPECT_EQ(translations(table_of(text, 2), 4), (Words{5, 4}));
  EXPECT_EQ(translations(table_of(text, 0), 4), Words());
}

TEST(LexicalTable, IsRefusedWithItsLineWhereItIsDamaged) {
  const auto refusal = [](const std::string& text) { return message_of([&] { table_of(text); }); };
  for (const char* line : {"la the", "la the 0.5 0.5", "la the much", "la the -0.5", "la the 1.5", "la the nan", ""}) {
    EXPECT_NE(
        refusal(std::string("le the 0.4\n") + line + "\n").find("lex, line 2: '" + std::string(line) + "' is not"),
        std::string::npos)
        << line << ": " << refusal(std::string("le the 0.4\n") + line + "\n");
  }
  EXPECT_NE(refusal("the la 0.5\nhouse maison 1\n").find("lex: none of its 2 lines"), std::string::npos);
  EXPECT_NE(refusal("la the 0.5\xff\n").find("line 1"), std::string::npos);
}

TEST(LexicalCounts, MakeATableThatGivesTheSharesOfLinks) {
  const auto source = vocabulary_of({"house", "the"}), target = vocabulary_of({"maison", "la", "le", "les"});
  LexicalCounts counts;
  for (const auto& [s, t] : std::vector<std::pair<WordId, WordId>>{{4, 5}, {4, 4}, {3, 3}, {4, 5}, {kUnknown, 6}}) {
    counts.add(s, t);
  }
  std::string text;
  counts.for_each_line(source, target, [&](const std::string& line) { text += line + "\n"; });
  EXPECT_EQ(text, "les <unk> 1.0000000\nmaison house 1.0000000\nle the 0.6666667\nla the 0.3333333\n");
  EXPECT_EQ(translations(table_of(text), 4), (Words{5, 4}));
}

Shortlist shortlist_of(const std::vector<Words>& translations, std::size_t frequent, std::size_t target_words) {
  Sentences all;
  for (const Words& words : translations) all.add(words);
  return {all, frequent, target_words};
}

TEST(Shortlist, HasFrequentWordsTranslationsAndWhatIsGiven) {
  const auto shortlist = shortlist_of({{9}, {}, {}, {8, 4, 20}, {}, {4, 7}}, 2, 30);
  EXPECT_EQ(shortlist.words_for(Words{3, 5, 3}), (Words{0, 1, 2, 3, 4, 7, 8, 20}));
  EXPECT_EQ(shortlist.words_for(Words{4}, Words{25, 3}), (Words{0, 1, 2, 3, 4, 25}));
  EXPECT_EQ(shortlist.words_for(Words{kUnknown}), (Words{0, 1, 2, 3, 4, 9}));
  EXPECT_EQ(shortlist_of({{}}, 100, 5).words_for(Words{0}), (Words{0, 1, 2, 3, 4})) << "the whole vocabulary";
}

constexpr std::size_t kTargetWords = 60;

// Each source word has translations of its own, some of which another one has, too.
std::shared_ptr<const Shortlist> some_shortlist(std::size_t frequent = 2) {
  std::vector<Words> translations;
  for (WordId s = 0; s < kSourceWords; ++s) {
    translations.push_back(
        {static_cast<WordId>(5 + 4 * s), static_cast<WordId>(8 + 4 * s), static_cast<WordId>(9 + 4 * s)});
  }
  return std::make_shared<Shortlist>(shortlist_of(translations, frequent, kTargetWords));
}

SearchOptions searched(std::size_t beam, std::shared_ptr<const Shortlist> shortlist) {
  SearchOptions options{.beam = beam, .n_best = beam, .retry_below = 0};
  options.shortlist = std::move(shortlist);
  return options;
}

TEST(Shortlist, OfTheWholeVocabularyChangesNoBit) {
  auto model = random_model({.target_words = kTargetWords, .seed = 1});
  auto other = random_model({.target_words = kTargetWords, .seed = 2});
  const Sentences source = some_sentences(20, 7);
  const Ensemble both({&model, &other}, {1, 2}, EnsembleMean::kProbabilities);
  for (const std::size_t beam : {1u, 4u}) {
    for (const Ensemble& ensemble : {Ensemble(model), both}) {
      expect_same_bits(translate(ensemble, source, searched(beam, some_shortlist(kTargetWords))),
                       translate(ensemble, source, searched(beam, nullptr)), "beam " + std::to_string(beam));
    }
  }
}

// A model whose words outside the list are never produced, because b_w makes them impossible: their exponentials are 0.
reference::System restricted(const model::Model& model, const Words& words, double weight) {
  auto system = system_of(model, weight);
  auto& bias = system.parameters.at("readout/b_w").values;
  for (WordId word = 0; word < bias.size(); ++word) {
    if (!std::binary_search(words.begin(), words.end(), word)) bias[word] = -1e30;
  }
  return system;
}

TEST(Shortlist, HasTheHypothesesOfTheReferenceWithoutTheOtherWords) {
  auto model = random_model({.target_words = kTargetWords, .seed = 1});
  auto other = random_model({.target_words = kTargetWords, .seed = 4});
  for (auto* one : {&model, &other}) {  // so that translations end
    one->parameters()[one->layout().find("readout/b_w").offset + kEnd] += 2;
  }
  const Sentences source = some_sentences(25, 6);
  const auto shortlist = some_shortlist();
  std::size_t differ = 0, finished = 0;
  for (const bool ensemble : {false, true}) {
    const Ensemble models =
        ensemble ? Ensemble({&model, &other}, {1, 3}, EnsembleMean::kProbabilities) : Ensemble(model);
    const auto found = translate(models, source, searched(3, shortlist)),
               all = translate(models, source, searched(3, nullptr));
    for (std::size_t i = 0; i < source.size(); ++i) {
      const Words words = shortlist->words_for(source[i]);
      std::vector<reference::System> systems{restricted(model, words, ensemble ? 0.25 : 1)};
      if (ensemble) systems.push_back(restricted(other, words, 0.75));
      const auto Tx = static_cast<std::size_t>(source.length(i) + 1);
      const auto expected =
          reference::beam_search(systems, source[i], {.beam = 3, .shortest = Tx / 2, .longest = 3 * Tx});
      expect_same(found[i], expected, fmt::format("sentence {}", i));
      finished += found[i].front().finished ? 1 : 0;
      differ += found[i][0].words != all[i][0].words ? 1 : 0;
    }
  }
  EXPECT_GT(finished, 10u);
  EXPECT_GT(differ, 10u) << "the shortlist changes too little";
}

TEST(Shortlist, HasRoomForPrefixesRequiredPhrasesRetriesAndSamples) {
  auto model = random_model({.target_words = kTargetWords, .seed = 1});
  Sentences source;
  source.add(Words{3, 4});
  source.add(Words{5});
  std::vector<PerSentence> prefixed(2), required(2);
  prefixed[0].prefix = {58, 57};
  required[0].required = RequiredWords({{56, 55}, {59}}, nullptr);
  const auto shortlist = some_shortlist();
  const auto with_prefix = translate(model, source, searched(3, shortlist), {}, prefixed);
  EXPECT_EQ(Words(with_prefix[0][0].words.begin(), with_prefix[0][0].words.begin() + 2), (Words{58, 57}));
  EXPECT_GT(with_prefix[0][0].log_probability, -1e3);
  const auto plain = translate(model, source, searched(8, shortlist));
  const auto with_phrases = translate(model, source, searched(8, shortlist), {}, required);
  EXPECT_EQ(with_phrases[0][0].unmet, 0u);
  EXPECT_EQ(with_phrases[1][0].words, plain[1][0].words) << "a sentence without phrases has its own list";
  EXPECT_EQ(with_phrases[1][0].word_scores, plain[1][0].word_scores);

  SearchOptions options = searched(2, shortlist);
  options.no_unknown = true;
  options.sampling = Sampling{};
  options.n_best = 50;
  const auto samples = translate(model, source, options);
  for (std::size_t i = 0; i < source.size(); ++i) {
    const Words words = shortlist->words_for(source[i]);
    for (const Translation& sample : samples[i]) {
      for (const WordId word : sample.words) EXPECT_TRUE(std::binary_search(words.begin(), words.end(), word));
    }
  }
}

}  // namespace
}  // namespace rnnsearch::decode
