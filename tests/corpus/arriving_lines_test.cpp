#include "rnnsearch/corpus/arriving_lines.h"

#include <gtest/gtest.h>
#include <unistd.h>

#include <string>
#include <thread>

#include "rnnsearch/base/error.h"
#include "tests/support/message_of.h"
#include "tests/support/watchdog.h"

namespace rnnsearch::corpus {
namespace {

constexpr std::size_t kLineBytes = 3u << 20;  // more than a pipe holds

struct Stopped {};

/// A pipe, and the lines that arrive through it. Reading throws Stopped where it would wait for more.
class ArrivingLines_ : public testing::Test {
 protected:
  void SetUp() override {
    int ends[2];
    ASSERT_EQ(::pipe(ends), 0);
    reads_ = ends[0];
    writes_ = ends[1];
    lines_.emplace(reads_, "the pipe", LineLimit{kLineBytes}, [this] {
      if (patience_-- == 0) throw Stopped();
    });
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
      for (ArrivedLine& line : lines_->next(count)) {
        texts.push_back(line.problem.empty() ? line.text : line.problem);
      }
      return texts;
    } catch (const Stopped&) {
      return {"WAITS"};
    }
  }

  using Texts = std::vector<std::string>;
  int reads_ = -1, writes_ = -1, patience_ = 0;
  std::optional<ArrivingLines> lines_;
  support::Watchdog watchdog_{120, "reading of a pipe"};
};

TEST_F(ArrivingLines_, ReturnWhatIsThereAndWaitForNoMore) {
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

TEST_F(ArrivingLines_, AreNoMoreThanAskedFor) {
  write("1\n2\n3\n4\n5\n");
  EXPECT_EQ(next(2), (Texts{"1", "2"}));
  EXPECT_EQ(next(1), Texts{"3"});
  end();
  EXPECT_EQ(next(2), (Texts{"4", "5"}));
  EXPECT_EQ(next(2), Texts{});
}

TEST_F(ArrivingLines_, GoOnBehindWhatIsNoText) {
  write(
      std::string("good\nb\xff"
                  "d\nn\0l\nagain\n",
                  19));
  EXPECT_EQ(next(9), (Texts{"good", "byte 2: not valid UTF-8", "byte 2: a NUL byte", "again"}));
}

TEST_F(ArrivingLines_, DropALineThatIsTooLongAndGoOn) {
  std::thread writer([this] {
    const std::string part(1 << 20, 'x');
    for (std::size_t written = 0; written < kLineBytes; written += part.size()) {
      ASSERT_EQ(::write(writes_, part.data(), part.size()), static_cast<ssize_t>(part.size()));
    }
    ASSERT_EQ(::write(writes_, "\n", 1), 1);  // as long as a line may be
    for (std::size_t written = 0; written <= kLineBytes; written += part.size()) {
      ASSERT_EQ(::write(writes_, part.data(), part.size()), static_cast<ssize_t>(part.size()));
    }
    ASSERT_EQ(::write(writes_, "\nafter\n", 7), 7);
  });
  patience_ = -1;  // as long as it takes
  EXPECT_EQ(lines_->next(1).at(0).text.size(), kLineBytes);
  const ArrivedLine line = lines_->next(1).at(0);
  EXPECT_EQ(line.text, "");
  EXPECT_EQ(line.problem,
            "longer than the 3145728 bytes of --max-line-bytes, beginning with '" + std::string(32, 'x') + "'");
  EXPECT_EQ(lines_->next(1).at(0).text, "after");
  writer.join();
}

TEST(ArrivingLines, NameWhatMayNotBeRead) {
  EXPECT_EQ(message_of([] {
              ArrivingLines(1 << 20, "standard input", {}, Poll()).next(1);
            }).find("cannot read standard input: "),
            0u);
}

}  // namespace
}  // namespace rnnsearch::corpus
