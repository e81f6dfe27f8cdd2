#include "corpus/counted_text.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <set>

#include "rnnsearch/base/file.h"
#include "rnnsearch/storage/sealed_file.h"
#include "tests/corpus/tiny_corpus.h"

namespace rnnsearch::corpus {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

namespace fs = std::filesystem;

/// As a process that was killed while it wrote leaves it: what it counted is there, the corpus is not.
struct Killed {
  Scratch scratch;
  PrepareOptions options = tiny_options(scratch, 9000);
  fs::path left = scratch / ".corpus.h5.counted";
  std::string corpus;   // the bytes of the whole one
  std::string counted;  // of what was left

  Killed() {
    options.keep_counts_from = 0;
    options.cleaning.drop_repeated = true;
    options.cleaning.max_ratio = 4;
    prepare(options, [&](const PrepareProgress& step) {
      if (step.pass == 2) counted = read_file(left);
    });
    EXPECT_FALSE(fs::exists(left)) << "it is left beside a whole corpus";
    corpus = read_file(options.output);
    fs::remove(options.output);
    write_text(left, counted);
  }
  /// The passes of another start.
  std::set<int> passes(PrepareReport& report) {
    std::set<int> seen;
    report = prepare(options, [&](const PrepareProgress& step) { seen.insert(step.pass); });
    EXPECT_FALSE(fs::exists(left));
    return seen;
  }
};

TEST(CountedText, IsNotCountedAgain) {
  Killed killed;
  PrepareReport report;
  EXPECT_THAT(killed.passes(report), ElementsAre(2));
  EXPECT_TRUE(report.counted_before);
  EXPECT_TRUE(read_file(killed.options.output) == killed.corpus);
  EXPECT_GT(report.dropped[Drop::kRatio], 0u);
  EXPECT_EQ(report.dropped.total() + report.pairs_kept, report.pairs_read);

  killed.options.overwrite = true;
  EXPECT_THAT(killed.passes(report), ElementsAre(0, 1, 2)) << "once the corpus is whole";
  EXPECT_TRUE(read_file(killed.options.output) == killed.corpus);
}

TEST(CountedText, IsOfTheseFilesAndTheseOptions) {
  PrepareReport report;
  for (const auto& change : std::vector<std::function<void(Killed&)>>{
           [](Killed& it) { it.options.cleaning.max_length = 9; },
           [](Killed& it) { it.options.pipeline.lowercase = true; }, [](Killed& it) { it.options.source_words = 100; },
           [](Killed& it) { it.options.train.push_back(it.options.train[0]); },
           [](Killed& it) {
             const fs::path& file = it.options.train[0].target;
             fs::last_write_time(file, fs::last_write_time(file) + std::chrono::seconds(1));
           },
           [](Killed& it) { write_text(it.left, it.counted.substr(0, it.counted.size() / 2)); },
           [](Killed& it) { write_text(it.left, "something else"); }}) {
    Killed killed;
    change(killed);
    EXPECT_THAT(killed.passes(report), ElementsAre(0, 1, 2));
    EXPECT_FALSE(report.counted_before);
  }
}

/// Killed after subwords were learned, before the words were counted.
struct KilledAfterLearning {
  Scratch scratch;
  PrepareOptions options = tiny_options(scratch, 400);
  fs::path left = scratch / ".corpus.h5.counted";
  std::string corpus;  // the bytes of the whole one
  std::string learned;

  KilledAfterLearning() {
    options.keep_counts_from = 0;
    options.subwords.learned = "unigram";
    options.source_words = options.target_words = 280;
    prepare(options, [&](const PrepareProgress& step) {
      if (step.pass == 1) learned = read_file(left);
    });
    corpus = read_file(options.output);
    fs::remove(options.output);
    write_text(left, learned);
  }
  bool learns_again() {
    bool samples = false;
    const PrepareReport report = prepare(options, [&](const PrepareProgress& step) { samples |= step.pass == -1; });
    EXPECT_FALSE(report.counted_before);
    EXPECT_NE(report.learned_before, samples);
    EXPECT_FALSE(fs::exists(left));
    return samples;
  }
};

TEST(CountedText, HoldsWhatWasLearnedBeforeItIsCounted) {
  KilledAfterLearning killed;
  EXPECT_FALSE(killed.learns_again());
  EXPECT_TRUE(read_file(killed.options.output) == killed.corpus);
  fs::remove(killed.options.output);
  write_text(killed.left, killed.learned);
  killed.options.cleaning.max_length = 30;
  EXPECT_FALSE(killed.learns_again()) << "cleaning has no part in it";
  killed.options.overwrite = true;
  EXPECT_TRUE(killed.learns_again()) << "once the corpus is whole";
}

TEST(CountedText, HoldsWhatWasLearnedAlsoWhenItIsCounted) {
  KilledAfterLearning killed;
  std::string counted;
  const auto passes = [&] {
    std::set<int> seen;
    prepare(killed.options, [&](const PrepareProgress& step) {
      seen.insert(step.pass);
      if (step.pass == 2) counted = read_file(killed.left);
    });
    fs::remove(killed.options.output);
    return seen;
  };
  EXPECT_THAT(passes(), ElementsAre(1, 2));
  write_text(killed.left, counted);
  EXPECT_THAT(passes(), ElementsAre(2));
  write_text(killed.left, counted);
  killed.options.cleaning.max_length = 30;
  EXPECT_THAT(passes(), ElementsAre(1, 2)) << "counted again, not learned";
}

TEST(CountedText, IsOfTheseOptionsOfSubwords) {
  for (const auto& change : std::vector<std::function<void(PrepareOptions&)>>{
           [](auto& it) { it.subwords.learned = "bpe"; }, [](auto& it) { it.subwords.seed = 2; },
           [](auto& it) { it.subwords.sample_pairs = 300; }, [](auto& it) { it.subwords.normalization = "identity"; },
           [](auto& it) { it.source_words = 281; }, [](auto& it) { it.pipeline.lowercase = true; },
           [](auto& it) { it.train.push_back(it.train[0]); }}) {
    KilledAfterLearning killed;
    change(killed.options);
    EXPECT_TRUE(killed.learns_again());
  }
}

TEST(CountedText, IsNeverTakenForACorpus) {
  const Killed killed;
  EXPECT_THAT(message_of([&] { Corpus corpus(killed.left); }), HasSubstr("its format is rnnsearch-counted"));
}

TEST(CountedText, IsNotLeftByAnError) {
  Killed killed;
  EXPECT_THAT(message_of([&] {
                prepare(killed.options, [](const PrepareProgress& step) {
                  if (step.pass == 2) throw Error("stop");
                });
              }),
              HasSubstr("stop"));
  EXPECT_FALSE(fs::exists(killed.left));
  EXPECT_FALSE(fs::exists(killed.options.output));
}

}  // namespace
}  // namespace rnnsearch::corpus
