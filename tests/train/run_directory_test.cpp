#include "rnnsearch/train/run_directory.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/wait.h>
#include <unistd.h>
#include <nlohmann/json.hpp>

#include "rnnsearch/base/error.h"
#include "rnnsearch/base/file.h"
#include "rnnsearch/storage/sealed_file.h"
#include "tests/support/test.h"

namespace rnnsearch::train {
namespace {

class Run : public ScratchTest {
 protected:
  Run() {
    set_log_sink([this](std::string_view line) { said_.emplace_back(line); });
  }
  ~Run() override { set_log_sink({}); }
  std::unique_ptr<RunDirectory> enter(const std::string& resume = "auto") {
    TrainOptions options;
    options.resume = resume;
    auto run = std::make_unique<RunDirectory>(path_, options, identity_);
    run->set_record(ini_, Json::object({{"version", "1"}}));
    return run;
  }
  std::unique_ptr<RunDirectory> open(const std::string& resume = "auto") {
    auto run = enter(resume);
    run->begin();
    return run;
  }
  std::string refusal(const std::string& resume = "auto") {
    return message_of([&] { open(resume); });
  }
  /// An empty but whole sealed file.
  void make_checkpoint(std::uint64_t update, std::uint64_t best_update = 0) {
    auto run = open();
    storage::SealedWriter writer(run->checkpoint_path(update));
    writer.publish();
    run->published(update, best_update);
  }
  void damage(std::uint64_t update) {
    const auto path = open()->checkpoint_path(update);
    std::string content = read_file(path);
    content[content.size() / 2] = static_cast<char>(content[content.size() / 2] ^ 1);
    std::ofstream(path, std::ios::binary) << content;
  }
  std::vector<std::string> files(const std::filesystem::path& folder) {
    std::vector<std::string> names;
    for (const auto& entry : std::filesystem::directory_iterator(folder)) names.push_back(entry.path().filename());
    return names;
  }

