// Several processes, played by threads.
#include "rnnsearch/corpus/team.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <barrier>
#include <cstdlib>
#include <optional>
#include <thread>

#include "rnnsearch/base/file.h"
#include "rnnsearch/corpus/prepare.h"
#include "tests/corpus/tiny_corpus.h"
#include "tests/support/watchdog.h"

namespace rnnsearch::corpus {
namespace {

using testing::HasSubstr;

/// Where the members of a team meet.
struct Table {
  explicit Table(int size) : parts(static_cast<std::size_t>(size)), all(size) {}
  std::vector<std::optional<std::string>> parts;  // nothing: it failed
  std::vector<std::string> errors{std::vector<std::string>(parts.size())};
  std::string answer, error;
  std::barrier<> all;
};

class Member : public Team {
 public:
  Member(Table& table, int rank) : table_(table), rank_(rank) {}
  int rank() const override { return rank_; }
  int size() const override { return static_cast<int>(table_.parts.size()); }
  std::string meet(const std::function<std::string()>& part,
                   const std::function<std::string(std::vector<std::string> parts)>& combine) override {
    const auto at = static_cast<std::size_t>(rank_);
    table_.errors[at].clear();
    try {
      table_.parts[at] = part();
    } catch (const Error& error) {
      table_.errors[at] = error.what();
    }
    table_.all.arrive_and_wait();
    if (rank_ == 0) {
      table_.error.clear();
      for (const std::string& error : table_.errors) {
        if (table_.error.empty()) table_.error = error;
      }
      try {
        std::vector<std::string> parts;
        for (const auto& one : table_.parts) parts.push_back(one.value_or(""));
        if (table_.error.empty()) table_.answer = combine(std::move(parts));
      } catch (const Error& error) {
        table_.error = error.what();
      }
    }
    table_.all.arrive_and_wait();
    const std::string answer = table_.answer, error = table_.error;
    table_.all.arrive_and_wait();
    if (!error.empty()) throw Error(error);
    return answer;
  }

