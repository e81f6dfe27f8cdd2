#include "comm/exchange.h"

#include "comm/progress_thread.h"
#include "tests/support/communicator.h"
#include "tests/support/floats.h"
#include "tests/support/test.h"

namespace rnnsearch::comm {
namespace {

using support::communicator;

std::vector<float> values_of(int rank, std::size_t count, std::uint64_t seed = 5) {
  Random random(seed, static_cast<std::uint64_t>(rank));
  return normal_floats(random, count);
}

void finish(Exchange& exchange) {
  while (!exchange.advance()) continue;
}

struct Shape {
  int ranks_of_host, widest;
};

class OnGrids : public testing::TestWithParam<Shape> {
 protected:
  /// Of this rank, with lines of hosts where the number of ranks allows.
  static Grid grid_of_test() {
    const int host = communicator().size() % GetParam().ranks_of_host == 0 ? GetParam().ranks_of_host : 1;
    return {communicator().rank(), communicator().size(), host, GetParam().widest};
  }
};

std::vector<float> sum_of_shards(std::uint64_t first, std::uint64_t end, std::size_t count) {
  std::vector<std::vector<float>> level;
  for (std::uint64_t shard = first; shard < end; ++shard) {
    level.push_back(values_of(static_cast<int>(shard), count));
    if (count > 0 && shard % 2 == 0) level.back()[0] = -0.0F;
  }
  return sum_in_pairs(level);
}

TEST_P(OnGrids, SumsRanksInAnOrderThatDoesNotDependOnTheGrid) {
  const Grid grid = grid_of_test();
  Exchange exchange;
  for (const std::size_t count : {0, 1, 15, 16, 17, 33, 1000, 100'003}) {
    auto values = values_of(communicator().rank(), count);
    if (count > 0 && communicator().rank() % 2 == 0) values[0] = -0.0F;
    exchange.begin(MPI_COMM_WORLD, grid, count, {values});
    finish(exchange);
    const auto expected = sum_of_shards(0, static_cast<std::uint64_t>(communicator().size()), count);
    EXPECT_TRUE(count == 0 || std::memcmp(values.data(), expected.data(), count * sizeof(float)) == 0) << count;
  }
}

TEST_P(OnGrids, SumsShardsInAnOrderThatDoesNotDependOnTheRanks) {
  const Grid grid = grid_of_test();
  const auto ranks = static_cast<std::uint64_t>(communicator().size());
  Exchange exchange;
  std::uint64_t number = 0;
  for (const std::uint64_t each : {1, 2, 3, 5, 8}) {
    const ShardTree tree(each * ranks);
    const auto nodes = tree.nodes_of(tree.shards_of(static_cast<std::uint64_t>(communicator().rank()), 1, ranks));
    for (const std::size_t count : {0, 1, 17, 33, 1000, 100'003}) {
      std::vector<std::vector<float>> sums;
      for (const auto& [first, end] : nodes) sums.push_back(sum_of_shards(first, end, count));
      Exchange::Block block{sums.back(), tree.shards(), {sums.begin(), sums.end() - 1}};
      exchange.begin(MPI_COMM_WORLD, grid, number++, block);
      finish(exchange);
      const auto expected = sum_of_shards(0, tree.shards(), count);
      EXPECT_TRUE(count == 0 || std::memcmp(sums.back().data(), expected.data(), count * sizeof(float)) == 0)
          << each << " shards for each rank, " << count << " values";
    }
  }
}

TEST_P(OnGrids, SendsAsManyBytesForShardsAsForRanks) {
  const Grid grid = grid_of_test();
  std::vector<float> values(100'003);
  Exchange exchange;
  exchange.begin(MPI_COMM_WORLD, grid, 1, {values});
  finish(exchange);
  const std::uint64_t for_ranks = exchange.bytes_sent();
  exchange.begin(MPI_COMM_WORLD, grid, 2, {values, 4 * static_cast<std::uint64_t>(communicator().size()), {}});
  finish(exchange);
  EXPECT_EQ(exchange.bytes_sent(), for_ranks);
  // Ranks that have been added to one another are one node if they are a power of two, else a few.
  bool one_node = true;
  for (int dimension = 0; dimension < grid.dimensions(); ++dimension)
    one_node = one_node && std::has_single_bit(static_cast<unsigned>(grid.stride(dimension)));
  const double ranks = communicator().size(),
               least = 2 * (ranks - 1) / ranks * static_cast<double>(values.size() * sizeof(float));
  EXPECT_GE(static_cast<double>(for_ranks), 0.99 * least);
  EXPECT_LE(static_cast<double>(for_ranks), (one_node ? 1.01 : 1.5) * least);
}

TEST_P(OnGrids, OvertakesItself) {
  const Grid grid = grid_of_test();
  std::vector<float> one(5000, 1.0F), two(70, 2.0F), three(300'000, 3.0F);
  Exchange a, b, c;
  a.begin(MPI_COMM_WORLD, grid, 1, {one});
  b.begin(MPI_COMM_WORLD, grid, 2, {two});
  c.begin(MPI_COMM_WORLD, grid, 3, {three});
  // each rank looks at them in its own order
  for (int turn = communicator().rank(); !(a.done() && b.done() && c.done()); ++turn)
    (turn % 3 == 0 ? a : turn % 3 == 1 ? b : c).advance();
  const auto ranks = static_cast<float>(communicator().size());
  EXPECT_EQ(one, std::vector<float>(5000, ranks));
  EXPECT_EQ(two, std::vector<float>(70, 2 * ranks));
  EXPECT_EQ(three, std::vector<float>(300'000, 3 * ranks));
}

TEST_P(OnGrids, PassesNaNAndInfinityOn) {
  const Grid grid = grid_of_test();
  std::vector<float> values(40, 1.0F);
  if (communicator().is_root()) {
    values[3] = std::numeric_limits<float>::quiet_NaN();
    values[39] = std::numeric_limits<float>::infinity();
  }
  Exchange exchange;
  exchange.begin(MPI_COMM_WORLD, grid, 7, {values});
  finish(exchange);
  EXPECT_TRUE(std::isnan(values[3]));
  EXPECT_FALSE(std::isfinite(values[39]));
  EXPECT_EQ(values[4], static_cast<float>(communicator().size()));
}

// Widest 1: two dimensions of hosts where their number allows.
INSTANTIATE_TEST_SUITE_P(Shapes, OnGrids, testing::Values(Shape{1, 1}, Shape{1, 16}, Shape{2, 16}, Shape{2, 1}),
                         [](const auto& shape) {
                           return "RanksOfHost" + std::to_string(shape.param.ranks_of_host) + "Widest" +
                                  std::to_string(shape.param.widest);
                         });

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
    for (int rank = 1; rank <= answering; ++rank)
      MPI_Recv(nullptr, 0, MPI_BYTE, rank, kLook, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
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

TEST_F(RollCalls, SayThatNothingMovesWhenNobodyIsLate) { expect_nothing_moves(8); }

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