  std::filesystem::path path_ = scratch_ / "run";
  Config identity_{{"state", "24"}, {"optimizer", "adam"}};
  std::string ini_ = "# of the model\n\nstate=24\noptimizer = adam\n";
  std::vector<std::string> said_;  // in the log
};

TEST_F(Run, IsMadeAndEnteredAgain) {
  EXPECT_EQ(refusal(), "nothing was thrown");
  EXPECT_EQ(refusal(), "nothing was thrown");
  EXPECT_EQ(refusal("never"), "nothing was thrown");  // no checkpoints yet
  EXPECT_EQ(read_file(path_ / "config.ini"), ini_);
}

TEST_F(Run, LeavesNothingAndChangesNothingUnlessItIsBegun) {
  enter();
  EXPECT_FALSE(std::filesystem::exists(path_));
  open();
  ini_ += "learning-rate = 2\n";
  enter();
  EXPECT_THAT(read_file(path_ / "config.ini"), Not(HasSubstr("learning-rate")));
  EXPECT_THAT(files(path_), testing::UnorderedElementsAre("checkpoints", "config.ini", "environment.json"));
}

TEST_F(Run, IsRefusedWhereAnotherRunIs) {
  open();
  identity_["state"] = "25";
  ini_ = "state=25\n";
  EXPECT_THAT(refusal(), HasSubstr("its state is 24, now it is 25"));
  EXPECT_THAT(read_file(path_ / "config.ini"), HasSubstr("state=24"));
}

TEST_F(Run, IsRefusedWhereSomethingElseIs) {
  std::filesystem::create_directory(path_);
  std::ofstream(path_ / "thesis.tex") << "years of work";
  EXPECT_THAT(refusal(), HasSubstr("holds thesis.tex and is not a run of rnnsearch"));
  EXPECT_THAT(files(path_), ElementsAre("thesis.tex"));
  path_ = path_ / "thesis.tex";
  EXPECT_THAT(refusal(), HasSubstr("is a file"));
}

TEST_F(Run, IsRefusedWhenItHoldsCheckpointsAndMustNotResume) {
  make_checkpoint(10);
  EXPECT_THAT(refusal("never"), HasSubstr("was not begun with --resume never"));
  EXPECT_EQ(open()->checkpoint_to_resume(), path_ / "checkpoints/update-00000010.h5");
}

TEST_F(Run, IsRefusedWhileAnotherTrainerLives) {
  open();
  std::ofstream(path_ / "attempt") << "some other host 1 1\n";
  EXPECT_EQ(refusal(), "nothing was thrown");
  int pipes[2];
  ASSERT_EQ(::pipe(pipes), 0);
  const pid_t other = ::fork();
  if (other == 0) {  // a trainer that only waits
    char byte = 0;
    std::ofstream(path_ / "attempt") << this_attempt(path_) << std::flush;
    (void)!::write(pipes[1], "x", 1);
    ::pause();
    ::_exit(byte);
  }
  char ready = 0;
  ASSERT_EQ(::read(pipes[0], &ready, 1), 1);
  EXPECT_THAT(refusal(), HasSubstr("another trainer is writing to"));
  ::kill(other, SIGKILL);
  ::siginfo_t info;
  ::waitid(P_PID, static_cast<id_t>(other), &info, WEXITED | WNOWAIT);
  EXPECT_EQ(refusal(), "nothing was thrown");  // a zombie writes nothing
  ::waitpid(other, nullptr, 0);
  ::close(pipes[0]);
  ::close(pipes[1]);
}

TEST_F(Run, IsNotWrittenByAnAttemptThatWasReplaced) {
  make_checkpoint(10, 10);
  auto stale = open();
  stale->log(Json::object({{"event", "update"}}));
  std::ofstream(path_ / "attempt") << "n2 17 4711\n";
  const auto content = [&] {
    std::map<std::string, std::string> all;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(path_))
      all[entry.path()] = entry.is_regular_file() ? read_file(entry.path()) : "";
    return all;
  };
  const auto before = content();
  EXPECT_THROW(stale->check_attempt(), Error);
  EXPECT_THROW(stale->begin(), Error);
  EXPECT_THROW(stale->published(10, 0), Error);
  EXPECT_THROW(stale->log(Json::object({{"event", "stop"}})), Error);
  EXPECT_THROW(stale->write_validation("update-00000010.txt", "text"), Error);
  stale.reset();
  EXPECT_EQ(content(), before);
}

TEST_F(Run, SaysThatAnotherAttemptTookOverWhereThatRemovedItsTemporaryFile) {
  const auto stale = open();
  const auto write = [&](const auto&) {
    std::ofstream(path_ / "attempt") << "n2 17 4711\n";
    throw Error("cannot rename a finished file");
  };
  EXPECT_THAT(message_of([&] { stale->write_as_this_attempt(write); }), HasSubstr("another trainer has taken over"));
  const auto current = open();
  EXPECT_EQ(message_of([&] { current->write_as_this_attempt([](const auto&) { throw Error("the disk is full"); }); }),
            "the disk is full");
}

TEST_F(Run, KeepsTheNewestCheckpointsAndTheBest) {
  for (const std::uint64_t update : {10U, 20U, 30U, 40U, 50U}) make_checkpoint(update, update >= 20 ? 20 : 0);
  EXPECT_THAT(files(path_ / "checkpoints"), testing::UnorderedElementsAre("latest", "best", "update-00000020.h5",
                                                                          "update-00000040.h5", "update-00000050.h5"));
  EXPECT_EQ(read_file(path_ / "checkpoints/latest"), "update-00000050.h5\n");
  make_checkpoint(60);  // measured by another score, of which there is none yet
  EXPECT_TRUE(open()->has_checkpoint(20));
  EXPECT_EQ(read_file(path_ / "checkpoints/best"), "update-00000020.h5\n");
}

TEST_F(Run, FallsBackToTheCheckpointBeforeADamagedOneAndSaysSo) {
  make_checkpoint(10);
  make_checkpoint(20);
  damage(20);
  EXPECT_EQ(open()->checkpoint_to_resume(), path_ / "checkpoints/update-00000010.h5");
  ASSERT_EQ(said_.size(), 1U);
  EXPECT_THAT(said_[0], HasSubstr("update-00000020.h5"));
  EXPECT_THAT(said_[0], HasSubstr("resumes from update-00000010.h5"));
  EXPECT_TRUE(std::filesystem::exists(path_ / "checkpoints/update-00000020.h5.damaged"));
  damage(10);
  for (int again = 0; again < 2; ++again) EXPECT_THROW(open()->checkpoint_to_resume(), Error);
  // One that cannot be opened is not damaged: a file server may be away.
  const auto away = path_ / "checkpoints/update-00000030.h5";
  std::filesystem::create_symlink(away.filename(), away);
  EXPECT_THAT(message_of([&] { open()->checkpoint_to_resume(); }), HasSubstr("cannot open"));
  EXPECT_TRUE(std::filesystem::is_symlink(away));
}

TEST_F(Run, HasNoBestAndNoLatestThatIsNotThere) {
  const auto pointer = [&](const char* name) {
    const auto path = path_ / "checkpoints" / name;
    return std::filesystem::exists(path) ? read_file(path) : "none";
  };
  make_checkpoint(10, 10);
  make_checkpoint(20, 20);
  damage(20);
  open()->checkpoint_to_resume();
  EXPECT_EQ(pointer("latest"), "update-00000010.h5\n");
  EXPECT_EQ(pointer("best"), "none");
  // The state of update 10 says that it is the best.
  open()->published(10, 10);
  EXPECT_EQ(pointer("best"), "update-00000010.h5\n");
  // The damaged one is made again, and is not the best any more; nor is one that was removed.
  make_checkpoint(20, 10);
  EXPECT_EQ(pointer("best"), "update-00000010.h5\n");
  make_checkpoint(30, 5);
  EXPECT_EQ(pointer("best"), "none");
}

TEST(ReadNewest, ReadsWhatIsFoundNextWhereATrainingRemovedWhatWasFoundFirst) {
  int update = 0;  // the newest, when it is looked for
  const auto find = [&] { return ++update; };
  EXPECT_EQ(read_newest(find, [](int found) { return found < 3 ? throw Error("gone") : found; }), 3);
  EXPECT_THROW(read_newest([] { return 7; }, [](int) -> int { throw Error("damaged"); }), Error);
  EXPECT_THROW(read_newest(find, [](int) -> int { throw Error("gone"); }), Error) << "a run that is always ahead";
}

TEST_F(Run, KeepsWhatItBeganWithAndSaysWhatElseChanged) {
  const auto begin = [&](const std::string& more) {
    ini_ = "state = 24\noptimizer = adam\nresume = auto\n" + more;
    std::string changes;
    for (const auto& [what, from, to] : enter()->begin()) changes += fmt::format("{}: {} -> {}; ", what, from, to);
    return changes;
  };
  EXPECT_EQ(begin("initial-model = /a\nlearning-rate = 1\n"), "");
  EXPECT_EQ(begin("initial-model = /b\nlearning-rate = 1\nmix = x:1\nmix = y:1\n"),
            "initial-model: /a -> /b; mix:  -> x:1, y:1; ")
      << "it has no checkpoint yet, so it begins again";
  ini_ = read_file(path_ / "config.ini");
  make_checkpoint(10);
  EXPECT_EQ(begin("learning-rate = 2\n"), "learning-rate: 1 -> 2; mix: x:1, y:1 -> ; ");
  EXPECT_THAT(read_file(path_ / "config.ini"), HasSubstr("initial-model = /b\nlearning-rate = 2\n"));
  EXPECT_THAT(said_, IsEmpty());
  EXPECT_EQ(begin("initial-model = /c\nlearning-rate = 2\n"), "");
  EXPECT_THAT(read_file(path_ / "config.ini"), Not(HasSubstr("/c")));
  EXPECT_THAT(said_, ElementsAre("[train] initial-model = /c is ignored, because this run has begun already"));
}

/// A copy with the attempt of a trainer that lives writes to another folder.
TEST_F(Run, IsEnteredWhereItIsTheCopyOfALivingOne) {
  const auto parent = this_attempt(scratch_.path());
  EXPECT_FALSE(lives_here(parent, scratch_.path())) << "it is this process";
  make_checkpoint(10);
  const pid_t other = ::fork();
  if (other == 0) {
    ::pause();
    ::_exit(0);
  }
  const std::string pid = std::to_string(other);
  std::ifstream stat("/proc/" + pid + "/stat");
  std::string word, start;
  for (int i = 1; i <= 22; ++i) stat >> (i == 22 ? start : word);
  const auto attempt_on = [&](const std::filesystem::path& folder) {
    std::istringstream fields(this_attempt(folder));
    std::string host, own, began, id;
    fields >> host >> own >> began >> id;
    return fmt::format("{} {} {} {}\n", host, pid, start, id);
  };
  std::ofstream(path_ / "attempt") << attempt_on(path_);
  EXPECT_THAT(refusal(), HasSubstr("another trainer is writing to"));
  const auto copy = scratch_ / "copy";
  std::filesystem::copy(path_, copy, std::filesystem::copy_options::recursive);
  const auto original = std::exchange(path_, copy);
  EXPECT_EQ(refusal(), "nothing was thrown");
  EXPECT_EQ(read_file(original / "attempt"), attempt_on(original));
  ::kill(other, SIGKILL);
  ::waitpid(other, nullptr, 0);
}

TEST_F(Run, IsNotTakenOverBetweenTheCheckOfAnAttemptAndWhatItWrites) {
  const auto run = open();
  const auto other = [&] { return ::open((path_ / "attempt").c_str(), O_RDWR); };
  const int taker = other();
  run->write_as_this_attempt([&](const auto& check) {
    EXPECT_EQ(::flock(taker, LOCK_EX | LOCK_NB), 0) << "nothing is written yet";
    ::flock(taker, LOCK_UN);
    check();
    EXPECT_NE(::flock(taker, LOCK_EX | LOCK_NB), 0);
  });
  EXPECT_EQ(::flock(taker, LOCK_EX | LOCK_NB), 0);
  ::close(taker);
  // An attempt that takes over waits for one that writes.
  std::ofstream(path_ / "attempt") << "n2 17 4711\n";
  const int writer = other();
  ASSERT_EQ(::flock(writer, LOCK_SH), 0);
  std::atomic<bool> written = false;
  std::thread late([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(50));
    written = true;
    ::close(writer);
  });
  open();
  EXPECT_TRUE(written);
  late.join();
}

