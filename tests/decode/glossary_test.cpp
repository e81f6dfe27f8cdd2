// Where a source has a term of the glossary, the translation has the target term, and is the best one that has it.
#include "rnnsearch/decode/constraints.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "rnnsearch/base/error.h"
#include "rnnsearch/decode/translate_lines.h"
#include "tests/decode/random_model.h"
#include "tests/decode/reference_system.h"
#include "tests/support/message_of.h"

namespace rnnsearch::decode {
namespace {

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
