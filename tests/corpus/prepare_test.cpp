#include "rnnsearch/corpus/prepare.h"

#include <sys/stat.h>

#include "rnnsearch/base/file.h"
#include "rnnsearch/base/parallel.h"
#include "rnnsearch/corpus/corpus.h"
#include "rnnsearch/storage/sealed_file.h"
#include "tests/corpus/tiny_corpus.h"
#include "tests/support/test.h"

namespace rnnsearch::corpus {
namespace {

TEST_F(Prepare, WritesWhatTheTextHolds) {
  PrepareOptions options = text_options(scratch_, "b a a\r\nc b a\n", "x\nx y\n");
  options.pipeline.source_language = "en";
  options.pipeline.target_language = "fr";
  options.dev = EvaluationFiles{
      "", write_text(scratch_ / "dev.src", "A  a\n\nzz b"), {write_text(scratch_ / "dev.tgt", "x\ny y\n\n")}};
  options.tests.push_back({"news",
                           write_text(scratch_ / "news.src", "c\n"),
                           {write_text(scratch_ / "news.1", "y X\n"), write_text(scratch_ / "news.2", "second\n")}});
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

TEST_F(Prepare, CountsEveryDroppedPairByItsReason) {
  PrepareOptions options = text_options(scratch_, "a\n \t\n\na b c d\na\na b c\n", "x\nx\n\nx\nx y x y\nx y x\n");
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

TEST_F(Prepare, KeepsEmptyTargetsWhereAsked) {
  PrepareOptions options = text_options(scratch_, "a b\n\na\nb\n", "x\nx\n\ny\n");
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

TEST_F(Prepare, CleansAndRemembersWhatItDropped) {
  PrepareOptions options =
      text_options(scratch_, "a b\n\na\na b c d e f\na b c d e\na b\nда нет a\nнет\n12 .\na b\na b \n",
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
  EXPECT_THAT(report.dropped.counts, ElementsAre(1, 1, 1, 0, 1, 1, 2, 0, 1, 0));
  const Corpus corpus(options.output);
  EXPECT_EQ(corpus.selection().cleaning, options.cleaning);
  EXPECT_EQ(corpus.selection().pairs_read, 11u);
  EXPECT_EQ(corpus.selection().dropped, report.dropped);
  EXPECT_THAT(corpus.read_lengths(1, 2), ElementsAre(ElementsAre(2, 2), ElementsAre(2, 2)));

  options.overwrite = true;
  options.cleaning.target_script = "Greek";
  EXPECT_EQ(prepare(options).dropped[Drop::kTargetScript], 3u) << "the first reason that holds counts";
  write_text(scratch_ / "train.src", "a\nb\n");
  write_text(scratch_ / "train.tgt", "x\ny\n");
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

TEST_F(Prepare, DropsUnlikelyPairsWithTheirLinksAndWeights) {
  constexpr std::size_t kPairs = 2000, kWords = 200, kOthers = 10;  // one pair in ten does not belong together
  Random random(11);
  std::string source, target, weights;
  for (std::size_t i = 0; i < kPairs; ++i) {
    for (std::uint64_t n = 4 + random.below(9); n > 0; --n) {
      const std::uint64_t word = random.below(kWords);
      source += fmt::format("s{} ", word);
      target += fmt::format("t{} ", i % kOthers == 0 ? random.below(kWords) : word);
    }
    source += "\n";
    target += "\n";
    weights += fmt::format("{}\n", i);
  }
  PrepareOptions options = text_options(scratch_, source, target);
  options.train[0].weights = write_text(scratch_ / "weights", weights);
  options.cleaning.drop_unlikely = 1;
  EXPECT_THAT(message_of([&] { prepare(options); }), HasSubstr("add learn-alignments"));
  options.learn_alignments = true;
  const PrepareReport report = prepare(options);
  EXPECT_THAT(report.dropped[Drop::kUnlikely], testing::AllOf(testing::Ge(175u), testing::Le(205u)));
  EXPECT_EQ(report.pairs_kept, kPairs - report.dropped[Drop::kUnlikely]);
  const Corpus corpus(options.output);
  EXPECT_EQ(corpus.selection().dropped, report.dropped);
  ASSERT_EQ(corpus.train_pairs(), report.pairs_kept);
  const PairBlock block = corpus.read_pairs(0, corpus.train_pairs());
  EXPECT_EQ(report.source.words, block.source.words.size());
  const auto& counts = corpus.target_vocabulary().counts();
  EXPECT_EQ(counts[kEnd], report.pairs_kept);
  EXPECT_EQ(counts[5], static_cast<std::uint64_t>(std::ranges::count(block.target.words, WordId{5})));
  std::size_t belonging = 0, wrong = 0;
  for (std::size_t k = 0; k < block.source.size(); ++k) {
    const auto number = static_cast<std::size_t>(block.weights[k]);
    belonging += number % kOthers != 0;
    std::string words = words_of(block.source[k], corpus.source_vocabulary());
    std::ranges::replace(words, 's', 't');
    EXPECT_EQ(words == words_of(block.target[k], corpus.target_vocabulary()), number % kOthers != 0);
    const auto links = block.links[k];
    for (std::size_t i = 0; number % kOthers != 0 && i < links.size(); i += 2) wrong += links[i] != links[i + 1];
  }
  EXPECT_GE(belonging, kPairs * 9 / 10 - 5);
  EXPECT_LE(wrong, block.links.words.size() / 100);
  EXPECT_TRUE(prepare(options).unchanged);
  options.cleaning.drop_unlikely = 0;
  EXPECT_THAT(message_of([&] { prepare(options); }), HasSubstr("drop-unlikely"));
}

TEST_F(Prepare, DropsRepeatedPairsInAnyMemory) {
  std::string source, target;
  for (int i = 0; i < 20000; ++i) {  // pairs 0 to 6999, again and again; the target alone differs in some
    source += fmt::format("s{}\n", i % 3500);
    target += fmt::format("t{}\n", i % 7000);
  }
  PrepareOptions options = text_options(scratch_, source, target);
  options.cleaning.drop_repeated = true;
  EXPECT_EQ(prepare(options).dropped[Drop::kRepeated], 13000u);
  const std::string digest = storage::sealed_digest(options.output, "corpus");
  options.overwrite = true;
  options.memory = 1;
  prepare(options);
  EXPECT_EQ(storage::sealed_digest(options.output, "corpus"), digest);
}

TEST_F(Prepare, KeepsTheMostFrequentWordsAndBreaksTiesByBytes) {
  PrepareOptions options = text_options(scratch_, "d c b b a\n", "x\n");
  options.source_words = 6;
  const PrepareReport report = prepare(options);
  const Corpus corpus(options.output);
  EXPECT_THAT(corpus.source_vocabulary().words(), ElementsAre("<unk>", "<s>", "</s>", "b", "a", "c"));
  EXPECT_EQ(corpus.source_vocabulary().counts()[kUnknown], 1u);
  EXPECT_EQ(report.source.unknown_words, 1u);
  EXPECT_DOUBLE_EQ(report.source.coverage(), 0.8);
}

TEST_F(Prepare, MakesWordsSpelledLikeSpecialSymbolsUnknown) {
  const PrepareOptions options = text_options(scratch_, "<s> a </s>\n", "<unk> x\n");
  prepare(options);
  const Corpus corpus(options.output);
  EXPECT_EQ(corpus.source_vocabulary().size(), 4u);
  const PairBlock block = corpus.read_pairs(0, 1);
  EXPECT_THAT(block.source.words, ElementsAre(kUnknown, 3, kUnknown));
  EXPECT_THAT(block.target.words, ElementsAre(kUnknown, 3));
}

TEST_F(Prepare, SplitsLinesAtLineFeedsAlone) {
  const PrepareOptions options = text_options(scratch_,
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

TEST_F(Prepare, UsesTheWordTokenizerByDefault) {
  PrepareOptions options = text_options(scratch_, "Hello, world.\n", "x\n");
  options.pipeline = {};
  options.pipeline.lowercase = true;
  prepare(options);
  const Corpus corpus(options.output);
  EXPECT_EQ(corpus.train_source_words(), 4u);
  EXPECT_NE(corpus.source_vocabulary().id("hello"), kUnknown);
}

TEST_F(Prepare, GivesTheSameFileForTheSameContentAndAnotherFingerprintForOther) {
  PrepareOptions options = tiny_options(scratch_, 50);
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

TEST_F(Prepare, ReportsItsProgressToTheEnd) {
  std::vector<PrepareProgress> steps;
  prepare(tiny_options(scratch_, 10), [&](const PrepareProgress& step) { steps.push_back(step); });
  ASSERT_EQ(steps.size(), 2u);
  for (const PrepareProgress& step : steps) {
    EXPECT_EQ(step.bytes, step.total_bytes);
    EXPECT_EQ(step.pairs, 10u);
  }
  EXPECT_EQ(steps[0].pass, 1);
  EXPECT_EQ(steps[1].pass, 2);
}

/// What is written to files before, what changes in the options, and what the message says.
struct Refusal {
  std::vector<std::pair<const char*, std::string>> files;
  std::function<void(PrepareOptions&, const Scratch&)> change;
  std::vector<std::string> said;
};

TEST_F(Prepare, RefusesHostileInputInOneSentenceAndWritesNothing) {
  const auto as_it_is = [](PrepareOptions&, const Scratch&) {};
  const auto with_dev = [](auto& o, auto& s) { o.dev = EvaluationFiles{"dev", s / "dev.src", {s / "dev.tgt"}}; };
  const auto with_test = [](const std::string& name, const std::vector<std::string>& references) {
    return [=](auto& o, auto& s) {
      o.tests.push_back({name, s / "t.src", {}});
      for (const std::string& reference : references) o.tests.back().references.push_back(s / reference);
    };
  };
  const std::vector<Refusal> refusals{
      {{{"train.tgt", "x\n"}}, as_it_is, {"train.src has 3 lines", "train.tgt has 1"}},
      {{{"train.tgt", "x\nx\nx\nx\nx"}}, as_it_is, {"train.src has 3 lines", "train.tgt has 5"}},
      {{{"train.src", "a\nab\xe9t\nc\n"}}, as_it_is, {"train.src, line 2, byte 3", "UTF-8"}},
      {{{"train.tgt", "x\n\xed\xa0\x80\nc\n"}}, as_it_is, {"train.tgt, line 2, byte 1"}},  // a surrogate
      {{{"train.src", {"a\nb\na\0c\n", 8}}}, as_it_is, {"train.src, line 3, byte 2", "NUL"}},
      {{{"train.src", ""}}, as_it_is, {"train.src", "empty"}},
      {{{"train.tgt", "\xef\xbb\xbf"}},
       [](auto&, auto& s) { EXPECT_EQ(std::system(fmt::format("gzip </dev/null >'{}'", s / "train.src").c_str()), 0); },
       {"train.src", "empty"}},
      {{}, [](auto& o, auto& s) { o.train[0].target = s / "none"; }, {"none", "no such file"}},
      {{}, [](auto& o, auto& s) { o.train[0].target = s.path(); }, {"folder"}},
      {{},
       [](auto& o, auto& s) {
         ::mkfifo((s / "pipe").c_str(), 0600);
         o.train[0].target = s / "pipe";
       },
       {"regular"}},
      {{{"train.src", std::string((1u << 20) + 1, 'a')}},
       as_it_is,
       {"train.src, line 1: longer than the 1048576 bytes of --max-line-bytes, beginning with 'aaaa"}},
      {{{"train.src", "a\nbbbbb\nc\n"}},
       [](auto& o, auto&) { o.line_limit.max_line_bytes = 4; },
       {"train.src, line 2: longer than the 4 bytes of --max-line-bytes", "'bbbbb'"}},
      {{},
       [](auto& o, auto&) { o.cleaning.max_length = 1; },
       {"none of the 3 pairs", "0 have an empty source", "2 a source", "1 a target", "more than 1 words"}},
      {{{"dev.src", "a\nb\n"}, {"dev.tgt", "a\n"}}, with_dev, {"dev.src has 2 lines", "dev.tgt has 1"}},
      {{{"dev.src", {"\0\n", 2}}, {"dev.tgt", "a\n"}}, with_dev, {"dev.src, line 1", "NUL"}},
      {{{"t.src", "a\n"}, {"t.tgt", "a\n"}}, with_test("t", {"t.tgt", "t.2"}), {"t.2", "no such file"}},
      {{{"t.src", "a\n"}}, with_test("t", {}), {"test/t", "reference"}},
      {{}, with_test("a/b", {"x"}), {"'a/b'"}},
      {{},
       [](auto& o, auto& s) {
         o.tests.assign(2, {"t", s / "x", {s / "x"}});
       },
       {"two test sets named t"}},
      {{}, [](auto& o, auto&) { o.source_words = 7; }, {"--source-words", "7", "3 distinct words", "--source-words 6"}},
      {{}, [](auto& o, auto&) { o.target_words = 9; }, {"--target-words", "train.tgt", "2 distinct words"}},
      {{}, [](auto& o, auto&) { o.source_words = 3; }, {"source-words is 3", "at least 4"}},
      {{}, [](auto& o, auto&) { o.cleaning.max_length = 0; }, {"max-length is 0"}},
      {{}, [](auto& o, auto&) { o.pipeline.tokenizer = "penn"; }, {"'penn'"}},
      {{}, [](auto& o, auto& s) { o.output = s / "no" / "corpus.h5"; }, {"there is no folder"}},
      {{}, [](auto& o, auto& s) { o.output = s.path(); }, {"it is a folder"}},
  };
  for (const Refusal& refusal : refusals) {
    SCOPED_TRACE(refusal.said.front());
    const Scratch scratch;
    PrepareOptions options = text_options(scratch, "a b\nb\na c\n", "x y\nx y\nx\n");
    for (const auto& [name, text] : refusal.files) write_text(scratch / name, text);
    refusal.change(options, scratch);
    const std::size_t files = scratch.files();
    const std::string message = message_of([&] { prepare(options); });
    EXPECT_THAT(message, AnyOf(StartsWith("corpus: "), StartsWith(scratch.path().string()), StartsWith("there is")));
    EXPECT_THAT(message, Not(HasSubstr("\n")));
    for (const std::string& part : refusal.said) EXPECT_THAT(message, HasSubstr(part));
    EXPECT_EQ(scratch.files(), files) << "something was left behind";
  }
}

TEST_F(Prepare, RefusesToReplaceWhatAnotherProcessWroteMeanwhile) {
  PrepareOptions options = text_options(scratch_, "a b\n", "x\n");
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

TEST_F(Prepare, ReplacesAFileOnlyWhenAskedAndOnlyByAWholeOne) {
  PrepareOptions options = text_options(scratch_, "a b\n", "x\n");
  write_text(options.output, "former");
  EXPECT_THAT(message_of([&] { prepare(options); }), AllOf(HasSubstr("already exists"), HasSubstr("--overwrite")));
  options.overwrite = true;
  write_text(scratch_ / "train.src", "\xff\n");
  EXPECT_THAT(message_of([&] { prepare(options); }), HasSubstr("UTF-8"));
  EXPECT_EQ(read_file(options.output), "former");
  write_text(scratch_ / "train.src", "a b\n");
  prepare(options);
  EXPECT_EQ(Corpus(options.output).train_pairs(), 1u);
  options.output = options.train[0].target;
  EXPECT_THAT(message_of([&] { prepare(options); }), HasSubstr("one of the input files"));
  EXPECT_EQ(read_file(options.train[0].target), "x\n");
}

TEST_F(Prepare, LeavesACorpusThatItWouldWriteAgainAndSaysHowAnotherOneDiffers) {
  const PrepareOptions first = tiny_options(scratch_, 200);
  EXPECT_FALSE(prepare(first).unchanged);
  const std::string bytes = read_file(first.output);
  EXPECT_TRUE(prepare(first).unchanged);
  struct Case {
    const char* what;
    std::function<void(PrepareOptions&)> change;
  };
  for (const auto& [what, change] :
       {Case{"max-length is 7 here", [](auto& o) { o.cleaning.max_length = 7; }},
        {"drop-copies", [](auto& o) { o.cleaning.drop_copies = true; }},
        {"lowercase", [](auto& o) { o.pipeline.lowercase = true; }},
        {"target-language is xx", [](auto& o) { o.pipeline.target_language = "xx"; }},
        {"source vocabulary is 10 here", [](auto& o) { o.source_words = 10; }},
        {"joint-vocabulary", [](auto& o) { o.joint_vocabulary = true; }},
        {"pairs of the training text", [](auto& o) { o.train.push_back(o.train[0]); }},
        {"only one of the two has word alignments", [](auto& o) { o.learn_alignments = true; }},
        {"sets are others",
         [](auto& o) {
           o.dev = EvaluationFiles{"dev", o.train[0].source, {o.train[0].target}};
         }},
        {"its training text, the weights of its pairs or their word alignments are others", [](auto& o) {
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

TEST_F(Prepare, WritesTheSameBytesOnAnyNumberOfThreadsAndInAnyMemory) {
  PrepareOptions options = tiny_options(scratch_, 20000);  // blocks, and pieces in them
  options.overwrite = true;
  options.source_words = 5000;
  prepare(options);
  const std::string digest = storage::sealed_digest(options.output, "corpus");
  for (const std::size_t count : {1, 2, 3}) {
    set_thread_count(count);
    options.memory = count == 2 ? 1 : std::size_t{1} << 30;
    prepare(options);
    EXPECT_EQ(storage::sealed_digest(options.output, "corpus"), digest) << count << " threads";
  }
}

TEST_F(Prepare, TakesTextsInPiecesAndAsTabSeparatedValues) {
  PrepareOptions options = text_options(scratch_, "a b\nc\nd e\n", "x\ny z\nw\n");
  prepare(options);
  const std::string fingerprint = Corpus(options.output).fingerprint();
  options.overwrite = true;
  options.train = {{write_text(scratch_ / "1.src", "a b\n"), write_text(scratch_ / "1.tgt", "x")},
                   {write_text(scratch_ / "2.tsv",
                               "\xef\xbb\xbf"
                               "c\ty z\tanother column\nd e\tw\r\n"),
                    {}}};
  EXPECT_EQ(prepare(options).pairs_kept, 3u);
  EXPECT_EQ(Corpus(options.output).fingerprint(), fingerprint);
  write_text(scratch_ / "2.tsv", "c\ty z\nabc\t\xff\n");
  EXPECT_THAT(message_of([&] { prepare(options); }), HasSubstr("2.tsv, line 2, byte 5"));
  write_text(scratch_ / "2.tsv", "c\ty z\nd e w\n");
  EXPECT_THAT(message_of([&] { prepare(options); }), AllOf(HasSubstr("2.tsv line 2"), HasSubstr("no tab")));
}

TEST_F(Prepare, NamesTheFirstBadLineWhoeverFindsOneFirst) {
  std::string source, target;
  for (int i = 0; i < 3000; ++i) source += "a\n", target += i % 100 == 57 ? "\xff\n" : "x\n";
  const PrepareOptions options = text_options(scratch_, source, target);
  for (int i = 0; i < 5; ++i) EXPECT_THAT(message_of([&] { prepare(options); }), HasSubstr("train.tgt, line 58, "));
}

TEST_F(Prepare, NamesABadLineBeforeOneThatCannotBeRead) {
  PrepareOptions options = text_options(scratch_, "a\n\xff\nc\n", "x\ny\nz\nno source\n");
  EXPECT_THAT(message_of([&] { prepare(options); }), HasSubstr("train.src, line 2, byte 1: not valid UTF-8"));
  options.train = {{write_text(scratch_ / "both.tsv", std::string("a\tx\n\xff\ty\nno tab\n")), {}}};
  EXPECT_THAT(message_of([&] { prepare(options); }), HasSubstr("both.tsv, line 2, byte 1: not valid UTF-8"));
  write_text(scratch_ / "both.tsv", "a\tx\nno tab\n\xff\ty\n");
  EXPECT_THAT(message_of([&] { prepare(options); }), HasSubstr("both.tsv line 2 has no tab"));
}

TEST_F(Prepare, NoticesTextThatChangesWhileItIsRead) {
  for (const auto& [source, target] : {std::pair("b a\nc\n", "x\ny\n"), {"a b\nc\nd\n", "x\ny\nz\n"}}) {
    for (const int pass : {0, 1}) {
      const Scratch scratch;
      PrepareOptions options = text_options(scratch, "a b\nc\n", "x\ny\n");
      options.cleaning.drop_repeated = pass == 0;
      const auto change = [&, &x = source, &y = target](const PrepareProgress& step) {
        if (step.pass != pass) return;
        write_text(scratch / "train.src", x);
        write_text(scratch / "train.tgt", y);
      };
      EXPECT_THAT(message_of([&] { prepare(options, change); }), HasSubstr("changed while it was read")) << pass;
      EXPECT_EQ(scratch.files(), 2u) << "something was left behind";
    }
  }
}

}  // namespace
}  // namespace rnnsearch::corpus
