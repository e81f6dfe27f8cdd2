#include "rnnsearch/base/file.h"

#include <signal.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tests/support/test.h"
#include "tests/support/watchdog.h"

namespace rnnsearch {
namespace {

namespace fs = std::filesystem;
using WriteFileAtomically = ScratchTest;

/// A child that lives until it is told to end.
class Child {
 public:
  Child() : pid_(::fork()) {
    while (pid_ == 0) ::pause();
  }
  ~Child() { end(); }
  Child(const Child&) = delete;
  Child& operator=(const Child&) = delete;
  void end() {
    if (pid_ <= 0) return;
    ::kill(pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
    pid_ = 0;
  }
  /// Ends it without asking for its exit code, so that its number remains.
  void end_unasked() const {
    ::kill(pid_, SIGKILL);
    siginfo_t ended;
    ::waitid(P_PID, static_cast<::id_t>(pid_), &ended, WEXITED | WNOWAIT);
  }
  pid_t pid() const { return pid_; }

 private:
  pid_t pid_;
};

TEST(AbandonedFiles, AreThoseOfDeadProcessesOfThisHostAlone) {
  const Scratch scratch;
  const fs::path target = scratch / "a.h5", ours = temporary_beside(target);
  EXPECT_NE(ours, temporary_beside(target)) << "a process may write several files that become the same one";
  const std::string begin = ours.string().substr(0, ours.string().rfind(std::to_string(::getpid()) + "."));
  Child dead, alive, unasked;
  unasked.end_unasked();
  const std::string pid = std::to_string(dead.pid());
  const std::string left = begin + pid + ".0";
  const std::vector<std::string> kept{target.string(),
                                      ours.string(),
                                      begin + std::to_string(alive.pid()) + ".0",
                                      begin + "1.0",  // lives, of somebody else
                                      begin + pid,    // no such name
                                      left + ".old",  // no such name
                                      begin + "-" + pid,
                                      begin,
                                      (scratch / (".b.h5.tmp-" + pid + ".0")).string(),
                                      (scratch / (".a.h5.tmp-other-0-" + pid + ".0")).string()};
  for (const std::string& file : kept) write_file_atomically(file, "x");
  const std::string also_left = begin + std::to_string(unasked.pid()) + ".0";
  write_file_atomically(left, "x");
  const std::string earlier = begin + std::to_string(::getpid()) + ".1000000";
  write_file_atomically(earlier, "x");
  write_file_atomically(also_left, "x");
  remove_abandoned(target);
  EXPECT_TRUE(fs::exists(left)) << "it lives";
  EXPECT_FALSE(fs::exists(earlier)) << "it is of an earlier process with our id";
  EXPECT_FALSE(fs::exists(also_left)) << "it has ended, although its parent has not asked";
  dead.end();
  remove_abandoned(target);
  EXPECT_FALSE(fs::exists(left));
  for (const std::string& file : kept) EXPECT_TRUE(fs::exists(file)) << file;
  remove_abandoned(scratch / "no" / "folder");
}

unsigned mode_of(const fs::path& path) {
  struct stat status {};
  EXPECT_EQ(::stat(path.c_str(), &status), 0) << path;
  return status.st_mode & 07777;
}

TEST(ReadFile, EndsAtALimitWhereADeviceHasNoEnd) {
  EXPECT_THAT(message_of([] { read_file("/dev/zero"); }), HasSubstr("/dev/zero: more than 64 MiB"));
}

TEST(ReadFile, SeesAnErrorInTheMiddleOfReading) {
  EXPECT_EQ(message_of([] { read_file("/proc/self/mem"); }), "cannot read /proc/self/mem: Input/output error");
}

TEST_F(WriteFileAtomically, KeepsTheModeOfTheFileThatItReplaces) {
  const fs::path file = scratch_ / "a.txt";
  write_file_atomically(file, "private");
  for (const unsigned mode : {0600u, 0640u, 0444u}) {
    fs::permissions(file, static_cast<fs::perms>(mode));
    write_file_atomically(file, "still private");
    EXPECT_EQ(mode_of(file), mode);
  }
  EXPECT_EQ(read_file(file), "still private");
}

TEST_F(WriteFileAtomically, ReplacesWhatASymbolicLinkNamesAndKeepsTheLink) {
  fs::create_directory(scratch_ / "elsewhere");
  const fs::path link = scratch_ / "link.txt", real = scratch_ / "elsewhere" / "real.txt";
  fs::create_symlink("second.txt", link);
  fs::create_symlink(fs::path("elsewhere") / "real.txt", scratch_ / "second.txt");
  for (const char* content : {"where nothing was", "in place of that"}) {
    write_file_atomically(link, content);
    EXPECT_TRUE(fs::is_symlink(link));
    EXPECT_FALSE(fs::is_symlink(real));
    EXPECT_EQ(read_file(real), content);
  }
  EXPECT_EQ(scratch_.files(), 3u) << "a temporary is left";
}

TEST_F(WriteFileAtomically, RefusesASymbolicLinkThatLeadsToItself) {
  fs::create_symlink("b.txt", scratch_ / "a.txt");
  fs::create_symlink("a.txt", scratch_ / "b.txt");
  EXPECT_THAT(message_of([&] { write_file_atomically(scratch_ / "a.txt", "x"); }),
              HasSubstr("a.txt is a symbolic link that leads to itself"));
  EXPECT_TRUE(fs::is_symlink(scratch_ / "a.txt"));
}

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
  EXPECT_THAT(message_of([&] { WaitingInput(scratch / "none", Poll()); }), HasSubstr("none: No such file"));
  EXPECT_THAT(message_of([&] { WaitingInput(1 << 20, "standard input", Poll()).take(); }),
              HasSubstr("cannot read standard input: "));
}

}  // namespace
}  // namespace rnnsearch
