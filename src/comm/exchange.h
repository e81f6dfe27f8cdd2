// All-reduce (sum) of one block over all ranks, as a state machine over point-to-point messages. Nothing here blocks or
// starts a thread: in training the progress thread drives it, in cluster/scaling a simulated rank does.
//
// Algorithm: a reduce-scatter followed by an all-gather on a grid of ranks with up to three dimensions: the ranks of a
// host, if there are several, and one or two dimensions of hosts. In each dimension in turn, every rank divides its
// block among the ranks of its line, sends each rank the part that belongs to it, and adds the parts that it receives.
// The blocks shrink until each rank holds one part of the whole sum; then the parts are gathered in the reverse order
// of dimensions. Each of n ranks sends 2 (n - 1) / n of the block, as in a ring, in 2 (n - 1) messages for one
// dimension and at best 4 sqrt(n) for two. With r ranks on a host, only an r-th of that leaves the host. (A prime
// number of hosts, or twice a prime, has no nearly square grid; choose another number for more than a few hundred.)
//
// Parts are added in the order of a ShardTree, whose shards are the ranks or, with `shards`, a number that
// does not depend on them. So the order of every addition depends at most on the number of ranks: not on timing,
// network, buckets or the placement of ranks on hosts. Where the shards of a rank, or of a line of ranks, are several
// nodes of the tree, it sends the sum of each; powers of two are therefore the best numbers of ranks and of ranks on a
// host.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>
#include <vector>

#include "rnnsearch/base/error.h"
#include "rnnsearch/comm/shard_tree.h"

namespace rnnsearch::comm {

class Grid {
 public:
  static constexpr int kMaxDimensions = 3;

  /// ranks_of_host: if more than one and fewer than all, ranks 0, 1, ... of that number share a host, then as many the
  /// next host, and so on; they are the lines of the first dimension. REQUIRES: it divides `ranks`.
  /// The hosts have one dimension, if they are at most `widest` or a prime number, otherwise two, as square as the
  /// divisors of their number allow, a power of two first.
  Grid(int rank, int ranks, int ranks_of_host = 1, int widest = 16);

  /// 0 for one rank.
  int dimensions() const { return dimensions_; }
  int ranks() const { return ranks_; }
  int width(int dimension) const { return width_[dimension]; }
  /// The coordinate of this rank in a dimension.
  int coordinate(int dimension) const { return coordinate_[dimension]; }
  /// The rank at this coordinate of this dimension whose other coordinates are those of this rank.
  int neighbour(int dimension, int coordinate) const;
  /// The distance of neighbours, in ranks: the product of the widths of the dimensions before.
  int stride(int dimension) const { return stride_[dimension]; }

 private:
  void add_dimension(int width);

  int rank_, ranks_;
  int dimensions_ = 0;
  std::array<int, kMaxDimensions> width_{}, stride_{}, coordinate_{};  // rank = sum of coordinate * stride
};

class Exchange {
 public:
  /// Every rank begins the same blocks (same size and `number`) in the same order.
  struct Block {
    std::span<float> values;  // summed in place; the caller must not touch them until done()
    /// 0: each rank is a shard. Otherwise sums are added in the order of ShardTree(shards), and `values` is the sum of
    /// this rank's last node. REQUIRES: the number of ranks divides it.
    std::uint64_t shards = 0;
    std::vector<std::span<const float>> earlier{};  // the sums of the rank's other nodes, each [values.size()]
  };

  /// Message tags hold the block number modulo this; no two blocks in progress at the same time may share a tag.
  static constexpr std::uint64_t kNumbers = 8192;

  /// Starts the sum of a block. REQUIRES: the previous block is done. Buffers are reused from block to block.
  void begin(MPI_Comm comm, const Grid& grid, std::uint64_t number, const Block& block);
  /// Progresses as far as the messages received so far allow. Returns true when the sum is in `values`. Throws Error.
  bool advance();
  bool done() const { return stage_ == Stage::kDone; }
  /// Bytes that this rank sent for the last block.
  std::uint64_t bytes_sent() const { return bytes_sent_; }
  /// Messages of the last block completed so far, sent and received; the stall check takes it as progress.
  std::uint64_t messages_complete() const { return complete_; }

 private:
  enum class Stage { kReduce, kGather, kDone };
  struct Range {
    std::size_t first = 0, size = 0;
  };
  /// The sum of a node of a tree, from element `first` of the block on.
  struct Addend {
    const float* values = nullptr;
    std::size_t first = 0;
  };

  Range part(int dimension, int coordinate) const;
  std::span<float> values_in(Range range) const { return block_.values.subspan(range.first, range.size); }
  /// The nodes that the rank at this coordinate of the present dimension holds before that dimension.
  std::vector<ShardRange> nodes_at(int coordinate) const;
  int tag(Stage stage) const;
  void send(const float* values, std::size_t count, int to);
  void receive(float* values, std::size_t count, int from);
  void test();
  void posted();
  void begin_reduce();
  void end_reduce();
  void begin_gather();

  MPI_Comm comm_ = MPI_COMM_NULL;
  const Grid* grid_ = nullptr;
  std::uint64_t number_ = 0;
  Block block_;
  Stage stage_ = Stage::kDone;
  int dimension_ = 0;
  /// The range that this rank holds before each dimension, and after the last.
  std::array<Range, Grid::kMaxDimensions + 1> ranges_;
  std::vector<MPI_Request> requests_;
  std::vector<int> finished_;         // output of MPI_Testsome
  std::vector<MPI_Status> statuses_;  // output of MPI_Testsome
  std::size_t open_ = 0;              // requests_ that are not complete yet
  // The parts received, ordered by coordinate and for each coordinate by node; each has the size of the own part.
  std::vector<float> received_;
  std::vector<Addend> addends_;  // the sums that this rank holds, one for each of its nodes
  /// After a dimension, all of them but the last, which is in `values`.
  std::array<std::vector<float>, Grid::kMaxDimensions> kept_;
  std::uint64_t bytes_sent_ = 0, complete_ = 0;
};

// Turns the failure of an MPI call into an Error.

/// Throws Error unless `result` is MPI_SUCCESS. `what` names the call. (clang 14 has no std::source_location; the
/// builtins behind it exist in every compiler we build with.)
inline void check(int result, const char* what, const char* function = __builtin_FUNCTION(),
                  int line = __builtin_LINE()) {
  if (result == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> reason{};
  int length = 0, rank = -1;
  MPI_Error_string(result, reason.data(), &length);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  // MPICH describes the call in several lines; an Error is one.
  std::replace(reason.begin(), reason.begin() + length, '\n', ' ');
  throw Error("comm: {} failed on rank {}: {} ({}, line {})", what, rank,
              std::string_view(reason.data(), static_cast<std::size_t>(length)), function, line);
}

}  // namespace rnnsearch::comm