TEST_F(Run, RemovesWhatDeadAttemptsLeft) {
  make_checkpoint(10);
  std::ofstream(path_ / "checkpoints/.update-00000020.h5.tmp-n1-77") << "half";
  std::ofstream(path_ / ".config.ini.tmp-n1-77") << "half";
  open()->write_validation(".update-00000010.txt.tmp-n1-77", "half");
  open();
  EXPECT_THAT(files(path_ / "validation"), IsEmpty());
  EXPECT_THAT(files(path_ / "checkpoints"), testing::UnorderedElementsAre("latest", "update-00000010.h5"));
  EXPECT_THAT(files(path_),
              testing::UnorderedElementsAre("checkpoints", "config.ini", "environment.json", "validation"));
}

TEST_F(Run, RemovesDamagedLinesOfItsLogAndSaysHowMany) {
  const std::string good = R"({"event":"update","update":1})", nul(512, '\0');
  const std::pair<std::string, int> logs[] = {{good + "\n", 0},
                                              {good, 0},
                                              {good + "\n" + good.substr(0, 20), 1},
                                              {good + "\n" + nul, 1},
                                              {nul + "\n" + good + "\n\xff\n17\n\n" + good.substr(9) + "\n", 5}};
  open();
  for (const auto& [content, damaged] : logs) {
    write_file_atomically(path_ / "log.jsonl", content);
    said_.clear();
    auto run = open();
    run->log(Json::object({{"event", "resume"}}));
    EXPECT_EQ(read_file(path_ / "log.jsonl"), good + "\n{\"event\":\"resume\"}\n");
    ASSERT_EQ(said_.size(), damaged > 0 ? 1U : 0U);
    if (damaged > 0) {
      EXPECT_THAT(said_[0], HasSubstr(fmt::format("log.jsonl: {} of its lines w", damaged)));
    }
  }
}

}  // namespace
}  // namespace rnnsearch::train
