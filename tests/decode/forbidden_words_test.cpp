// No translation has a forbidden phrase, however it was split; and nothing else is forbidden.
#include "rnnsearch/decode/constraints.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "rnnsearch/decode/translate.h"
#include "tests/decode/random_model.h"
#include "tests/decode/reference_system.h"

namespace rnnsearch::decode {
namespace {

using Words = std::vector<WordId>;

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
          for (const std::string& phrase : writing.phrases) {
            EXPECT_FALSE(has_phrase(text, phrase)) << text << " has " << phrase;
          }
        }
        changed += found[i].front().words != plain[i].front().words ? 1 : 0;
      }
    }
    EXPECT_GT(changed, 10u) << writing.name;
    EXPECT_GT(cut_off, 3u) << writing.name;
  }
}

}  // namespace
}  // namespace rnnsearch::decode
