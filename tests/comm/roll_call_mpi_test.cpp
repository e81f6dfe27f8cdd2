#include "comm/progress_thread.h"

#include <gtest/gtest.h>

#include <cstdio>
#include <memory>
#include <string>
#include <thread>

#include "tests/support/communicator.h"

namespace rnnsearch::comm {
namespace {

using namespace std::chrono_literals;

class RollCalls : public testing::Test {
 protected:
  RollCalls() {
    MPI_Comm_dup(MPI_COMM_WORLD, &comm_);
    std::vector<std::string> hosts;
    for (int rank = 0; rank < communicator_.size(); ++rank) hosts.push_back("host" + std::to_string(rank));
    roll_call_ = std::make_unique<RollCall>(comm_, hosts);
  }
  ~RollCalls() override {
    communicator_.barrier();
    MPI_Comm_free(&comm_);
  }

  static RankStatus at(std::uint64_t entered, double seconds, const char* doing, bool waits = true) {
    RankStatus here;
    here.waits = waits;
    here.entered = entered;
    here.seconds = seconds;
    std::snprintf(here.doing, sizeof here.doing, "%s", doing);
    return here;
  }

  // Rank 0 waits in its 8th collective, for as many seconds as it takes until it says something. They are no real
  // ones: a second is over when all ranks that answer, `answering` ranks from 1 on, have looked for questions.
  std::optional<RollCall::Finding> wait_for_finding(double stall_timeout, double& seconds, int answering) {
    for (seconds = 0; seconds < 1000; seconds += 1) {
      if (auto finding = roll_call_->tick(at(8, seconds, "in a sum"), stall_timeout)) return finding;
      let_answer(answering);
    }
    return {};
  }
  void let_answer(int answering) {
    for (int rank = 1; rank <= answering; ++rank) MPI_Send(nullptr, 0, MPI_BYTE, rank, kLook, MPI_COMM_WORLD);
    for (int rank = 1; rank <= answering; ++rank) {
      MPI_Recv(nullptr, 0, MPI_BYTE, rank, kLook, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    }
  }
  // The others answer until rank 0 has found something.
  void answer_until_told(const RankStatus& here) {
    for (;;) {
      int tells = 0, looks = 0;
      EXPECT_FALSE(roll_call_->tick(here, 0));  // which asks nobody
      MPI_Iprobe(0, kTold, MPI_COMM_WORLD, &tells, MPI_STATUS_IGNORE);
      MPI_Iprobe(0, kLook, MPI_COMM_WORLD, &looks, MPI_STATUS_IGNORE);
      if (looks) {
        MPI_Recv(nullptr, 0, MPI_BYTE, 0, kLook, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        EXPECT_FALSE(roll_call_->tick(here, 0));  // what rank 0 asked before it told me to look
        MPI_Send(nullptr, 0, MPI_BYTE, 0, kLook, MPI_COMM_WORLD);
      } else if (tells) {
        break;
      }
      std::this_thread::sleep_for(100us);
    }
    MPI_Recv(nullptr, 0, MPI_BYTE, 0, kTold, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
  void tell_others() {
    for (int rank = 1; rank < communicator_.size(); ++rank) MPI_Send(nullptr, 0, MPI_BYTE, rank, kTold, MPI_COMM_WORLD);
  }

  // Where all wait, rank 0 in its 8th collective and the others in one that they have entered as often as this.
  void expect_nothing_moves(std::uint64_t others_entered) {
    if (communicator_.rank() > 0) return answer_until_told(at(others_entered, 10, "in a sum"));
    double seconds = 0;
    const auto finding = wait_for_finding(20, seconds, others_);
    ASSERT_TRUE(finding);
    EXPECT_TRUE(finding->final);
    EXPECT_EQ(seconds, 20);
    EXPECT_NE(finding->text.find("none is late, but nothing moves"), std::string::npos) << finding->text;
    tell_others();
  }

  static constexpr int kTold = 99, kLook = 98;  // tags
  const Communicator& communicator_ = support::communicator();
  const int others_ = communicator_.size() - 1;
  MPI_Comm comm_ = MPI_COMM_NULL;
  std::unique_ptr<RollCall> roll_call_;
};

TEST_F(RollCalls, NameARankThatDoesNotAnswer) {
  const int last = communicator_.size() - 1;
  if (communicator_.rank() == 0) {
    double seconds = 0;
    const auto finding = wait_for_finding(20, seconds, others_ - 1);
    ASSERT_TRUE(finding);
    EXPECT_TRUE(finding->final);
    const std::string late = "rank " + std::to_string(last) + " on host" + std::to_string(last);
    EXPECT_NE(finding->text.find("waits for 20 s (in a sum): " + late + " gives no sign of life"), std::string::npos)
        << finding->text;
    EXPECT_EQ(seconds, 20);
    tell_others();
  } else if (communicator_.rank() < last) {
    answer_until_told(at(8, 1, "in a sum"));
  } else {
    MPI_Recv(nullptr, 0, MPI_BYTE, 0, kTold, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
  }
}

TEST_F(RollCalls, NameARankThatIsLateAndHopeForIt) {
  const int last = communicator_.size() - 1;
  if (communicator_.rank() == 0) {
    double seconds = 0;
    auto finding = wait_for_finding(20, seconds, others_);
    ASSERT_TRUE(finding);
    EXPECT_FALSE(finding->final);
    const std::string late = "rank " + std::to_string(last) + " on host" + std::to_string(last);
    EXPECT_NE(finding->text.find(late + " (writes a checkpoint) is late but alive"), std::string::npos)
        << finding->text;
    int findings = 1;
    for (; seconds < 1000 && !finding->final; seconds += 1) {
      if (const auto next = roll_call_->tick(at(8, seconds, "in a sum"), 20)) {
        finding = next;
        ++findings;
      }
      let_answer(others_);
    }
    EXPECT_TRUE(finding->final);
    EXPECT_NEAR(seconds, 200, 25);
    EXPECT_EQ(findings, 10);
    tell_others();
  } else {
    answer_until_told(communicator_.rank() == last ? at(7, 0, "writes a checkpoint", false) : at(8, 1, "in a sum"));
  }
}

TEST_F(RollCalls, SayThatNothingMovesWhenNobodyIsLate) {
  expect_nothing_moves(8);
}

TEST_F(RollCalls, SayThatNothingMovesWhereTheLastOnesWait) {
  expect_nothing_moves(7);  // rank 0 got on to the next sum, the others are stuck in this one: they are not late
}

TEST_F(RollCalls, AreContentWhenSomethingMovesWhereTheLastOnesWait) {
  if (communicator_.rank() == 0) {
    double seconds = 0;
    for (; seconds < 100; seconds += 1) {
      EXPECT_FALSE(roll_call_->tick(at(8, seconds, "in a sum"), 20));
      let_answer(others_);
    }
    tell_others();
  } else {
    answer_until_told(at(7, 1, "in a sum"));
  }
}

TEST_F(RollCalls, AskNobodyWhoIsPatient) {
  for (int i = 0; i < 50; ++i) {
    EXPECT_FALSE(roll_call_->tick(at(8, 4.9, "in a sum"), 20));
    EXPECT_FALSE(roll_call_->tick(at(8, 1e6, "in a sum"), 0));
  }
}

}  // namespace
}  // namespace rnnsearch::comm
