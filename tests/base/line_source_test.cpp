#include "rnnsearch/base/line_source.h"

#include <unistd.h>

#include "tests/support/given_bytes.h"
#include "tests/support/test.h"
#include "tests/support/watchdog.h"

namespace rnnsearch {
namespace {

constexpr std::size_t kLineBytes = 3u << 20;  // more than a pipe holds

struct Stopped {};

/// A pipe, and the lines that arrive through it. Reading throws Stopped where it would wait for more.
class ArrivingLines : public testing::Test {
 protected:
  void SetUp() override {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    reads_ = ends[0];
    writes_ = ends[1];
    const auto poll = [this] {
      if (patience_-- == 0) throw Stopped();
    };
    lines_.emplace(std::make_unique<WaitingInput>(reads_, "the pipe", poll), "the pipe", LineLimit{kLineBytes});
  }
  void TearDown() override {
    ::close(reads_);
    if (writes_ >= 0) ::close(writes_);
  }
  void write(const std::string& text) {
    ASSERT_EQ(::write(writes_, text.data(), text.size()), static_cast<ssize_t>(text.size()));
  }
  void end() {
    ::close(writes_);
    writes_ = -1;
  }
  /// The texts of what is there; "WAITS" if nothing is.
  std::vector<std::string> next(std::size_t count) {
    patience_ = 3;
    try {
      std::vector<std::string> texts;
      for (Line line; texts.size() < count && lines_->next(line, texts.empty());)
        texts.push_back(line.problem.empty() ? line.text : line.problem);
      return texts;
    } catch (const Stopped&) {
      return {"WAITS"};
    }
  }

