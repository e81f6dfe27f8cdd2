#include "rnnsearch/corpus/corpus.h"

#include <nlohmann/json.hpp>

#include "rnnsearch/base/file.h"
#include "rnnsearch/corpus/format.h"
#include "rnnsearch/corpus/vocabulary.h"
#include "rnnsearch/storage/sealed_file.h"
#include "rnnsearch/text/tokenizer.h"
#include "rnnsearch/text/unicode.h"
#include "tests/corpus/tiny_corpus.h"
#include "tests/support/test.h"

namespace rnnsearch::corpus {
namespace {

using CorpusFile = ScratchTest;

TEST_F(CorpusFile, ReadsTheSamePairsInAnyPortion) {
  PrepareOptions options = tiny_options(scratch_, 50);
  prepare(options);
  const Corpus corpus(options.output, Verify::kSkip);
  ASSERT_EQ(corpus.train_pairs(), 50u);
  const PairBlock whole = corpus.read_pairs(0, 50);
  EXPECT_EQ(corpus.train_source_words(), whole.source.words.size());
  for (std::uint64_t first = 0; first <= 50; first += 5) {
    for (std::uint64_t count = 0; count <= 50 - first; count += 3) {
      const PairBlock part = corpus.read_pairs(first, count);
      const auto lengths = corpus.read_lengths(first, count);
      ASSERT_EQ(part.source.size(), count);
      ASSERT_EQ(part.target.size(), count);
      ASSERT_EQ(lengths[0].size(), count);
      for (std::uint64_t i = 0; i < count; ++i) {
        ASSERT_THAT(part.source[i], testing::ElementsAreArray(whole.source[first + i]));
        ASSERT_THAT(part.target[i], testing::ElementsAreArray(whole.target[first + i]));
        ASSERT_EQ(lengths[0][i], part.source.length(i));
        ASSERT_EQ(lengths[1][i], part.target.length(i));
        ASSERT_EQ(corpus.source_vocabulary().word(part.source[i][0]), "p" + std::to_string(first + i));
      }
    }
  }
}

TEST_F(CorpusFile, IsRefusedInOneSentenceWhenTruncatedOrWithABitFlipped) {
  PrepareOptions options = tiny_options(scratch_, 20);
  prepare(options);
  const std::string whole = read_file(options.output);
  const auto refused = [&](const std::string& bytes) {
    write_text(scratch_ / "damaged.h5", bytes);
    return message_of([&] { Corpus corpus(scratch_ / "damaged.h5"); });
  };
  for (std::size_t length = 0; length < whole.size(); length += 1 + whole.size() / 50)
    ASSERT_THAT(refused(whole.substr(0, length)),
                AllOf(StartsWith("corpus: "), testing::ContainsRegex("truncated|empty"), HasSubstr("damaged.h5")));
  for (std::size_t k = 0; k < 60; ++k) {
    std::string flipped = whole;
    const std::size_t at = k * (whole.size() - 1) / 59;
    flipped[at] = static_cast<char>(flipped[at] ^ (1 << (k % 8)));
    ASSERT_THAT(refused(flipped), testing::ContainsRegex("damaged \\(|another kind")) << at;
  }
}

TEST_F(CorpusFile, IsToldFromOtherKindsOfFilesAndOtherVersions) {
  const auto refusal = [&](const std::filesystem::path& path) { return message_of([&] { Corpus corpus(path); }); };
  EXPECT_THAT(refusal(scratch_ / "none.h5"), AllOf(HasSubstr("none.h5"), HasSubstr("No such file")));
  EXPECT_THAT(refusal(write_text(scratch_ / "text.h5", "one sentence a line\n")), HasSubstr("another kind"));
  EXPECT_THAT(refusal(write_text(scratch_ / "zip.h5", "PK\x03\x04" + std::string(500, '\1'))),
              HasSubstr("another kind"));
  for (const auto& [name, format, version] :
       {std::tuple{"checkpoint.h5", "rnnsearch-checkpoint", storage::kFormatVersion},
        {"earlier.h5", kCorpusFormat, storage::kFormatVersion - 1}}) {
    storage::SealedWriter writer(scratch_ / name);
    storage::write_format(writer.file(), format);
    writer.file().write_attribute("/", "format_version", version);
    writer.publish();
  }
  EXPECT_THAT(refusal(scratch_ / "checkpoint.h5"),
              AllOf(HasSubstr("rnnsearch-checkpoint"), HasSubstr("rnnsearch-corpus")));
  EXPECT_THAT(refusal(scratch_ / "earlier.h5"), AllOf(HasSubstr("version 4"), HasSubstr("rnnsearch prepare")));
}

/// A sealed file, good unless told otherwise.
struct Content {
  std::vector<std::uint64_t> source_offset{0, 2, 3}, target_offset{0, 1, 2};
  std::vector<WordId> source_words{3, 3, 0}, target_words{3, 3};
  std::vector<std::string> vocabulary{"<unk>", "<s>", "</s>", "a"};
  std::string train = "/train";
  std::vector<float> weights{0, 2.5F};
};

std::string refusal_of(const Content& content) {
  const Scratch scratch;
  write_corpus(scratch / "corpus.h5", [&](storage::File& file) {
    for (const std::string side : {"source", "target"}) {
      file.write_texts("/vocabulary/" + side, content.vocabulary);
      file.write<std::uint64_t>("/vocabulary/" + side + "_count",
                                std::vector<std::uint64_t>(content.vocabulary.size()));
    }
    file.write<std::uint64_t>(content.train + "/source_offset", content.source_offset);
    file.write<std::uint64_t>(content.train + "/target_offset", content.target_offset);
    file.write<WordId>(content.train + "/source_words", content.source_words);
    file.write<WordId>(content.train + "/target_words", content.target_words);
    file.write<float>("/train/weights", content.weights);
  });
  return message_of([&] {
    const Corpus corpus(scratch / "corpus.h5");
    corpus.read_pairs(0, corpus.train_pairs());
  });
}

TEST_F(CorpusFile, IsRefusedWhenItsPartsDoNotAgree) {
  EXPECT_EQ(refusal_of({}), "nothing was thrown");
  Content content;
  content.source_offset = {0, 2, 4};
  EXPECT_THAT(refusal_of(content),
              AllOf(HasSubstr("/train/source_offset"), HasSubstr("ends at 4"), HasSubstr("3 words")));
  content = {};
  content.source_offset = {1, 2, 3};
  EXPECT_THAT(refusal_of(content), HasSubstr("begins at 1"));
  content = {};
  content.source_offset = {0, 9, 3};
  EXPECT_THAT(refusal_of(content), HasSubstr("is not ascending"));
  content = {};
  content.source_offset = {};
  EXPECT_THAT(refusal_of(content), HasSubstr("is empty"));
  content = {};
  content.target_offset = {0, 2};
  EXPECT_THAT(refusal_of(content), AllOf(HasSubstr("2 source and 1 target"), HasSubstr("prepare")));
  for (const std::vector<float>& weights : {std::vector<float>{}, {1}, {1, 1, 1}}) {
    content = {};
    content.weights = weights;
    EXPECT_THAT(refusal_of(content), HasSubstr(fmt::format("has {} weights for 2 pairs", weights.size())));
  }
  for (const float weight : {-1.0F, std::numeric_limits<float>::infinity(), std::numeric_limits<float>::quiet_NaN()}) {
    content = {};
    content.weights[1] = weight;
    EXPECT_THAT(refusal_of(content), AllOf(HasSubstr("/train/weights"), HasSubstr("no weight of a pair")));
  }
  content = {};
  content.target_words = {3, 4};
  EXPECT_THAT(refusal_of(content), AllOf(HasSubstr("word id 4"), HasSubstr("has 4 words")));
  content = {};
  content.vocabulary = {"a", "b"};
  EXPECT_THAT(refusal_of(content), AllOf(StartsWith("corpus: "), HasSubstr("<unk> was expected")));
  content = {};
  content.source_offset = {0, 3, 3};
  EXPECT_THAT(refusal_of(content), AllOf(HasSubstr("pair 1"), HasSubstr("no words")));
  content = {};
  content.target_words = {3, 2};
  EXPECT_THAT(refusal_of(content), HasSubstr("</s> among its words"));
  for (const char* word : {"", "\xff", "a\nb", "<s>", "a"}) {
    content = {};
    content.vocabulary.emplace_back(word);
    EXPECT_THAT(refusal_of(content), HasSubstr("/vocabulary/source")) << word;
  }
  content = {};
  content.train = "/training";
  EXPECT_THAT(refusal_of(content), HasSubstr("/train/source_offset: there is no such object"));
}

TEST(CorpusView, CountsEveryPairInOneBarOfEachSide) {
  const Scratch scratch;
  const PrepareOptions options = tiny_options(scratch, 500);
  prepare(options);
  const Corpus corpus(options.output);
  Json json = Json::object();
  json["format"] = "of the caller";
  describe_corpus(corpus, 2, json);
  EXPECT_EQ(as_integer(json.at("train").at("pairs")), 500);
  ASSERT_EQ(as_array(json.at("pairs")).size(), 2U);
  EXPECT_THAT(as_string(as_array(json.at("pairs"))[1].at("source")), StartsWith("p1"));
  std::int64_t source = 0, target = 0, next = 1;
  for (const Json& row : as_array(json.at("train").at("lengths"))) {
    EXPECT_EQ(as_integer(row.at("from")), next);
    next = as_integer(row.at("to")) + 1;
    source += as_integer(row.at("source"));
    target += as_integer(row.at("target"));
  }
  EXPECT_EQ(source, 500);
  EXPECT_EQ(target, 500);
  std::ostringstream out;
  print_corpus(json, out);
  EXPECT_THAT(out.str(), StartsWith("format                    of the caller\n"));
  EXPECT_THAT(out.str(), HasSubstr("train                      500"));
}

TEST(Vocabulary, TurnsWordsIntoIdsAndBack) {
  const Vocabulary vocabulary({"<unk>", "<s>", "</s>", "the", "cat"}, {5, 0, 2, 9, 1});
  EXPECT_EQ(vocabulary.size(), 5u);
  EXPECT_EQ(vocabulary.id("the"), 3u);
  EXPECT_EQ(vocabulary.word(4), "cat");
  EXPECT_EQ(vocabulary.id("dog"), kUnknown);
  EXPECT_EQ(vocabulary.id(""), kUnknown);
  EXPECT_EQ(vocabulary.counts()[3], 9u);
  EXPECT_EQ(Vocabulary({"<unk>", "<s>", "</s>"}).counts(), std::vector<std::uint64_t>(3, 0));
}

TEST(Vocabulary, NeverTakesAWordOfTheTextForASpecialSymbol) {
  const Vocabulary vocabulary({"<unk>", "<s>", "</s>", "the"});
  for (const auto symbol : kSpecialSymbols) EXPECT_EQ(vocabulary.id(symbol), kUnknown);
}

TEST(Vocabulary, RefusesWhatIsNone) {
  EXPECT_THAT(message_of([] { Vocabulary({"the", "<s>", "</s>"}); }), HasSubstr("<unk> was expected"));
  EXPECT_THAT(message_of([] { Vocabulary({"<unk>", "<s>"}); }), HasSubstr("</s> was expected"));
  EXPECT_THAT(message_of([] { Vocabulary({"<unk>", "<s>", "</s>", "a", "b", "a"}); }), HasSubstr("'a' twice"));
  EXPECT_THAT(message_of([] { Vocabulary({"<unk>", "<s>", "</s>", "a"}, {1, 2}); }), HasSubstr("4 words but 2 counts"));
}

// The reason for the symbol that it is: see text/tokenizer.h.
TEST(Vocabulary, WritesAnUnknownWordAsOneWordOfEveryTokenizer) {
  const Vocabulary vocabulary({"<unk>", "<s>", "</s>", "a"});
  EXPECT_EQ(vocabulary.word_in_text(3), "a");
  const std::string unknown = vocabulary.word_in_text(kUnknown);
  for (const auto tokenizer : {text::BleuTokenizer::k13a, text::BleuTokenizer::kIntl, text::BleuTokenizer::kChar,
                               text::BleuTokenizer::kZh, text::BleuTokenizer::kNone}) {
    EXPECT_THAT(text::split_words(text::tokenize_for_bleu("a " + unknown + " b", tokenizer)),
                ElementsAre("a", unknown, "b"))
        << name_of(tokenizer);
  }
}

}  // namespace
}  // namespace rnnsearch::corpus
