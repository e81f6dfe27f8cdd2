// The sum of one block over all ranks as a state machine over point-to-point messages. Nothing here blocks or starts a
// thread: a progress thread drives it in a training, a simulated rank in cluster/scaling.
//
// The way: the ranks stand in a grid of one or two dimensions. In each dimension in turn every rank cuts its block
// among the ranks of its line, sends each the part that is its, and adds the parts it gets in the order of the ranks:
// the blocks shrink until each rank holds one piece of the whole sum. Then the pieces go back the same way. All that
// travels is twice (n - 1) / n of the block, as in a ring, in 2 (n - 1) messages for one dimension and at best 4
// sqrt(n) for two (a prime number of ranks, or twice one, has no such grid: for more than some hundred ranks choose
// another number). The order of every addition depends on the number of ranks alone: not on time, network, buckets, or
// who is where.
#pragma once

#include <mpi.h>

#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

namespace rnnsearch::comm {

class Grid {
 public:
  /// One dimension for up to `widest` ranks, and for a prime number of them; else two, as square as divisors allow.
  Grid(int rank, int ranks, int widest = 16);

  /// 0 for one rank.
  int dimensions() const { return dimensions_; }
  int width(int dimension) const { return width_[dimension]; }
  /// Of this rank in its line.
  int place(int dimension) const { return place_[dimension]; }
  /// The rank at another place of that line.
  int neighbour(int dimension, int place) const;

 private:
  int rank_;
  int dimensions_ = 1;
  std::array<int, 2> width_{}, place_{};  // rank = place 0 + place 1 * width 0
};

class Exchange {
 public:
  /// Every rank begins the same blocks (sizes, `number`, with `residual` or without) in the same order.
  struct Block {
    std::span<float> values;  // in place; not to be touched until it is done
    /// Empty: float32 travels. Else [values.size()], this rank's for this block from one sum to the next, zero at
    /// first: bfloat16 travels, all additions are in float32, and what a rounding took away is added to what this rank
    /// sends next time (error feedback).
    std::span<float> residual{};
  };

  /// Of blocks under way at the same time no two may have numbers that are equal modulo this.
  static constexpr std::uint64_t kNumbers = 8192;

  /// REQUIRES: the former block is done. Memory is kept from block to block.
  void begin(MPI_Comm comm, const Grid& grid, std::uint64_t number, const Block& block);
  /// Goes on as far as the messages that have arrived allow. True: the sum is in `values`. Throws Error.
  bool advance();
  bool done() const { return stage_ == Stage::kDone; }
  /// Of this rank's own messages of the last block.
  std::uint64_t bytes_sent() const { return bytes_sent_; }
  /// Messages complete so far, sent or received: whoever waits sees that something moves.
  std::uint64_t messages_complete() const { return complete_; }

 private:
  enum class Stage { kReduce, kGather, kDone };
  struct Range {
    std::size_t first = 0, size = 0;
  };

  Range part(int dimension, int place) const;
  std::span<float> of_values(Range range) const { return block_.values.subspan(range.first, range.size); }
  bool rounds() const { return !block_.residual.empty(); }
  int tag(Stage stage) const;
  void send(const void* data, std::size_t count, int to);
  void receive(void* data, std::size_t count, int from);
  void test();
  void posted();
  void begin_reduce();
  void end_reduce();
  void begin_gather();
  void end_gather();

  MPI_Comm comm_ = MPI_COMM_NULL;
  const Grid* grid_ = nullptr;
  std::uint64_t number_ = 0;
  Block block_;
  Stage stage_ = Stage::kDone;
  int dimension_ = 0;
  std::array<Range, 3> ranges_;  // held before each dimension, and after the last
  std::vector<MPI_Request> requests_;
  std::vector<int> finished_;  // for MPI_Testsome, as is the next
  std::vector<MPI_Status> statuses_;
  std::size_t open_ = 0;         // of requests_
  std::vector<float> received_;  // by place, own part's size each
  std::vector<std::uint16_t> sent_bf16_, received_bf16_;
  std::uint64_t bytes_sent_ = 0, complete_ = 0;
};

}  // namespace rnnsearch::comm