  using Texts = std::vector<std::string>;
  int reads_ = -1, writes_ = -1, patience_ = 0;
  std::optional<LineSource> lines_;
  support::Watchdog watchdog_{120, "reading of a pipe"};
};

TEST_F(ArrivingLines, ReturnWhatIsThereAndWaitForNoMore) {
  EXPECT_EQ(next(4), Texts{"WAITS"});
  write("one\n");
  EXPECT_EQ(next(4), Texts{"one"});
  write("two\n\nfour\nhalf a ");
  EXPECT_EQ(next(4), (Texts{"two", "", "four"})) << "a line that has begun does not hold up those before it";
  EXPECT_EQ(next(4), Texts{"WAITS"});
  write("line\nsix");
  EXPECT_EQ(next(4), Texts{"half a line"});
  end();
  EXPECT_EQ(next(4), Texts{"six"});
  EXPECT_EQ(next(4), Texts{});
  EXPECT_EQ(next(4), Texts{});
}

TEST_F(ArrivingLines, AreNoMoreThanAskedFor) {
  write("1\n2\n3\n4\n5\n");
  EXPECT_EQ(next(2), (Texts{"1", "2"}));
  EXPECT_EQ(next(1), Texts{"3"});
  end();
  EXPECT_EQ(next(2), (Texts{"4", "5"}));
  EXPECT_EQ(next(2), Texts{});
}

TEST_F(ArrivingLines, GoOnBehindWhatIsNoText) {
  write(
      std::string("good\nb\xff"
                  "d\nn\0l\nagain\n",
                  19));
  EXPECT_EQ(next(9), (Texts{"good", "byte 2: not valid UTF-8", "byte 2: a NUL byte", "again"}));
}

TEST_F(ArrivingLines, DropALineThatIsTooLongAndGoOn) {
  std::thread writer([this] {
    const std::string part(1 << 20, 'x');
    for (std::size_t written = 0; written < kLineBytes; written += part.size())
      ASSERT_EQ(::write(writes_, part.data(), part.size()), static_cast<ssize_t>(part.size()));
    ASSERT_EQ(::write(writes_, "\n", 1), 1);  // as long as a line may be
    for (std::size_t written = 0; written <= kLineBytes; written += part.size())
      ASSERT_EQ(::write(writes_, part.data(), part.size()), static_cast<ssize_t>(part.size()));
    ASSERT_EQ(::write(writes_, "\nafter\n", 7), 7);
  });
  patience_ = -1;  // as long as it takes
  EXPECT_EQ(lines_->next(1).at(0).size(), kLineBytes);
  Line line;
  EXPECT_TRUE(lines_->next(line));
  EXPECT_EQ(line.problem,
            "longer than the 3145728 bytes of --max-line-bytes, beginning with '" + std::string(32, 'x') + "'");
  EXPECT_EQ(lines_->next(1).at(0), "after");
  writer.join();
}

TEST(LineSource, KnowsLineEndsAndTheByteOrderMarkHoweverTheBytesArrive) {
  const std::string mark(kByteOrderMark), oddities = "b\u2028c\u0085d\u00a0\ve\f";
  for (const std::size_t part : {1u, 2u, 3u, 1000u}) {
    LineSource lines(given_bytes(mark + "a\r\n\r\n" + mark + "\r\r\n" + oddities + "\r\nlast\r", part), "text", {});
    EXPECT_THAT(lines.next(2), ElementsAre("a", ""));
    EXPECT_THAT(lines.next(9), ElementsAre(mark + "\r", oddities, "last"));
    EXPECT_THAT(lines.next(9), ElementsAre());
    for (const std::string& empty : {std::string(), mark}) {
      EXPECT_THAT(LineSource(given_bytes(empty, part), "text", {}).next(9), ElementsAre());
    }
    EXPECT_THAT(LineSource(given_bytes(mark + "\n", part), "text", {}).next(9), ElementsAre(""));
  }
}

TEST(LineSource, NamesLineAndByteOfWhatIsNoText) {
  for (const auto& [bad, said] : {std::pair{std::string("b\xff"), "byte 2: not valid UTF-8"},
                                  {std::string("b\0\xff", 3), "byte 2: a NUL byte"}}) {
    LineSource lines(given_bytes("a\n" + bad + "\nc\n"), "text", {});
    EXPECT_THAT(lines.next(1), ElementsAre("a"));
    EXPECT_THAT(message_of([&] { lines.next(1); }), HasSubstr(std::string("text, line 2, ") + said));
    EXPECT_THAT(message_of([&, &bad = bad] { checked_text("a\n" + bad, "text"); }),
                HasSubstr(std::string("text, line 2, ") + said));
  }
}

TEST(LineSource, TakesALineOfTheLimitAndNamesALongerOne) {
  LineSource lines(given_bytes(std::string(kByteOrderMark) + "abc\r\nabcd\r\n", 1), "text", {3});
  EXPECT_THAT(lines.next(1), ElementsAre("abc"));
  EXPECT_EQ(lines.lines(), 1u);
  const std::string said = message_of([&] { lines.next(1); });
  EXPECT_EQ(said,
            "text, line 2: longer than the 3 bytes of --max-line-bytes, beginning with 'abcd'; the text must have one "
            "sentence a line; if it has, give a larger --max-line-bytes");
  LineSource again(given_bytes(std::string(kByteOrderMark) + "abc\r\nabcd\r\n", 1), "text", {3});
  std::string appended = "x";
  EXPECT_TRUE(again.append(appended));
  EXPECT_EQ(appended, "xabc");
  EXPECT_EQ(message_of([&] { again.append(appended); }), said);
  EXPECT_EQ(appended, "xabc");
  EXPECT_FALSE(again.append(appended));
}

TEST(CheckedText, IsWithoutByteOrderMarkAndCarriageReturns) {
  const std::string mark(kByteOrderMark);
  EXPECT_EQ(checked_text(mark + "a\r\nb\u2028\n\r\n" + mark + "c\r", "text"), "a\nb\u2028\n\n" + mark + "c\n");
  EXPECT_EQ(checked_text(mark, "text"), "");
  EXPECT_EQ(checked_text("", "text"), "");
}

}  // namespace
}  // namespace rnnsearch
