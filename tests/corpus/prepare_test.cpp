#include "rnnsearch/corpus/prepare.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include "rnnsearch/base/file.h"
#include "rnnsearch/corpus/corpus.h"
#include "tests/corpus/tiny_corpus.h"

namespace rnnsearch::corpus {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

PrepareOptions options_of(const Scratch& scratch, const std::string& source, const std::string& target) {
  PrepareOptions options;
  options.train_source = write_text(scratch / "train.src", source);
  options.train_target = write_text(scratch / "train.tgt", target);
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

TEST(Prepare, TakesTheVocabulariesOfAnotherCorpus) {
  const Scratch scratch;
  PrepareOptions all = options_of(scratch, "b a a d\nc b a\n", "x\nx y\n");
  all.source_words = 6;
  prepare(all);
  PrepareOptions part = all;
  part.source_words = {};
  part.max_length = 3;
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
  std::swap(other.pipeline.source_language, other.pipeline.target_language);
  other.output = all.output;
  EXPECT_THAT(message_of([&] { prepare(other); }), HasSubstr("one of the files to be read"));
}

TEST(Prepare, CountsEveryDroppedPairByItsReason) {
  const Scratch scratch;
  PrepareOptions options = options_of(scratch, "a\n \t\n\na b c d\na\na b c\n", "x\nx\n\nx\nx y x y\nx y x\n");
  options.max_length = 3;
  const PrepareReport report = prepare(options);
  EXPECT_EQ(report.pairs_read, 6u);
  EXPECT_EQ(report.pairs_kept, 2u);
  EXPECT_EQ(report.dropped.empty_source, 2u);
  EXPECT_EQ(report.dropped.empty_target, 0u);
  EXPECT_EQ(report.dropped.long_source, 1u);
  EXPECT_EQ(report.dropped.long_target, 1u);
  EXPECT_EQ(report.source.words, 4u) << "dropped pairs do not count";
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

TEST(Prepare, GivesTheSameFingerprintWhateverTheShardsAndAnotherForOtherContent) {
  const Scratch scratch;
  PrepareOptions options = tiny_options(scratch, 50);
  options.overwrite = true;
  const std::string fingerprint = prepare(options).fingerprint;
  options.shard_pairs = 7;
  EXPECT_EQ(prepare(options).fingerprint, fingerprint);
  options.max_length = 11;
  EXPECT_NE(prepare(options).fingerprint, fingerprint);
  options.max_length = 50;
  options.pipeline.source_language = "en";
  EXPECT_NE(prepare(options).fingerprint, fingerprint);
}

TEST(Prepare, ReportsItsProgressToTheEnd) {
  const Scratch scratch;
  std::vector<PrepareProgress> steps;
  prepare(tiny_options(scratch, 10), [&](const PrepareProgress& step) { steps.push_back(step); });
  ASSERT_EQ(steps.size(), 2u);
  for (const PrepareProgress& step : steps) {
    EXPECT_EQ(step.bytes, step.bytes_in_all);
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
       {"train.src line 2", "byte 3", "0xe9", "UTF-8"}},
      {"a surrogate",
       [](auto& o, auto& s) {
         write_text(s / "train.tgt", "x\n\xed\xa0\x80\nc\n");
         (void)o;
       },
       {"train.tgt line 2", "byte 1"}},
      {"NUL",
       [](auto& o, auto& s) {
         write_text(s / "train.src", std::string("a\nb\na\0c\n", 8));
         (void)o;
       },
       {"train.src line 3", "NUL", "byte 2"}},
      {"empty",
       [](auto& o, auto& s) {
         write_text(s / "train.src", "");
         (void)o;
       },
       {"train.src", "empty"}},
      {"missing", [](auto& o, auto& s) { o.train_target = s / "none"; }, {"none", "no such file"}},
      {"folder", [](auto& o, auto& s) { o.train_target = s.path(); }, {"folder"}},
      {"pipe",
       [](auto& o, auto& s) {
         ::mkfifo((s / "pipe").c_str(), 0600);
         o.train_target = s / "pipe";
       },
       {"regular"}},
      {"endless line",
       [](auto& o, auto& s) {
         write_text(s / "train.src", std::string(17u << 20, 'a'));
         (void)o;
       },
       {"train.src line 1", "16 MiB"}},
      {"all dropped",
       [](auto& o, auto&) { o.max_length = 1; },
       {"nothing is left of the 3 pairs", "0 have an empty source", "2 a source", "1 a target", "more than 1 words"}},
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
       {"dev.src line 1", "NUL"}},
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
      {"max_length 0", [](auto& o, auto&) { o.max_length = 0; }, {"max-length is 0"}},
      {"tokenizer", [](auto& o, auto&) { o.pipeline.tokenizer = "moses"; }, {"'moses'"}},
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
    EXPECT_THAT(message, testing::StartsWith(refusal.name == std::string("tokenizer") ? "there is" : "corpus: "));
    EXPECT_THAT(message, testing::Not(HasSubstr("\n")));
    for (const std::string& part : refusal.said) EXPECT_THAT(message, HasSubstr(part));
    EXPECT_EQ(scratch.files(), files) << "something was left behind";
  }
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
  EXPECT_THAT(message_of([&] { prepare(options); }), AllOf(HasSubstr("exists already"), HasSubstr("--overwrite")));
  options.overwrite = true;
  write_text(scratch / "train.src", "\xff\n");
  EXPECT_THAT(message_of([&] { prepare(options); }), HasSubstr("UTF-8"));
  EXPECT_EQ(read_file(options.output), "former");
  write_text(scratch / "train.src", "a b\n");
  prepare(options);
  EXPECT_EQ(Corpus(options.output).train_pairs(), 1u);
  options.output = options.train_target;
  EXPECT_THAT(message_of([&] { prepare(options); }), HasSubstr("files to be read"));
  EXPECT_EQ(read_file(options.train_target), "x\n");
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

}  // namespace
}  // namespace rnnsearch::corpus
