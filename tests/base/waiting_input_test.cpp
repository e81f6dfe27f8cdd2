#include "rnnsearch/base/waiting_input.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/stat.h>

#include <fstream>
#include <string>
#include <thread>

#include "rnnsearch/base/file.h"
#include "tests/support/message_of.h"
#include "tests/support/scratch.h"
#include "tests/support/watchdog.h"

namespace rnnsearch {
namespace {

namespace fs = std::filesystem;

struct Stopped {};

TEST(WaitingInput, AsksWhileItWaitsForANamedPipeThatNobodyWrites) {
  const Scratch scratch;
  const fs::path pipe = scratch / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  const support::Watchdog watchdog(120, "reading of a named pipe that nobody writes");
  int asked = 0;
  const auto poll = [&] {
    if (++asked == 3) throw Stopped();
  };
  EXPECT_THROW(WaitingInput(pipe, poll).take(), Stopped);
  asked = 0;
  EXPECT_THROW(read_file(pipe, poll), Stopped);
}

TEST(WaitingInput, ReadsAPipeToItsEndHoweverLateItsWriterComes) {
  const Scratch scratch;
  const fs::path pipe = scratch / "pipe";
  ASSERT_EQ(::mkfifo(pipe.c_str(), 0600), 0);
  std::string text;
  while (text.size() < 300000) text += "line\n";
  const support::Watchdog watchdog(120, "reading of a named pipe");
  std::thread writer;
  int asked = 0;
  const std::string read = read_file(pipe, [&] {
    if (++asked == 2) writer = std::thread([&] { std::ofstream(pipe) << text; });  // the reader is waiting
  });
  EXPECT_TRUE(read == text);
  writer.join();
}

TEST(WaitingInput, NamesWhatMayNotBeRead) {
  const Scratch scratch;
  EXPECT_THAT(message_of([&] { WaitingInput(scratch / "none", Poll()); }), testing::HasSubstr("none: No such file"));
  EXPECT_THAT(message_of([&] { WaitingInput(1 << 20, "standard input", Poll()).take(); }),
              testing::HasSubstr("cannot read standard input: "));
}

}  // namespace
}  // namespace rnnsearch
