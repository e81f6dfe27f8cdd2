#include "rnnsearch/corpus/prepare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "rnnsearch/base/file.h"
#include "rnnsearch/base/parallel.h"
#include "rnnsearch/corpus/corpus.h"
#include "rnnsearch/storage/sealed_file.h"
#include "tests/corpus/tiny_corpus.h"

namespace rnnsearch::corpus {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

PrepareOptions options_of(const Scratch& scratch, const std::string& source, const std::string& target) {
  PrepareOptions options;
  options.train = {{write_text(scratch / "train.src", source), write_text(scratch / "train.tgt", target)}};
  options.output = scratch / "corpus.h5";
  options.pipeline.tokenizer = "none";
  return options;
}

std::string words_of(std::span<const WordId> ids, const Vocabulary& vocabulary) {
  std::string text;
  for (const WordId id : ids) text += (text.empty() ? "" : " ") + vocabulary.word(id);
  return text;
}

TEST(Prepare, WritesWhatTheTextHolds) {
  const Scratch scratch;
  PrepareOptions options = options_of(scratch, "b a a\r\nc b a\n", "x\nx y\n");
  options.pipeline.source_language = "en";
  options.pipeline.target_language = "fr";
  options.dev = EvaluationFiles{
      "", write_text(scratch / "dev.src", "A  a\n\nzz b"), {write_text(scratch / "dev.tgt", "x\ny y\n\n")}};
  options.tests.push_back({"news",
                           write_text(scratch / "news.src", "c\n"),
                           {write_text(scratch / "news.1", "y X\n"), write_text(scratch / "news.2", "second\n")}});
  const PrepareReport report = prepare(options);
  EXPECT_EQ(report.pairs_kept, 2u);
  EXPECT_EQ(report.source.words, 6u);
  EXPECT_EQ(report.source.vocabulary, 6u);
  EXPECT_EQ(report.target.distinct_words, 2u);
  EXPECT_EQ(report.source.coverage(), 1.0);
  EXPECT_THAT(report.sets, ElementsAre(std::pair("dev", 3), std::pair("test/news", 1)));

  const Corpus corpus(options.output);
  EXPECT_THAT(corpus.source_vocabulary().words(), ElementsAre("<unk>", "<s>", "</s>", "a", "b", "c"));
  EXPECT_THAT(corpus.source_vocabulary().counts(), ElementsAre(0, 0, 2, 3, 2, 1));
  EXPECT_EQ(corpus.pipeline(), options.pipeline);
  EXPECT_EQ(corpus.fingerprint(), report.fingerprint);
  EXPECT_EQ(corpus.train_pairs(), 2u);
  EXPECT_EQ(corpus.train_source_words(), 6u);
  EXPECT_EQ(corpus.train_target_words(), 3u);
  EXPECT_THAT(corpus.set_names(), ElementsAre("dev", "test/news"));
  const PairBlock block = corpus.read_pairs(0, 2);
  EXPECT_EQ(words_of(block.source[0], corpus.source_vocabulary()), "b a a");
  EXPECT_EQ(words_of(block.source[1], corpus.source_vocabulary()), "c b a");
  EXPECT_EQ(words_of(block.target[1], corpus.target_vocabulary()), "x y");

  const EvaluationSet dev = corpus.read_set("dev");
  EXPECT_THAT(dev.source_text, ElementsAre("A  a", "", "zz b"));
  EXPECT_THAT(dev.references, ElementsAre(ElementsAre("x", "y y", "")));
  EXPECT_EQ(words_of(dev.source[0], corpus.source_vocabulary()), "<unk> a");
  EXPECT_EQ(dev.source.length(1), 0u);
  EXPECT_EQ(words_of(dev.target[1], corpus.target_vocabulary()), "y y");
  const EvaluationSet news = corpus.read_set("test/news");
  EXPECT_THAT(news.references, ElementsAre(ElementsAre("y X"), ElementsAre("second")));
  EXPECT_EQ(words_of(news.target[0], corpus.target_vocabulary()), "y <unk>");
  EXPECT_THAT(message_of([&] { corpus.read_set("tests"); }), AllOf(HasSubstr("'tests'"), HasSubstr("dev, test/news")));
}

TEST(Prepare, KeepsTheLinksOfThePairsThatItKeeps) {
  const Scratch scratch;
  PrepareOptions options = options_of(scratch, "a b\na b c d\nc\n\na a\n", "x\ny\nx y\nx\ny y\n");
  options.train[0].alignments = write_text(scratch / "links", "1-0 0-0\n3-0\n0-1\nof a pair that is dropped\n\n");
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
  options.train[0].alignments = write_text(scratch / "links", "1-0\n\n0-1\n\n\n");
  EXPECT_NE(prepare(options).fingerprint, with);
  options.train[0].alignments.clear();
  const std::string without = prepare(options).fingerprint;
  EXPECT_NE(without, with);
  EXPECT_FALSE(Corpus(options.output).has_alignments());
  EXPECT_TRUE(Corpus(options.output).read_pairs(0, 3).links.empty());
}

TEST(Prepare, RefusesLinksThatAreNoneOfTheirPairs) {
  const Scratch scratch;
  PrepareOptions options = options_of(scratch, "a b\nc\n", "x\ny\n");
  const auto said_of = [&](const std::string& links) {
    options.train[0].alignments = write_text(scratch / "links", links);
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
TEST(Prepare, LinksEachSubwordOfAWordWithEachOfTheOther) {
  const Scratch scratch;
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
  PrepareOptions options = options_of(scratch, text[0], text[1]);
  options.train[0].alignments = write_text(scratch / "links", links);
  const auto codes = write_text(scratch / "codes", "a b\na a\ne f\ng h</w>\n");
  for (const std::string subwords : {"unigram", "bpe", "codes"}) {
    options.subwords = {};
    options.source_words = options.target_words = std::nullopt;
    if (subwords == "codes") {
      options.subwords.source_codes = options.subwords.target_codes = codes;
    } else {
      options.subwords.learned = subwords;
      options.source_words = options.target_words = 290;
    }
    options.output = scratch / (subwords + ".h5");
    options.train[0].alignments = scratch / "links";
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
    options.train[0].alignments = write_text(scratch / "mapped", mapped);
    options.alignments_of = "subwords";
    options.output = scratch / (subwords + "-mapped.h5");
    EXPECT_EQ(prepare(options).fingerprint, of_words) << subwords;
    options.alignments_of = "words";
    options.output = scratch / "refused.h5";
    EXPECT_THAT(message_of([&] { prepare(options); }),
                testing::ContainsRegex("mapped line [0-9]+: the link [0-9]+-[0-9]+ is past the [0-9] words of the .*; "
                                       "with --alignments-of words"));
  }
}

TEST(Prepare, KeepsTheWeightsOfThePairsThatItKeeps) {
  const Scratch scratch;
  PrepareOptions options = options_of(scratch, "a b\na b c d\nc\n\na a\n", "x\ny\nx y\nx\ny y\n");
  options.cleaning.max_length = 3;
  const std::string without = prepare(options).fingerprint;
  EXPECT_FALSE(Corpus(options.output).has_weights());
  EXPECT_THAT(Corpus(options.output).read_pairs(0, 3).weights, ElementsAre(1, 1, 1));
  options.overwrite = true;
  options.train[0].weights = write_text(scratch / "weights",
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
  options.train.push_back({scratch / "train.src", scratch / "train.tgt"});
  prepare(options);
  EXPECT_THAT(Corpus(options.output).read_pairs(0, 6).weights, ElementsAre(0.25F, 0, 1e-3F, 1, 1, 1))
      << "a text without weights has those of 1";
  options.train.pop_back();
  options.train[0].weights = write_text(scratch / "weights", "0.25\n7\n0\n8\n2e-3");
  EXPECT_NE(prepare(options).fingerprint, with);
}

TEST(Prepare, RefusesWhatIsNoWeight) {
  const Scratch scratch;
  PrepareOptions options = options_of(scratch, "a b\nc\n", "x\ny\n");
  const auto said_of = [&](const std::string& weights) {
    options.train[0].weights = write_text(scratch / "weights", weights);
    return message_of([&] { prepare(options); });
  };
  for (const char* weight : {"nan", "inf", "-1", "-inf", "1e39", "1e999", "", "0,5", "1 1", "one", "0x1", "\x1b[2J"})
    EXPECT_THAT(said_of(fmt::format("1\n{}\n", weight)),
                AllOf(HasSubstr("weights line 2: '"), HasSubstr("is not a weight; each line must hold one number")))
        << weight;
  EXPECT_THAT(said_of("1\n"),
              AllOf(HasSubstr("weights has 1 lines"), HasSubstr("has 2"), HasSubstr("weight of pair i")));
  EXPECT_THAT(said_of("1\n1\n1\n"), AllOf(HasSubstr("weights has 3 lines"), HasSubstr("has 2")));
  options.train[0].alignments = write_text(scratch / "links", "0-0\n\n");
  EXPECT_THAT(said_of("1\n"), HasSubstr("weights has 1 lines"));
  EXPECT_FALSE(std::filesystem::exists(options.output));
}

TEST(Prepare, TakesTheVocabulariesOfAnotherCorpus) {
  const Scratch scratch;
  PrepareOptions all = options_of(scratch, "b a a d\nc b a\n", "x\nx y\n");
  all.source_words = 6;
  prepare(all);
  PrepareOptions part = all;
  part.source_words = {};
  part.cleaning.max_length = 3;
  part.vocabulary_of = all.output;
  part.output = scratch / "part.h5";
  const PrepareReport report = prepare(part);
  const Corpus corpus(part.output);
  EXPECT_EQ(corpus.source_vocabulary().words(), Corpus(all.output).source_vocabulary().words());
  EXPECT_THAT(corpus.source_vocabulary().words(), ElementsAre("<unk>", "<s>", "</s>", "a", "b", "c"));
  EXPECT_THAT(corpus.source_vocabulary().counts(), ElementsAre(0, 0, 1, 1, 1, 1));
  EXPECT_THAT(corpus.target_vocabulary().counts(), ElementsAre(0, 0, 1, 1, 1));
  EXPECT_EQ(report.source.unknown_words, 0u);
  EXPECT_EQ(words_of(corpus.read_pairs(0, 1).target[0], corpus.target_vocabulary()), "x y");

  PrepareOptions other = options_of(scratch, "e a\n", "x z\n");
  other.vocabulary_of = all.output;
  other.output = scratch / "other.h5";
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

TEST(Prepare, MakesOneVocabularyOfBothSides) {
  const Scratch scratch;
  PrepareOptions options = options_of(scratch, "b a a d\nc b a\n", "x x b\nx y c c\n");
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
  more.output = scratch / "more.h5";
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

TEST(Prepare, CountsEveryDroppedPairByItsReason) {
  const Scratch scratch;
  PrepareOptions options = options_of(scratch, "a\n \t\n\na b c d\na\na b c\n", "x\nx\n\nx\nx y x y\nx y x\n");
  options.cleaning.max_length = 3;
  const PrepareReport report = prepare(options);
  EXPECT_EQ(report.pairs_read, 6u);
  EXPECT_EQ(report.pairs_kept, 2u);
  EXPECT_EQ(report.dropped[Drop::kEmptySource], 2u);
  EXPECT_EQ(report.dropped[Drop::kEmptyTarget], 0u);
  EXPECT_EQ(report.dropped[Drop::kLongSource], 1u);
  EXPECT_EQ(report.dropped[Drop::kLongTarget], 1u);
  EXPECT_EQ(report.source.words, 4u) << "dropped pairs do not count";
}

TEST(Prepare, KeepsEmptyTargetsWhereAsked) {
  const Scratch scratch;
  PrepareOptions options = options_of(scratch, "a b\n\na\nb\n", "x\nx\n\ny\n");
  options.cleaning.keep_empty_targets = true;
  options.cleaning.max_ratio = 5;  // an empty target has no ratio
  const PrepareReport report = prepare(options);
  EXPECT_EQ(report.pairs_kept, 3u);
  EXPECT_EQ(report.dropped[Drop::kEmptySource], 1u) << "a source is never empty";
  EXPECT_EQ(report.dropped[Drop::kEmptyTarget], 0u);
  const Corpus corpus(options.output);
  EXPECT_TRUE(corpus.selection().cleaning.keep_empty_targets);
  EXPECT_EQ(corpus.target_vocabulary().counts()[kEnd], 3u) << "</s> of the empty target, too";
  const PairBlock pairs = corpus.read_pairs(0, 3);
  EXPECT_THAT((std::vector<std::size_t>{pairs.target.length(0), pairs.target.length(1), pairs.target.length(2)}),
              ElementsAre(1, 0, 1));
  EXPECT_EQ(pairs.source.length(1), 1u);
  EXPECT_THAT(corpus.read_lengths(0, 3)[1], ElementsAre(1, 0, 1));
}

TEST(Prepare, CleansAndRemembersWhatItDropped) {
  const Scratch scratch;
  PrepareOptions options =
      options_of(scratch, "a b\n\na\na b c d e f\na b c d e\na b\nда нет a\nнет\n12 .\na b\na b \n",
                 "x y\nx\n\nx\nx y\na b\nx y z\ny z\n7 .\nx y\nx y\n");
  options.cleaning.max_length = 5;
  options.cleaning.max_ratio = 2;
  options.cleaning.drop_copies = true;
  options.cleaning.drop_repeated = true;
  options.cleaning.source_script = "en";
  options.cleaning.target_script = "Latin";
  const PrepareReport report = prepare(options);
  EXPECT_EQ(report.pairs_read, 11u);
  EXPECT_EQ(report.pairs_kept, 3u) << "x y, 7 . and what differs by a space";
  EXPECT_EQ(report.pairs_kept + report.dropped.total(), report.pairs_read);
  EXPECT_THAT(report.dropped.counts, ElementsAre(1, 1, 1, 0, 1, 1, 2, 0, 1));
  const Corpus corpus(options.output);
  EXPECT_EQ(corpus.selection().cleaning, options.cleaning);
  EXPECT_EQ(corpus.selection().pairs_read, 11u);
  EXPECT_EQ(corpus.selection().dropped, report.dropped);
  EXPECT_THAT(corpus.read_lengths(1, 2), ElementsAre(ElementsAre(2, 2), ElementsAre(2, 2)));

  options.overwrite = true;
  options.cleaning.target_script = "Greek";
  EXPECT_EQ(prepare(options).dropped[Drop::kTargetScript], 3u) << "the first reason that holds counts";
  write_text(scratch / "train.src", "a\nb\n");
  write_text(scratch / "train.tgt", "x\ny\n");
  EXPECT_THAT(message_of([&] { prepare(options); }),
              AllOf(HasSubstr("none of the 2 pairs"), HasSubstr("2: target in another script")));
  options.cleaning.source_script = "klingonese";
  EXPECT_THAT(message_of([&] { prepare(options); }), HasSubstr("source-script: there is no script 'klingonese'"));
  options.cleaning.source_script = "";
  options.cleaning.max_ratio = 0.5;
  EXPECT_THAT(message_of([&] { prepare(options); }), HasSubstr("max-ratio is 0.5"));
  options.cleaning.max_ratio = 0;
  options.cleaning.script_share = 0;
  EXPECT_THAT(message_of([&] { prepare(options); }), HasSubstr("script-share is 0"));
}

TEST(Prepare, DropsRepeatedPairsInAnyMemory) {
  const Scratch scratch;
  std::string source, target;
  for (int i = 0; i < 20000; ++i) {  // pairs 0 to 6999, again and again; the target alone differs in some
    source += fmt::format("s{}\n", i % 3500);
    target += fmt::format("t{}\n", i % 7000);
  }
  PrepareOptions options = options_of(scratch, source, target);
  options.cleaning.drop_repeated = true;
  EXPECT_EQ(prepare(options).dropped[Drop::kRepeated], 13000u);
  const std::string digest = storage::sealed_digest(options.output, "corpus");
  options.overwrite = true;
  options.memory = 1;
  prepare(options);
  EXPECT_EQ(storage::sealed_digest(options.output, "corpus"), digest);
}

TEST(Prepare, KeepsTheMostFrequentWordsAndBreaksTiesByBytes) {
  const Scratch scratch;
  PrepareOptions options = options_of(scratch, "d c b b a\n", "x\n");
  options.source_words = 6;
  const PrepareReport report = prepare(options);
  const Corpus corpus(options.output);
  EXPECT_THAT(corpus.source_vocabulary().words(), ElementsAre("<unk>", "<s>", "</s>", "b", "a", "c"));
  EXPECT_EQ(corpus.source_vocabulary().counts()[kUnknown], 1u);
  EXPECT_EQ(report.source.unknown_words, 1u);
  EXPECT_DOUBLE_EQ(report.source.coverage(), 0.8);
}

TEST(Prepare, MakesWordsSpelledLikeSpecialSymbolsUnknown) {
  const Scratch scratch;
  const PrepareOptions options = options_of(scratch, "<s> a </s>\n", "<unk> x\n");
  prepare(options);
  const Corpus corpus(options.output);
  EXPECT_EQ(corpus.source_vocabulary().size(), 4u);
  const PairBlock block = corpus.read_pairs(0, 1);
  EXPECT_THAT(block.source.words, ElementsAre(kUnknown, 3, kUnknown));
  EXPECT_THAT(block.target.words, ElementsAre(kUnknown, 3));
}

TEST(Prepare, SplitsLinesAtLineFeedsAlone) {
  const Scratch scratch;
  const PrepareOptions options = options_of(scratch,
                                            "\xef\xbb\xbf"
                                            "a\x0c"
                                            "b\xe2\x80\xa8"
                                            "c\r\nd",
                                            "x\ny");
  prepare(options);
  const Corpus corpus(options.output);
  EXPECT_EQ(corpus.train_pairs(), 2u);
  EXPECT_EQ(words_of(corpus.read_pairs(0, 1).source[0], corpus.source_vocabulary()), "a b c");
}

TEST(Prepare, UsesTheWordTokenizerByDefault) {
  const Scratch scratch;
  PrepareOptions options = options_of(scratch, "Hello, world.\n", "x\n");
  options.pipeline = {};
  options.pipeline.lowercase = true;
  prepare(options);
  const Corpus corpus(options.output);
  EXPECT_EQ(corpus.train_source_words(), 4u);
  EXPECT_NE(corpus.source_vocabulary().id("hello"), kUnknown);
}

TEST(Prepare, GivesTheSameFileForTheSameContentAndAnotherFingerprintForOther) {
  const Scratch scratch;
  PrepareOptions options = tiny_options(scratch, 50);
  options.overwrite = true;
  const std::string fingerprint = prepare(options).fingerprint;
  const std::string bytes = read_file(options.output);
  EXPECT_EQ(prepare(options).fingerprint, fingerprint);
  EXPECT_EQ(read_file(options.output), bytes);
  options.cleaning.max_length = 11;
  EXPECT_NE(prepare(options).fingerprint, fingerprint);
  options.cleaning.max_length = 50;
  options.pipeline.source_language = "en";
  EXPECT_NE(prepare(options).fingerprint, fingerprint);
}

TEST(Prepare, ReportsItsProgressToTheEnd) {
  const Scratch scratch;
  std::vector<PrepareProgress> steps;
  prepare(tiny_options(scratch, 10), [&](const PrepareProgress& step) { steps.push_back(step); });
  ASSERT_EQ(steps.size(), 2u);
  for (const PrepareProgress& step : steps) {
    EXPECT_EQ(step.bytes, step.total_bytes);
    EXPECT_EQ(step.pairs, 10u);
  }
  EXPECT_EQ(steps[0].pass, 1);
  EXPECT_EQ(steps[1].pass, 2);
}

struct Refusal {
  const char* name;
  std::function<void(PrepareOptions&, const Scratch&)> change;
  std::vector<std::string> said;
};

TEST(Prepare, RefusesHostileInputInOneSentenceAndWritesNothing) {
  const std::vector<Refusal> refusals{
      {"fewer target lines",
       [](auto& o, auto& s) {
         write_text(s / "train.tgt", "x\n");
         (void)o;
       },
       {"train.src has 3 lines", "train.tgt has 1"}},
      {"more target lines",
       [](auto& o, auto& s) {
         write_text(s / "train.tgt", "x\nx\nx\nx\nx");
         (void)o;
       },
       {"train.src has 3 lines", "train.tgt has 5"}},
      {"invalid UTF-8",
       [](auto& o, auto& s) {
         write_text(s / "train.src", "a\nab\xe9t\nc\n");
         (void)o;
       },
       {"train.src, line 2, byte 3", "UTF-8"}},
      {"a surrogate",
       [](auto& o, auto& s) {
         write_text(s / "train.tgt", "x\n\xed\xa0\x80\nc\n");
         (void)o;
       },
       {"train.tgt, line 2, byte 1"}},
      {"NUL",
       [](auto& o, auto& s) {
         write_text(s / "train.src", std::string("a\nb\na\0c\n", 8));
         (void)o;
       },
       {"train.src, line 3, byte 2", "NUL"}},
      {"empty",
       [](auto& o, auto& s) {
         write_text(s / "train.src", "");
         (void)o;
       },
       {"train.src", "empty"}},
      {"compressed emptiness",
       [](auto& o, auto& s) {
         EXPECT_EQ(std::system(fmt::format("gzip </dev/null >'{}'", s / "train.src").c_str()), 0);
         write_text(s / "train.tgt", "\xef\xbb\xbf");
         (void)o;
       },
       {"train.src", "empty"}},
      {"missing", [](auto& o, auto& s) { o.train[0].target = s / "none"; }, {"none", "no such file"}},
      {"folder", [](auto& o, auto& s) { o.train[0].target = s.path(); }, {"folder"}},
      {"pipe",
       [](auto& o, auto& s) {
         ::mkfifo((s / "pipe").c_str(), 0600);
         o.train[0].target = s / "pipe";
       },
       {"regular"}},
      {"endless line",
       [](auto& o, auto& s) {
         write_text(s / "train.src", std::string((1u << 20) + 1, 'a'));
         (void)o;
       },
       {"train.src, line 1: longer than the 1048576 bytes of --max-line-bytes, beginning with 'aaaa"}},
      {"line beyond the limit",
       [](auto& o, auto& s) {
         write_text(s / "train.src", "a\nbbbbb\nc\n");
         o.line_limit.max_line_bytes = 4;
       },
       {"train.src, line 2: longer than the 4 bytes of --max-line-bytes", "'bbbbb'"}},
      {"all dropped",
       [](auto& o, auto&) { o.cleaning.max_length = 1; },
       {"none of the 3 pairs", "0 have an empty source", "2 a source", "1 a target", "more than 1 words"}},
      {"dev of another length",
       [](auto& o, auto& s) {
         o.dev = EvaluationFiles{"dev", write_text(s / "dev.src", "a\nb\n"), {write_text(s / "dev.tgt", "a\n")}};
       },
       {"dev.src has 2 lines", "dev.tgt has 1"}},
      {"dev with NUL",
       [](auto& o, auto& s) {
         o.dev = EvaluationFiles{
             "dev", write_text(s / "dev.src", std::string("\0\n", 2)), {write_text(s / "dev.tgt", "a\n")}};
       },
       {"dev.src, line 1", "NUL"}},
      {"second reference missing",
       [](auto& o, auto& s) {
         o.tests.push_back({"t", write_text(s / "t.src", "a\n"), {write_text(s / "t.tgt", "a\n"), s / "t.2"}});
       },
       {"t.2", "no such file"}},
      {"no reference",
       [](auto& o, auto& s) {
         o.tests.push_back({"t", write_text(s / "t.src", "a\n"), {}});
       },
       {"test/t", "reference"}},
      {"bad test name",
       [](auto& o, auto& s) {
         o.tests.push_back({"a/b", s / "x", {s / "x"}});
       },
       {"'a/b'"}},
      {"same test names",
       [](auto& o, auto& s) {
         o.tests.assign(2, {"t", s / "x", {s / "x"}});
       },
       {"two test sets named t"}},
      {"more words than there are",
       [](auto& o, auto&) { o.source_words = 7; },
       {"--source-words", "7", "3 distinct words", "--source-words 6"}},
      {"more target words",
       [](auto& o, auto&) { o.target_words = 9; },
       {"--target-words", "train.tgt", "2 distinct words"}},
      {"no room for a word", [](auto& o, auto&) { o.source_words = 3; }, {"source-words is 3", "at least 4"}},
      {"max_length 0", [](auto& o, auto&) { o.cleaning.max_length = 0; }, {"max-length is 0"}},
      {"tokenizer", [](auto& o, auto&) { o.pipeline.tokenizer = "penn"; }, {"'penn'"}},
      {"output folder", [](auto& o, auto& s) { o.output = s / "no" / "corpus.h5"; }, {"there is no folder"}},
      {"output is a folder", [](auto& o, auto& s) { o.output = s.path(); }, {"it is a folder"}},
  };
  for (const Refusal& refusal : refusals) {
    SCOPED_TRACE(refusal.name);
    const Scratch scratch;
    PrepareOptions options = options_of(scratch, "a b\nb\na c\n", "x y\nx y\nx\n");
    refusal.change(options, scratch);
    const std::size_t files = scratch.files();
    const std::string message = message_of([&] { prepare(options); });
    EXPECT_THAT(message, testing::AnyOf(testing::StartsWith("corpus: "), testing::StartsWith(scratch.path().string()),
                                        testing::StartsWith("there is")));
    EXPECT_THAT(message, testing::Not(HasSubstr("\n")));
    for (const std::string& part : refusal.said) EXPECT_THAT(message, HasSubstr(part));
    EXPECT_EQ(scratch.files(), files) << "something was left behind";
  }
}

TEST(Prepare, RefusesToReplaceWhatAnotherProcessWroteMeanwhile) {
  const Scratch scratch;
  PrepareOptions options = options_of(scratch, "a b\n", "x\n");
  const auto write = [&](const PrepareProgress& progress) {
    if (progress.pass == 2) write_text(options.output, "of another");
  };
  EXPECT_THAT(message_of([&] { prepare(options, write); }),
              AllOf(HasSubstr("corpus.h5: it already exists"), HasSubstr("--overwrite")));
  EXPECT_TRUE(read_file(options.output) == "of another");
  options.overwrite = true;
  prepare(options, write);
  EXPECT_GT(Corpus(options.output).train_pairs(), 0u);
}

TEST(Prepare, TakesAllWordsThereAreWhenNoNumberWasAsked) {
  const Scratch scratch;
  const PrepareOptions options = options_of(scratch, "a b\n", "x\n");
  EXPECT_EQ(prepare(options).source.vocabulary, 5u);
}

TEST(Prepare, ReplacesAFileOnlyWhenAskedAndOnlyByAWholeOne) {
  const Scratch scratch;
  PrepareOptions options = options_of(scratch, "a b\n", "x\n");
  write_text(options.output, "former");
  EXPECT_THAT(message_of([&] { prepare(options); }), AllOf(HasSubstr("already exists"), HasSubstr("--overwrite")));
  options.overwrite = true;
  write_text(scratch / "train.src", "\xff\n");
  EXPECT_THAT(message_of([&] { prepare(options); }), HasSubstr("UTF-8"));
  EXPECT_EQ(read_file(options.output), "former");
  write_text(scratch / "train.src", "a b\n");
  prepare(options);
  EXPECT_EQ(Corpus(options.output).train_pairs(), 1u);
  options.output = options.train[0].target;
  EXPECT_THAT(message_of([&] { prepare(options); }), HasSubstr("one of the input files"));
  EXPECT_EQ(read_file(options.train[0].target), "x\n");
}

TEST(Prepare, LeavesACorpusThatItWouldWriteAgainAndSaysHowAnotherOneDiffers) {
  const Scratch scratch;
  const PrepareOptions first = tiny_options(scratch, 200);
  EXPECT_FALSE(prepare(first).unchanged);
  const std::string bytes = read_file(first.output);
  EXPECT_TRUE(prepare(first).unchanged);
  struct Case {
    const char* what;
    std::function<void(PrepareOptions&)> change;
  };
  for (const auto& [what, change] : {Case{"max-length is 7 here", [](auto& o) { o.cleaning.max_length = 7; }},
                                     {"drop-copies", [](auto& o) { o.cleaning.drop_copies = true; }},
                                     {"lowercase", [](auto& o) { o.pipeline.lowercase = true; }},
                                     {"target-language is xx", [](auto& o) { o.pipeline.target_language = "xx"; }},
                                     {"source vocabulary is 10 here", [](auto& o) { o.source_words = 10; }},
                                     {"joint-vocabulary", [](auto& o) { o.joint_vocabulary = true; }},
                                     {"pairs of the training text", [](auto& o) { o.train.push_back(o.train[0]); }},
                                     {"sets are others",
                                      [](auto& o) {
                                        o.dev = EvaluationFiles{"dev", o.train[0].source, {o.train[0].target}};
                                      }},
                                     {"training text is another one", [](auto& o) {
                                        std::string text = read_file(o.train[0].source);
                                        text.append(text, 0, text.find('\n') + 1).erase(0, text.find('\n') + 1);
                                        write_text(o.train[0].source, text);  // the same lines in another order
                                      }}}) {
    PrepareOptions options = first;
    change(options);
    EXPECT_THAT(message_of([&] { prepare(options); }), AllOf(HasSubstr("already exists"), HasSubstr(what)));
    EXPECT_TRUE(read_file(first.output) == bytes) << what;
  }
  PrepareOptions only_check = first;
  only_check.overwrite = only_check.only_check = true;
  prepare(only_check);
  EXPECT_TRUE(read_file(first.output) == bytes);
}

std::string digest_of(const std::filesystem::path& corpus) {
  return storage::sealed_digest(corpus, "corpus");
}

TEST(Prepare, WritesTheSameBytesOnAnyNumberOfThreadsAndInAnyMemory) {
  const Scratch scratch;
  PrepareOptions options = tiny_options(scratch, 20000);  // blocks, and pieces in them
  options.overwrite = true;
  options.source_words = 5000;
  prepare(options);
  const std::string digest = digest_of(options.output);
  const std::size_t threads = thread_count();
  for (const std::size_t count : {1, 2, 3}) {
    set_thread_count(count);
    options.memory = count == 2 ? 1 : std::size_t{1} << 30;
    prepare(options);
    EXPECT_EQ(digest_of(options.output), digest) << count << " threads";
  }
  set_thread_count(threads);
}

TEST(Prepare, TakesTextsInPiecesAndAsTabSeparatedValues) {
  const Scratch scratch;
  PrepareOptions options = options_of(scratch, "a b\nc\nd e\n", "x\ny z\nw\n");
  prepare(options);
  const std::string fingerprint = Corpus(options.output).fingerprint();
  options.overwrite = true;
  options.train = {{write_text(scratch / "1.src", "a b\n"), write_text(scratch / "1.tgt", "x")},
                   {write_text(scratch / "2.tsv",
                               "\xef\xbb\xbf"
                               "c\ty z\tanother column\nd e\tw\r\n"),
                    {}}};
  EXPECT_EQ(prepare(options).pairs_kept, 3u);
  EXPECT_EQ(Corpus(options.output).fingerprint(), fingerprint);
  write_text(scratch / "2.tsv", "c\ty z\nabc\t\xff\n");
  EXPECT_THAT(message_of([&] { prepare(options); }), HasSubstr("2.tsv, line 2, byte 5"));
  write_text(scratch / "2.tsv", "c\ty z\nd e w\n");
  EXPECT_THAT(message_of([&] { prepare(options); }), AllOf(HasSubstr("2.tsv line 2"), HasSubstr("no tab")));
}

TEST(Prepare, NamesTheFirstBadLineWhoeverFindsOneFirst) {
  const Scratch scratch;
  std::string source, target;
  for (int i = 0; i < 3000; ++i) source += "a\n", target += i % 100 == 57 ? "\xff\n" : "x\n";
  const PrepareOptions options = options_of(scratch, source, target);
  for (int i = 0; i < 5; ++i) EXPECT_THAT(message_of([&] { prepare(options); }), HasSubstr("train.tgt, line 58, "));
}

TEST(Prepare, NamesABadLineBeforeOneThatCannotBeRead) {
  const Scratch scratch;
  PrepareOptions options = options_of(scratch, "a\n\xff\nc\n", "x\ny\nz\nno source\n");
  EXPECT_THAT(message_of([&] { prepare(options); }), HasSubstr("train.src, line 2, byte 1: not valid UTF-8"));
  options.train = {{write_text(scratch / "both.tsv", std::string("a\tx\n\xff\ty\nno tab\n")), {}}};
  EXPECT_THAT(message_of([&] { prepare(options); }), HasSubstr("both.tsv, line 2, byte 1: not valid UTF-8"));
  write_text(scratch / "both.tsv", "a\tx\nno tab\n\xff\ty\n");
  EXPECT_THAT(message_of([&] { prepare(options); }), HasSubstr("both.tsv line 2 has no tab"));
}

TEST(Prepare, NoticesTextOfTheSameWordsThatChangesWhileItIsRead) {
  for (const int pass : {0, 1}) {
    const Scratch scratch;
    PrepareOptions options = options_of(scratch, "a b\nc\n", "x\ny\n");
    options.cleaning.drop_repeated = pass == 0;
    EXPECT_THAT(message_of([&] {
                  prepare(options, [&](const PrepareProgress& step) {
                    if (step.pass == pass) write_text(scratch / "train.src", "b a\nc\n");
                  });
                }),
                HasSubstr("changed while it was read"));
    EXPECT_FALSE(std::filesystem::exists(options.output));
  }
}

TEST(Prepare, NoticesTextThatChangesWhileItIsRead) {
  const Scratch scratch;
  const PrepareOptions options = tiny_options(scratch, 10);
  const std::size_t files = scratch.files();
  EXPECT_THAT(message_of([&] {
                prepare(options, [&](const PrepareProgress& step) {
                  if (step.pass == 1) tiny_options(scratch, 11);
                });
              }),
              HasSubstr("changed while it was read"));
  EXPECT_EQ(scratch.files(), files);
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
  PrepareOptions options;
  options.train = {{write_text(scratch / "s", "abc abc abd\n"), write_text(scratch / "t", "abc\n")}};
  options.output = scratch / "corpus.h5";
  options.pipeline.tokenizer = "none";
  options.subwords.source_codes = options.subwords.target_codes = write_text(scratch / "codes", "a b\n");
  options.source_words = 5;  // <unk> <s> </s> ab@@ c
  const PrepareReport report = prepare(options);
  EXPECT_EQ(report.source.words, 6u);
  EXPECT_EQ(report.source.unknown_words, 1u);  // d
  EXPECT_THAT(Corpus(options.output).source_vocabulary().words(), ElementsAre("<unk>", "<s>", "</s>", "ab@@", "c"));
}

}  // namespace
}  // namespace rnnsearch::corpus
