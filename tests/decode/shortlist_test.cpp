#include "rnnsearch/decode/shortlist.h"

#include "rnnsearch/decode/constraints.h"
#include "rnnsearch/decode/translate.h"
#include "rnnsearch/decode/translate_lines.h"
#include "tests/decode/random_model.h"
#include "tests/decode/reference_search.h"
#include "tests/support/given_bytes.h"
#include "tests/support/test.h"

namespace rnnsearch::decode {
namespace {

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
  for (const auto& [s, t] : std::vector<std::pair<WordId, WordId>>{{4, 5}, {4, 4}, {3, 3}, {4, 5}, {kUnknown, 6}})
    counts.add(s, t);
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
  for (WordId word = 0; word < bias.size(); ++word)
    if (!std::binary_search(words.begin(), words.end(), word)) bias[word] = -1e30;
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
    for (const Translation& sample : samples[i])
      for (const WordId word : sample.words) EXPECT_TRUE(std::binary_search(words.begin(), words.end(), word));
  }
}

// Where a source has a term of the glossary, the translation has the target term, and is the best one that has it.
using Strings = std::vector<std::string>;

corpus::TextPipeline plain() {
  corpus::TextPipeline pipeline;
  pipeline.tokenizer = "none";
  return pipeline;
}

TEST(Glossary, FindsTheLongestTermsFromLeftToRightEachOnce) {
  const auto pipeline = plain();
  const Glossary glossary({"a b\tx", "", "b\ty", "b c d\tz w", "e\tx"}, "terms", pipeline);
  EXPECT_EQ(glossary.terms({"a", "b", "c", "d"}), Strings{"x"});
  EXPECT_EQ(glossary.terms({"b", "c", "d", "b", "c", "b"}), (Strings{"z w", "y"}));
  EXPECT_EQ(glossary.terms({"e", "ab", "a", "b"}), Strings{"x"});
  EXPECT_EQ(glossary.terms({}), Strings());
}

TEST(Glossary, ReadsWordsAsThePipelineDoes) {
  corpus::TextPipeline pipeline;
  pipeline.lowercase = true;
  pipeline.source_subwords = pipeline.target_subwords = text::Subwords::byte_pair_codes("#version: 0.2\nc a\n");
  const Glossary glossary({"Cat\tchat", "New York\tNew York"}, "terms", pipeline);
  const auto terms = [&](const std::string& line) {
    return glossary.terms(pipeline.to_words(line, corpus::Side::kSource));
  };
  EXPECT_EQ(terms("the cat."), Strings{"chat"});
  EXPECT_EQ(terms("catalog"), Strings());
  EXPECT_EQ(terms("(new york) CAT"), (Strings{"New York", "chat"}));
}

TEST(Glossary, IsRefusedWithItsLineWhereItIsDamaged) {
  const auto pipeline = plain();
  for (const auto& [line, why] : std::vector<std::pair<std::string, std::string>>{
           {"a b", "is not a source term, a tab and a target term"},
           {"a\tb\tc", "is not a source term, a tab and a target term"},
           {"\tb", "has no words on one side of the tab"},
           {"a\t ", "has no words on one side of the tab"},
           {"x\tz", "translates a source term for which an earlier line has 'y'"}}) {
    const std::string said = message_of([&, &bad = line] { Glossary({"x\ty", "x\ty", bad}, "terms", pipeline); });
    EXPECT_TRUE(said.starts_with("terms, line 3: '")) << said;
    EXPECT_NE(said.find(why), std::string::npos) << said;
  }
}

TEST(Glossary, GivesTheBestOfAllTranslationsThatHaveTheTermsWhenTheBeamIsWide) {
  const auto pipeline = plain();
  const auto source = vocabulary_of({"a", "b", "c", "d", "e", "f", "g", "h", "i"}),
             target = vocabulary_of({"u", "v", "w", "x"});
  auto model = random_model({.target_words = target.size(), .seed = 5});
  ASSERT_EQ(source.size(), kSourceWords);
  const comm::Communicator alone;
  const Translator translator{model, source, target, pipeline};
  TranslationOptions options;
  options.search = {.beam = 20000, .minimum_length_ratio = 0.5, .maximum_length = 5, .retry_below = 0};
  options.spelling = std::make_shared<corpus::Spelling>(target, pipeline);
  const InputLines input{{"a b", "b a", "c", "a", "d e"}, {"test", 0}, {}, {}};
  const auto free = translate_lines(translator, input, options, alone);
  options.glossary =
      std::make_shared<Glossary>(Strings{"a b\tx u", "a\tu v", "b\tw", "c\tx", "d\tv u"}, "terms", pipeline);
  const std::vector<Strings> terms{{"x u"}, {"w", "u v"}, {"x"}, {"u v"}, {"v u"}};
  const auto found = translate_lines(translator, input, options, alone);
  const reference::System systems[] = {system_of(model)};
  std::size_t changed = 0;
  for (std::size_t i = 0; i < input.lines.size(); ++i) {
    std::vector<std::string> spans;
    const auto ids = ids_of(source_words(translator, input.lines[i], spans), source);
    reference::SearchSettings settings;
    settings.shortest = (ids.size() + 1) / 2;
    settings.longest = 5;
    std::string best;
    for (const auto& one : reference::exhaustive_search(systems, ids, settings)) {  // the best first
      std::string text;
      for (const WordId word : one.words) text += (text.empty() ? "" : " ") + target.word_in_text(word);
      const auto has = [&](const std::string& term) { return (" " + text + " ").find(" " + term + " ") != text.npos; };
      if (!std::all_of(terms[i].begin(), terms[i].end(), has)) continue;
      best = text;
      break;
    }
    EXPECT_EQ(found[i].front().text, best) << input.lines[i];
    EXPECT_EQ(found[i].front().unmet, 0u);
    changed += found[i].front().text != free[i].front().text ? 1 : 0;
  }
  EXPECT_GT(changed, 2u);
}

// A long line is still translated in parts, each with the terms that it has.
TEST(Glossary, HoldsForEachPartOfALongLine) {
  const auto pipeline = plain();
  const auto source = vocabulary_of({"a", "b", "c", "d", "e", "f", "g", "h", "."}),
             target = vocabulary_of({"u", "v", "w", "x"});
  auto model = random_model({.target_words = target.size(), .seed = 5});
  const comm::Communicator alone;
  const Translator translator{model, source, target, pipeline};
  TranslationOptions options;
  options.search.beam = 12;
  options.maximum_source_length = 4;
  options.spelling = std::make_shared<corpus::Spelling>(target, pipeline);
  options.glossary = std::make_shared<Glossary>(Strings{"a\tu v", "b\tw w new"}, "terms", pipeline);
  const auto found = translate_lines(translator, {{"c a d . b c d ."}, {"test", 0}, {}, {"w w new"}}, options, alone);
  EXPECT_EQ(found[0].front().parts, 1u) << "a line with phrases of its own";
  EXPECT_EQ(found[0].front().unmet, 0u);
  const auto parts = translate_lines(translator, {{"c a d . b c d ."}, {"test", 0}, {}, {}}, options, alone);
  const std::string& text = parts[0].front().text;
  EXPECT_EQ(parts[0].front().parts, 2u);
  EXPECT_LT(text.find("u v"), text.find("w w new"));
  EXPECT_NE(text.find("w w new"), text.npos) << text;
}

}  // namespace
}  // namespace rnnsearch::decode