 private:
  Table& table_;
  int rank_;
};

/// What each rank says: the report of rank 0 in `report`, or the error of each.
std::vector<std::string> prepare_together(int ranks, const PrepareOptions& options, PrepareReport& report) {
  const support::Watchdog watchdog(60, "several processes that prepare a corpus");
  Table table(ranks);
  std::vector<std::string> said(static_cast<std::size_t>(ranks));
  std::vector<std::thread> threads;
  for (int rank = 0; rank < ranks; ++rank) {
    threads.emplace_back([&, rank] {
      Member member(table, rank);
      said[static_cast<std::size_t>(rank)] = message_of([&] {
        PrepareReport of_rank = prepare(options, member);
        if (rank == 0) report = std::move(of_rank);
      });
    });
  }
  for (std::thread& thread : threads) thread.join();
  return said;
}

/// Three texts: one of several units, a compressed one of one more, tab-separated values.
PrepareOptions several_texts(const Scratch& scratch, std::size_t pairs) {
  PrepareOptions options = tiny_options(scratch, pairs);
  const PrepareOptions more = tiny_options(scratch, 9000, 2);
  for (const auto* file : {&more.train[0].source, &more.train[0].target}) {
    const std::string to = (scratch / (file->filename().string() + ".gz")).string();
    EXPECT_EQ(std::system(text_of("gzip -c '", file->string(), "' >'", to, "'").c_str()), 0);
  }
  tiny_options(scratch, pairs);
  options.train.push_back({scratch / "train.src.gz", scratch / "train.tgt.gz"});
  options.train.push_back({write_text(scratch / "both.tsv", "a b\tx\na b\tx\n\xd0\xb0\ty\nlast\tz"), {}});
  options.cleaning.max_ratio = 6;
  options.cleaning.drop_repeated = true;
  options.cleaning.source_script = "Latin";
  options.source_words = 5000;
  options.overwrite = true;
  return options;
}

TEST(Team, WritesTheBitsOfOneProcess) {
  const Scratch scratch;
  for (const std::size_t pairs : {8192, 30000}) {
    PrepareOptions options = several_texts(scratch, pairs);
    options.train[0].alignments = write_links(scratch / "links", options.train[0]);  // of the first text alone
    const PrepareReport alone = prepare(options);
    EXPECT_EQ(alone.dropped[Drop::kRepeated] > 0 && alone.dropped[Drop::kRatio] > 0, true);
    const std::string bytes = read_file(options.output);
    for (const int ranks : {2, 3, 5}) {
      PrepareReport report;
      EXPECT_THAT(prepare_together(ranks, options, report), testing::Each("nothing was thrown"));
      EXPECT_TRUE(read_file(options.output) == bytes) << ranks << " ranks, " << pairs << " pairs";
      EXPECT_EQ(report.dropped, alone.dropped);
      EXPECT_EQ(report.source.unknown_words, alone.source.unknown_words);
      EXPECT_EQ(report.source.distinct_words, alone.source.distinct_words);
    }
  }
}

TEST(Team, MakesOneVocabularyOfBothSides) {
  const Scratch scratch;
  PrepareOptions options = several_texts(scratch, 9000);
  options.joint_vocabulary = true;
  options.memory = 1;
  prepare(options);
  const std::string bytes = read_file(options.output);
  PrepareReport report;
  prepare_together(3, options, report);
  EXPECT_TRUE(read_file(options.output) == bytes);
}

TEST(Team, GoesOnWhereOneProcessWasKilled) {
  const Scratch scratch;
  PrepareOptions options = several_texts(scratch, 9000);
  options.keep_counts_from = 0;
  const std::filesystem::path left = scratch / ".corpus.h5.counted";
  std::string counted;
  prepare(options, [&](const PrepareProgress& step) {
    if (step.pass == 2) counted = read_file(left);
  });
  const std::string bytes = read_file(options.output);
  std::filesystem::remove(options.output);
  write_text(left, counted);
  PrepareReport report;
  EXPECT_THAT(prepare_together(3, options, report), testing::Each("nothing was thrown"));
  EXPECT_TRUE(report.counted_before);
  EXPECT_TRUE(read_file(options.output) == bytes);
}

TEST(Team, TakesThePipelineWithTheVocabularies) {
  const Scratch scratch;
  PrepareOptions options = several_texts(scratch, 9000);
  options.source_words = {};
  options.pipeline.tokenizer = "none";
  options.pipeline.lowercase = true;
  prepare(options);
  options.vocabulary_of = options.output;
  options.given = {.source_language = false,
                   .target_language = false,
                   .tokenizer = false,
                   .normalization = false,
                   .lowercase = false};
  options.pipeline = {};
  options.pipeline.source_language = "none of these";
  options.output = scratch / "alone.h5";
  prepare(options);
  const std::string bytes = read_file(options.output);
  EXPECT_TRUE(bytes == read_file(options.vocabulary_of));
  PrepareReport report;
  EXPECT_THAT(prepare_together(3, options, report), testing::Each("nothing was thrown"));
  EXPECT_TRUE(read_file(options.output) == bytes);
}

TEST(Team, SaysOnEveryRankWhatOneProcessWouldSay) {
  const Scratch scratch;
  const auto same = [](PrepareOptions options, const std::string& part) {
    options.cleaning.drop_repeated = false;
    const std::string alone = message_of([&] { prepare(options); });
    EXPECT_THAT(alone, HasSubstr(part));
    for (const int ranks : {2, 3}) {
      PrepareReport report;
      EXPECT_THAT(prepare_together(ranks, options, report), testing::Each(alone)) << ranks << " ranks";
    }
    EXPECT_FALSE(std::filesystem::exists(options.output));
  };
  PrepareOptions options = several_texts(scratch, 30000);
  std::string source = read_file(options.train[0].source);
  std::ofstream(options.train[0].target, std::ios::app) << "one more\n";
  same(options, "train.src has 30000 lines but");
  std::size_t at = 0;  // two bad lines, the later one in a unit of an earlier rank
  for (int line = 0; line < 29000; ++line) {
    at = source.find('\n', at) + 1;
    if (line == 17000 || line == 28000) source[at] = '\xff';
  }
  write_text(options.train[0].source, source);
  same(options, "train.src, line 17002, byte 1: not valid UTF-8");
  options = several_texts(scratch, 9000);
  write_text(scratch / "both.tsv", "a\tb\nno tab\n");
  same(options, "both.tsv line 2 has no tab");
  write_text(scratch / "both.tsv", "a\tb\n");
  options.source_words = 1000000;
  same(options, "--source-words is 1000000");
  options.output = scratch / "nowhere" / "corpus.h5";
  same(options, "there is no folder");
}

}  // namespace
}  // namespace rnnsearch::corpus
