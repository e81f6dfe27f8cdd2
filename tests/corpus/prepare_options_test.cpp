#include "rnnsearch/corpus/prepare.h"

#include <sys/stat.h>
#include <nlohmann/json.hpp>

#include "corpus/prepare/repeated_pairs.h"
#include "corpus/prepare/word_statistics.h"
#include "rnnsearch/base/file.h"
#include "rnnsearch/base/portable.h"
#include "rnnsearch/corpus/text_lines.h"
#include "tests/corpus/tiny_corpus.h"
#include "tests/support/test.h"

namespace rnnsearch::corpus {
namespace {

TEST(EvaluationFiles, AreSeparatedByColonsThatAreNotEscaped) {
  const auto files = evaluation_files("news:a\\:b.txt:c:d");
  EXPECT_EQ(files.name, "news");
  EXPECT_EQ(files.source, "a:b.txt");
  EXPECT_THAT(files.references, ElementsAre("c", "d"));
  for (const char* text : {"", "news", "news:a", "news::c", "news:a:", "news:a:b:"}) {
    EXPECT_THAT(message_of([&] { evaluation_files(text); }), HasSubstr("NAME:SOURCE:REFERENCE")) << text;
  }
}

TEST(CleaningOptions, AreReadByTheirRows) {
  CleaningOptions options;
  const OptionList list = options_of(options);
  for (const Option& option : list.rows()) {
    const std::string text = option.text();
    EXPECT_TRUE(option.read(text)) << option.name;
  }
  EXPECT_EQ(options, CleaningOptions());
}

TEST(PrepareReport, NamesTheReasonsForWhichPairsWereDropped) {
  PrepareReport report;
  report.pairs_read = 1200;
  report.pairs_kept = 1199;
  report.dropped[Drop::kRepeated] = 1;
  report.sets = {{"test/a\x1b[2J", 3}};
  std::ostringstream out;
  print(report, "c.h5", out);
  EXPECT_THAT(out.str(), HasSubstr("pairs read     1,200\npairs kept     1,199\npairs dropped  1: "));
  EXPECT_THAT(out.str(), Not(HasSubstr("\x1b")));  // a name of somebody else's corpus
}

TEST(RepeatedPairs, AreAllButTheFirstOfThoseThatAreTheSame) {
  const Scratch scratch;
  for (const std::size_t memory : {std::size_t{1}, std::size_t{1} << 20}) {
    Random random(3);
    RepeatedPairs pairs(memory, scratch.path());
    std::set<std::uint64_t> seen;
    std::set<std::size_t> expected;
    std::size_t count = 0;
    for (; count < 5000; ++count) {
      const std::uint64_t pair = random.below(4000);
      if (!seen.insert(pair).second) expected.insert(count);
      const storage::ShortDigest digest = RepeatedPairs::digest_of(std::to_string(pair), "x");
      pairs.add(std::span(&digest, 1));
    }
    const PairSet repeated = pairs.take();
    for (std::size_t i = 0; i < count + 10; ++i) EXPECT_EQ(repeated.contains(i), expected.contains(i)) << i;
    EXPECT_EQ(scratch.files(), 0u);
  }
}

TEST(RepeatedPairs, TellWhichSideAWordStandsOn) {
  EXPECT_NE(RepeatedPairs::digest_of("a b", "c"), RepeatedPairs::digest_of("a ", "bc"));
  EXPECT_EQ(RepeatedPairs::digest_of("a b", "c"), RepeatedPairs::digest_of("a b", "c"));
}

TEST(Links, AreThePositionsOfALine) {
  std::vector<std::uint32_t> links;
  EXPECT_EQ(read_links("0-0 2-1\t1-2 0-0 2-1 \r", whole_words(3), whole_words(3), links), "") << "a set of links";
  EXPECT_THAT(links, ElementsAre(0, 0, 1, 2, 2, 1));
  EXPECT_EQ(read_links(" 2-0", whole_words(3), whole_words(1), links), "");
  EXPECT_THAT(links, ElementsAre(0, 0, 1, 2, 2, 1, 2, 0));
  links.clear();
  EXPECT_EQ(read_links("", whole_words(0), whole_words(0), links), "");
  EXPECT_EQ(read_links(" \t", whole_words(0), whole_words(0), links), "");
  EXPECT_TRUE(links.empty());
}

TEST(Links, OfWordsAreThoseOfEachPieceWithEachPiece) {
  const std::vector<WordPieces> source{{0, 2}, {2, 2}, {2, 5}}, target{{0, 1}, {0, 3}};  // of which one has no pieces
  std::vector<std::uint32_t> links;
  EXPECT_EQ(read_links("2-0 0-1 1-1", source, target, links), "");
  EXPECT_THAT(links, ElementsAre(0, 0, 0, 1, 0, 2, 1, 0, 1, 1, 1, 2, 2, 0, 3, 0, 4, 0));
  EXPECT_THAT(read_links("3-0", source, target, links), HasSubstr("the link 3-0 is past the 3 words of the source"));
}

TEST(Links, AreRefusedWhereTheyAreNotBetweenWordsOfThePair) {
  std::vector<std::uint32_t> links;
  for (const char* line : {"0:0", "0-", "-0", "0", "a-0", "0-0x", "0-0-0", "0--1", "-1-0", "+1-0", "1 - 0", "0?0",
                           "4294967296-0", "0-99999999999999999999"}) {
    EXPECT_THAT(read_links(line, whole_words(9), whole_words(9), links), HasSubstr("is not a link such as 0-0"))
        << line;
  }
  EXPECT_THAT(read_links("0-0 3-0", whole_words(3), whole_words(9), links),
              HasSubstr("the link 3-0 is past the 3 words of the source"));
  EXPECT_THAT(read_links("0-0 0-3", whole_words(9), whole_words(3), links),
              HasSubstr("the link 0-3 is past the 3 words of the target"));
  EXPECT_THAT(read_links("0-0", whole_words(0), whole_words(1), links), HasSubstr("past the 0 words of the source"));
  EXPECT_THAT(read_links("\x1b[2J", whole_words(1), whole_words(1), links), HasSubstr("'\\x1b[2J' is not a link"));
}

TEST(ReadLines, RefusesAnEmptyFileAndFilesOfDifferentLengths) {
  const Scratch scratch;
  const auto empty = write_text(scratch / "empty", ""), one = write_text(scratch / "one", "a\n");
  EXPECT_THAT(message_of([&] { read_lines(empty, {}); }), HasSubstr("is empty"));
  ASSERT_EQ(std::system(("gzip -c '" + empty.string() + "' >'" + (scratch / "packed").string() + "'").c_str()), 0);
  EXPECT_THAT(message_of([&] { read_lines(scratch / "packed", {}); }), HasSubstr("is empty"));
  EXPECT_THAT(read_lines(one, {}), ElementsAre("a"));
  EXPECT_THAT(message_of([&] { check_same_lines({one, 1}, {empty, 2}); }), HasSubstr("one has 1 lines but"));
}

TEST(ChosenLines, AreEachOnceAndInOrder) {
  EXPECT_THAT(chosen_lines("7,2-4,3", 9, "text"), ElementsAre(1, 2, 3, 6));
  EXPECT_THAT(chosen_lines("", 3, "text"), ElementsAre(0, 1, 2));
}

TEST(ChosenLines, RefuseWhatNamesNoLine) {
  for (const char* asked : {"x", "0", "3-2", "1,", "1-", "-2", "1;2"}) {
    EXPECT_THAT(message_of([&] { chosen_lines(asked, 9, "text"); }), HasSubstr("is neither a line nor a range"))
        << asked;
  }
  EXPECT_THAT(message_of([&] { chosen_lines("2-10", 9, "text"); }),
              HasSubstr("there is no line 10 in text, which has 9"));
}

std::string all_of(const std::filesystem::path& path) {
  const auto stream = open_text(path);
  std::string text;
  for (std::string_view bytes; !(bytes = stream->take()).empty();) text += bytes;
  std::replace(text.begin(), text.end(), '\n', '|');
  return text;
}

TEST(TextStream, UnpacksFilesAndTakesPipesAsTheyAre) {
  const Scratch scratch;
  std::string text, lines;
  for (int i = 0; i < 100000; ++i) {  // several buffers
    text += fmt::format("line {}\n", i);
    lines += fmt::format("line {}|", i);
  }
  write_file_atomically(scratch / "plain", text);
  EXPECT_TRUE(all_of(scratch / "plain") == lines);
  const std::string to = "' <'" + (scratch / "plain").string() + "' >'" + (scratch / "packed").string() + "'";
  for (const std::string tool : {"gzip", "zstd", "xz"}) {
    ASSERT_EQ(std::system(("'" + tool + "' '-c" + to).c_str()), 0);
    EXPECT_TRUE(all_of(scratch / "packed") == lines) << tool;
    const std::string packed = read_file(scratch / "packed");
    write_file_atomically(scratch / "half", packed.substr(0, packed.size() / 2));
    EXPECT_THAT(message_of([&] { all_of(scratch / "half"); }), HasSubstr("half")) << tool;
  }
  ASSERT_EQ(::mkfifo((scratch / "pipe").c_str(), 0600), 0);
  std::thread writer([&] { std::ofstream(scratch / "pipe") << "a\nb"; });
  EXPECT_EQ(all_of(scratch / "pipe"), "a|b");
  writer.join();
  write_file_atomically(scratch / "empty", "");
  EXPECT_EQ(all_of(scratch / "empty"), "");
}

TEST(TextStream, RefusesWhatIsNoText) {
  const Scratch scratch;
  EXPECT_THAT(message_of([&] { open_text(scratch / "none"); }), HasSubstr("cannot read"));
  EXPECT_THAT(message_of([&] { open_text(scratch.path()); }), HasSubstr("is a folder"));
}

std::map<std::string, std::uint64_t> counted(WordCounter& counter) {
  std::map<std::string, std::uint64_t> found;
  std::string last;
  counter.for_each([&](std::string_view word, std::uint64_t count) {
    EXPECT_TRUE(found.empty() || last < word) << "out of order";
    last = word;
    found.emplace(word, count);
  });
  return found;
}

// Words of all lengths from 0 on, with bytes of all values, of which some are frequent.
std::string random_word(Random& random) {
  std::string word;
  for (std::uint64_t i = random.below(1 + random.below(24)); i > 0; --i)
    word.push_back(static_cast<char>(random.below(random.below(2) == 0 ? 4 : 256)));
  return word;
}

void expect_counts(std::size_t memory, std::size_t words, bool spills) {
  const Scratch scratch;
  WordCounter counter(memory, scratch.path());
  std::map<std::string, std::uint64_t> expected;
  Random random(7);
  for (std::size_t i = 0; i < words; ++i) {
    const std::string word = random_word(random);
    const std::uint64_t count = 1 + random.below(3);
    counter.add(word, WordCounter::hash_of(word), count);
    expected[word] += count;
  }
  EXPECT_EQ(counter.spilled() > 0, spills);
  EXPECT_EQ(scratch.files(), 0u) << "its files have no names";
  EXPECT_EQ(counted(counter), expected);
}

TEST(WordCounter, CountsEveryWordInMemory) { expect_counts(64 << 20, 200000, false); }

TEST(WordCounter, CountsTheSameWithFilesForWhatDoesNotFit) { expect_counts(WordCounter::kLeastMemory, 200000, true); }

TEST(WordCounter, TakesAWordThatIsLargerThanItsMemory) {
  const Scratch scratch;
  WordCounter counter(WordCounter::kLeastMemory, scratch.path());
  const std::string giant(1 << 20, 'x');
  for (const std::string& word : {std::string("a"), giant, std::string("b"), giant})
    counter.add(word, WordCounter::hash_of(word));
  EXPECT_EQ(counted(counter), (std::map<std::string, std::uint64_t>{{"a", 1}, {"b", 1}, {giant, 2}}));
}

TEST(WordCounter, DoesNotMixUpWordsOfOneHash) {
  const Scratch scratch;
  WordCounter counter(WordCounter::kLeastMemory, scratch.path());
  for (const char* word : {"a", "b", "a", "c"}) counter.add(word, 5);
  EXPECT_EQ(counted(counter), (std::map<std::string, std::uint64_t>{{"a", 2}, {"b", 1}, {"c", 1}}));
}

TEST(WordCounter, SpillsBesideOthersAtTheSameTime) {
  const Scratch scratch;
  constexpr int kCounters = 8, kWords = 40000;
  std::vector<std::thread> threads;
  std::vector<std::size_t> files(kCounters);
  std::vector<std::map<std::string, std::uint64_t>> found(kCounters);
  for (int c = 0; c < kCounters; ++c) {
    threads.emplace_back([&, c] {
      WordCounter counter(WordCounter::kLeastMemory, scratch.path());
      for (int i = 0; i < 2 * kWords; ++i) {
        const std::string word = std::to_string(c) + " " + std::to_string(i % kWords);
        counter.add(word, WordCounter::hash_of(word));
        files[static_cast<std::size_t>(c)] = std::max(files[static_cast<std::size_t>(c)], counter.spilled());
      }
      counter.for_each(
          [&](std::string_view word, std::uint64_t count) { found[static_cast<std::size_t>(c)].emplace(word, count); });
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (std::size_t c = 0; c < kCounters; ++c) {
    EXPECT_EQ(found[c].size(), std::size_t{kWords});
    for (const auto& [word, count] : found[c]) {
      ASSERT_TRUE(word.starts_with(std::to_string(c) + " ")) << word << " is of another counter";
      ASSERT_EQ(count, 2u) << word;
    }
    EXPECT_GT(files[c], 1u);
    EXPECT_LT(files[c], 8u) << "open files grow with the text";
  }
}

TEST(WordCounter, SaysWhereThereIsNoRoom) {
  const Scratch scratch;
  WordCounter counter(WordCounter::kLeastMemory, scratch / "none");
  const auto fill = [&] {
    for (int i = 0; i < 100000; ++i) {
      const std::string word = std::to_string(i);
      counter.add(word, WordCounter::hash_of(word));
    }
  };
  EXPECT_THAT(message_of(fill), AllOf(HasSubstr("none"), HasSubstr("--memory")));
}

}  // namespace
}  // namespace rnnsearch::corpus
