// What prepare takes besides text: links, weights, the vocabularies of another corpus, subwords.
#include "rnnsearch/corpus/corpus.h"
#include "rnnsearch/corpus/prepare.h"
#include "tests/corpus/tiny_corpus.h"
#include "tests/support/test.h"

namespace rnnsearch::corpus {
namespace {

TEST_F(Prepare, KeepsTheLinksOfThePairsThatItKeeps) {
  PrepareOptions options = text_options(scratch_, "a b\na b c d\nc\n\na a\n", "x\ny\nx y\nx\ny y\n");
  options.train[0].alignments = write_text(scratch_ / "links", "1-0 0-0\n3-0\n0-1\nof a pair that is dropped\n\n");
  options.cleaning.max_length = 3;
  const std::string with = prepare(options).fingerprint;
  const Corpus corpus(options.output);
  EXPECT_TRUE(corpus.has_alignments());
  ASSERT_EQ(corpus.train_pairs(), 3u);
  const PairBlock block = corpus.read_pairs(0, 3);
  ASSERT_EQ(block.links.size(), 3u);
  EXPECT_THAT(block.links[0], ElementsAre(0, 0, 1, 0)) << "a sorted set";
  EXPECT_THAT(block.links[1], ElementsAre(0, 1));
  EXPECT_THAT(block.links[2], ElementsAre());
  EXPECT_THAT(corpus.read_pairs(1, 2).links[0], ElementsAre(0, 1));

  options.overwrite = true;
  options.train[0].alignments = write_text(scratch_ / "links", "1-0\n\n0-1\n\n\n");
  EXPECT_NE(prepare(options).fingerprint, with);
  options.train[0].alignments.clear();
  const std::string without = prepare(options).fingerprint;
  EXPECT_NE(without, with);
  EXPECT_FALSE(Corpus(options.output).has_alignments());
  EXPECT_TRUE(Corpus(options.output).read_pairs(0, 3).links.empty());
}

TEST_F(Prepare, RefusesLinksThatAreNoneOfTheirPairs) {
  PrepareOptions options = text_options(scratch_, "a b\nc\n", "x\ny\n");
  const auto said_of = [&](const std::string& links) {
    options.train[0].alignments = write_text(scratch_ / "links", links);
    return message_of([&] { prepare(options); });
  };
  EXPECT_THAT(
      said_of("0-0\n1-0\n"),
      AllOf(HasSubstr("links line 2"), HasSubstr("1-0 is past the 1 words of the source"), HasSubstr("--tokenizer")));
  EXPECT_THAT(said_of("0-0\n0 0\n"), AllOf(HasSubstr("links line 2"), HasSubstr("'0' is not a link")));
  EXPECT_THAT(said_of("0-0\n"),
              AllOf(HasSubstr("links has 1 lines"), HasSubstr("has 2"), HasSubstr("links of pair i")));
  EXPECT_THAT(said_of("0-0\n0-0\n0-0\n"), AllOf(HasSubstr("links has 3 lines"), HasSubstr("has 2")));
  EXPECT_FALSE(std::filesystem::exists(options.output));
}

/// Links of words give the corpus that the links of subwords give, into which a script maps them.
TEST_F(Prepare, LinksEachSubwordOfAWordWithEachOfTheOther) {
  Random random(11);
  std::string text[2], links;
  for (int i = 0; i < 3000; ++i) {
    std::uint64_t words[2];
    for (int side = 0; side < 2; ++side) {
      words[side] = 1 + random.below(8);
      for (std::uint64_t n = words[side]; n > 0; --n, text[side] += n > 0 ? " " : "\n")
        for (std::uint64_t k = 1 + random.below(6); k > 0; --k)
          text[side] += (side == 0 ? "abcd" : "efgh")[random.below(4)];
    }
    for (std::uint64_t k = random.below(4); k > 0; --k)
      links += fmt::format("{}-{} ", random.below(words[0]), random.below(words[1]));
    links += "\n";
  }
  PrepareOptions options = text_options(scratch_, text[0], text[1]);
  options.train[0].alignments = write_text(scratch_ / "links", links);
  const auto codes = write_text(scratch_ / "codes", "a b\na a\ne f\ng h</w>\n");
  for (const std::string subwords : {"unigram", "bpe", "codes"}) {
    options.subwords = {};
    options.source_words = options.target_words = std::nullopt;
    if (subwords == "codes") {
      options.subwords.source_codes = options.subwords.target_codes = codes;
    } else {
      options.subwords.learned = subwords;
      options.source_words = options.target_words = 290;
    }
    options.output = scratch_ / (subwords + ".h5");
    options.train[0].alignments = scratch_ / "links";
    options.alignments_of = "words";
    const std::string of_words = prepare(options).fingerprint;

    const Corpus corpus(options.output);
    const PairBlock pairs = corpus.read_pairs(0, corpus.train_pairs());
    ASSERT_EQ(pairs.source.size(), 3000u) << "line i is pair i";
    std::istringstream lines(links);
    std::string line, mapped;
    for (std::size_t i = 0; std::getline(lines, line); ++i) {
      std::vector<int> words[2];  // the word of each subword
      for (int side = 0; side < 2; ++side) {
        int word = subwords == "codes" ? 0 : -1;
        for (const WordId id : side == 0 ? pairs.source[i] : pairs.target[i]) {
          const std::string& piece = (side == 0 ? corpus.source_vocabulary() : corpus.target_vocabulary()).word(id);
          if (subwords != "codes" && piece.starts_with(text::kPieceSpace)) ++word;
          words[side].push_back(word);
          if (subwords == "codes" && !piece.ends_with("@@")) ++word;
        }
      }
      std::istringstream of_line(line);
      for (int s = 0, t = 0; of_line >> s >> t;)
        for (std::size_t j = 0; j < words[0].size(); ++j)
          for (std::size_t k = 0; k < words[1].size(); ++k)
            if (words[0][j] == s && words[1][k] == -t) mapped += fmt::format("{}-{} ", j, k);
      mapped += "\n";
    }
    EXPECT_GT(mapped.size(), 3 * links.size() / 2) << "words are not split, so this shows nothing";
    options.train[0].alignments = write_text(scratch_ / "mapped", mapped);
    options.alignments_of = "subwords";
    options.output = scratch_ / (subwords + "-mapped.h5");
    EXPECT_EQ(prepare(options).fingerprint, of_words) << subwords;
    options.alignments_of = "words";
    options.output = scratch_ / "refused.h5";
    EXPECT_THAT(message_of([&] { prepare(options); }),
                testing::ContainsRegex("mapped line [0-9]+: the link [0-9]+-[0-9]+ is past the [0-9] words of the .*; "
                                       "with --alignments-of words"));
  }
}

TEST_F(Prepare, KeepsTheWeightsOfThePairsThatItKeeps) {
  PrepareOptions options = text_options(scratch_, "a b\na b c d\nc\n\na a\n", "x\ny\nx y\nx\ny y\n");
  options.cleaning.max_length = 3;
  const std::string without = prepare(options).fingerprint;
  EXPECT_FALSE(Corpus(options.output).has_weights());
  EXPECT_THAT(Corpus(options.output).read_pairs(0, 3).weights, ElementsAre(1, 1, 1));
  options.overwrite = true;
  options.train[0].weights = write_text(scratch_ / "weights",
                                        "\xef\xbb\xbf"
                                        "0.25\r\n7\n0\n8\n1e-3");
  const std::string with = prepare(options).fingerprint;
  EXPECT_NE(with, without);
  {
    const Corpus corpus(options.output);
    EXPECT_TRUE(corpus.has_weights());
    EXPECT_THAT(corpus.read_pairs(0, 3).weights, ElementsAre(0.25F, 0, 1e-3F));
    EXPECT_THAT(corpus.read_pairs(1, 1).weights, ElementsAre(0));
  }
  options.train.push_back({scratch_ / "train.src", scratch_ / "train.tgt"});
  prepare(options);
  EXPECT_THAT(Corpus(options.output).read_pairs(0, 6).weights, ElementsAre(0.25F, 0, 1e-3F, 1, 1, 1))
      << "a text without weights has those of 1";
  options.train.pop_back();
  options.train[0].weights = write_text(scratch_ / "weights", "0.25\n7\n0\n8\n2e-3");
  EXPECT_NE(prepare(options).fingerprint, with);
}

TEST_F(Prepare, RefusesWhatIsNoWeight) {
  PrepareOptions options = text_options(scratch_, "a b\nc\n", "x\ny\n");
  const auto said_of = [&](const std::string& weights) {
    options.train[0].weights = write_text(scratch_ / "weights", weights);
    return message_of([&] { prepare(options); });
  };
  for (const char* weight : {"nan", "inf", "-1", "-inf", "1e39", "1e999", "", "0,5", "1 1", "one", "0x1", "\x1b[2J"})
    EXPECT_THAT(said_of(fmt::format("1\n{}\n", weight)),
                AllOf(HasSubstr("weights line 2: '"), HasSubstr("is not a weight; each line must hold one number")))
        << weight;
  EXPECT_THAT(said_of("1\n"),
              AllOf(HasSubstr("weights has 1 lines"), HasSubstr("has 2"), HasSubstr("weight of pair i")));
  EXPECT_THAT(said_of("1\n1\n1\n"), AllOf(HasSubstr("weights has 3 lines"), HasSubstr("has 2")));
  options.train[0].alignments = write_text(scratch_ / "links", "0-0\n\n");
  EXPECT_THAT(said_of("1\n"), HasSubstr("weights has 1 lines"));
  EXPECT_FALSE(std::filesystem::exists(options.output));
}

TEST_F(Prepare, TakesTheVocabulariesOfAnotherCorpus) {
  PrepareOptions all = text_options(scratch_, "b a a d\nc b a\n", "x\nx y\n");
  all.source_words = 6;
  prepare(all);
  PrepareOptions part = all;
  part.source_words = {};
  part.cleaning.max_length = 3;
  part.vocabulary_of = all.output;
  part.output = scratch_ / "part.h5";
  const PrepareReport report = prepare(part);
  const Corpus corpus(part.output);
  EXPECT_EQ(corpus.source_vocabulary().words(), Corpus(all.output).source_vocabulary().words());
  EXPECT_THAT(corpus.source_vocabulary().words(), ElementsAre("<unk>", "<s>", "</s>", "a", "b", "c"));
  EXPECT_THAT(corpus.source_vocabulary().counts(), ElementsAre(0, 0, 1, 1, 1, 1));
  EXPECT_THAT(corpus.target_vocabulary().counts(), ElementsAre(0, 0, 1, 1, 1));
  EXPECT_EQ(report.source.unknown_words, 0u);
  EXPECT_EQ(words_of(corpus.read_pairs(0, 1).target[0], corpus.target_vocabulary()), "x y");

  PrepareOptions other = text_options(scratch_, "e a\n", "x z\n");
  other.vocabulary_of = all.output;
  other.output = scratch_ / "other.h5";
  EXPECT_EQ(prepare(other).source.unknown_words, 1u);
  EXPECT_THAT(Corpus(other.output).source_vocabulary().counts(), ElementsAre(1, 0, 1, 1, 0, 0));
  other.pipeline.lowercase = true;
  other.overwrite = true;
  EXPECT_THAT(message_of([&] { prepare(other); }), AllOf(HasSubstr("do not fit"), HasSubstr("--lowercase false")));
  other.pipeline.lowercase = false;
  std::swap(other.pipeline.source_language, other.pipeline.target_language);
  EXPECT_THAT(message_of([&] { prepare(other); }), AllOf(HasSubstr("do not fit"), HasSubstr("--source-language")));
  other.given = {
      .source_language = false, .target_language = false, .tokenizer = true, .normalization = true, .lowercase = false};
  other.pipeline.lowercase = true;
  prepare(other);
  EXPECT_EQ(Corpus(other.output).pipeline(), Corpus(all.output).pipeline()) << "what is not asked for is as there";
  other.pipeline.tokenizer = "words";
  EXPECT_THAT(message_of([&] { prepare(other); }), AllOf(HasSubstr("do not fit"), HasSubstr("--tokenizer none")));
  other.pipeline = all.pipeline;
  other.output = all.output;
  EXPECT_THAT(message_of([&] { prepare(other); }), HasSubstr("one of the input files"));
}

TEST_F(Prepare, MakesOneVocabularyOfBothSides) {
  PrepareOptions options = text_options(scratch_, "b a a d\nc b a\n", "x x b\nx y c c\n");
  options.joint_vocabulary = true;
  options.target_words = 7;  // of x 3, a 3, b 3, c 3, d 1, y 1
  const PrepareReport report = prepare(options);
  const Corpus corpus(options.output);
  EXPECT_TRUE(corpus.joint_vocabulary());
  EXPECT_THAT(corpus.source_vocabulary().words(), ElementsAre("<unk>", "<s>", "</s>", "a", "b", "c", "x"));
  EXPECT_EQ(corpus.target_vocabulary().words(), corpus.source_vocabulary().words());
  EXPECT_THAT(corpus.source_vocabulary().counts(), ElementsAre(1, 0, 2, 3, 2, 1, 0));
  EXPECT_THAT(corpus.target_vocabulary().counts(), ElementsAre(1, 0, 2, 0, 1, 2, 3));
  EXPECT_EQ(report.source.vocabulary, 7u);
  EXPECT_EQ(report.source.distinct_words, 4u);
  EXPECT_EQ(report.target.unknown_words, 1u);
  EXPECT_EQ(words_of(corpus.read_pairs(0, 1).source[0], corpus.source_vocabulary()), "b a a <unk>");
  EXPECT_EQ(words_of(corpus.read_pairs(0, 2).target[1], corpus.target_vocabulary()), "x <unk> c c");

  PrepareOptions more = options;  // another corpus with its words
  more.joint_vocabulary = false;
  more.target_words = {};
  more.vocabulary_of = options.output;
  more.output = scratch_ / "more.h5";
  prepare(more);
  EXPECT_TRUE(Corpus(more.output).joint_vocabulary());
  more.joint_vocabulary = true;
  more.overwrite = true;
  EXPECT_THAT(message_of([&] { prepare(more); }), AllOf(HasSubstr("joint-vocabulary"), HasSubstr("leave one of them")));
  options.overwrite = true;
  options.source_words = 8;
  EXPECT_THAT(message_of([&] { prepare(options); }), AllOf(HasSubstr("source-words is 8"), HasSubstr("one size")));
  options.target_words = {};
  options.source_words = 10;
  EXPECT_THAT(message_of([&] { prepare(options); }),
              AllOf(HasSubstr("--source-words is 10,"), HasSubstr("train.tgt has only 6 distinct")));
  options.source_words = {};
  options.joint_vocabulary = false;
  prepare(options);
  EXPECT_FALSE(Corpus(options.output).joint_vocabulary());
}

TEST(Subwords, TravelInTheCorpusWithAllTheirPieces) {
  const Scratch scratch;
  PrepareOptions options = tiny_options(scratch, 300);
  options.subwords.learned = "unigram";
  options.source_words = 290;
  options.target_words = 280;
  const PrepareReport report = prepare(options);
  EXPECT_EQ(report.source.unknown_words + report.target.unknown_words, 0u);
  const Corpus corpus(options.output);
  EXPECT_EQ(corpus.source_vocabulary().size(), 290u);
  EXPECT_EQ(corpus.target_vocabulary().size(), 280u);
  for (const std::string byte : {"<0x00>", "<0xFF>"})  // also what this text does not need
    EXPECT_NE(corpus.source_vocabulary().id(byte), kUnknown);
  const auto& counts = corpus.source_vocabulary().counts();
  EXPECT_TRUE(std::is_sorted(counts.begin() + 3, counts.end(), std::greater<>()));
  EXPECT_EQ(corpus.pipeline().to_text(corpus.pipeline().to_words("t t1 new é", Side::kTarget)), "t t1 new é");

  // The same again, by way of the model's file and of the corpus; another one from another sample.
  PrepareOptions given = options;
  given.output = scratch / "given.h5";
  given.subwords = {};
  given.subwords.source_model = write_text(scratch / "source.model", corpus.pipeline().source_subwords.bytes());
  given.subwords.target_model = write_text(scratch / "target.model", corpus.pipeline().target_subwords.bytes());
  given.source_words = given.target_words = std::nullopt;
  EXPECT_EQ(prepare(given).fingerprint, report.fingerprint);
  given.output = scratch / "of.h5";
  given.subwords = {};
  given.vocabulary_of = options.output;
  EXPECT_EQ(prepare(given).fingerprint, report.fingerprint);
  options.output = scratch / "sampled.h5";
  options.subwords.sample_pairs = 100;
  EXPECT_NE(prepare(options).fingerprint, report.fingerprint);
}

TEST(Subwords, OfGivenCodesCountWhatIsUnknown) {
  const Scratch scratch;
  PrepareOptions options = text_options(scratch, "abc abc abd\n", "abc\n");
  options.subwords.source_codes = options.subwords.target_codes = write_text(scratch / "codes", "a b\n");
  options.source_words = 5;  // <unk> <s> </s> ab@@ c
  const PrepareReport report = prepare(options);
  EXPECT_EQ(report.source.words, 6u);
  EXPECT_EQ(report.source.unknown_words, 1u);  // d
  EXPECT_THAT(Corpus(options.output).source_vocabulary().words(), ElementsAre("<unk>", "<s>", "</s>", "ab@@", "c"));
}

}  // namespace
}  // namespace rnnsearch::corpus
