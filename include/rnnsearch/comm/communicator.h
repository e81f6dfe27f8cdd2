// The interface to MPI, which no other module calls. Every MPI call is checked; a failure throws Error with MPI's own
// reason, the rank and the place in the source.
//
// What an MPI must offer, which the build and the start of the program check: version 3.1 of the standard (non-blocking
// collectives; calls that any thread may make at any time, such as MPI_Initialized) and MPI_THREAD_MULTIPLE. Besides
// initialisation, shutdown and queries it calls only Isend, Irecv, Testsome, Send, Recv, Iprobe and Test; Comm_dup
// and Comm_free; the collectives Barrier, Bcast, Gather, Allgather and, on whole numbers, Iallreduce.
// Floating-point numbers are added by this module alone, in an order that only the number of ranks determines, so that
// every MPI gives the same bits.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

namespace rnnsearch::comm {

class ProgressThread;

/// Default of Communicator::set_stall_timeout, in seconds.
inline constexpr double kStallTimeout = 120;
/// Seconds within which all ranks must start and connect. The environment variable RNNSEARCH_START_TIMEOUT overrides
/// it; the Environment ignores a malformed value, which start_timeout refuses once the ranks can agree on it.
inline constexpr double kStartTimeout = 300;
/// Default number of bytes in one MPI call of a broadcast or gather: few enough that the stall check sees progress on a
/// slow network. (MPI counts are int, so large data has to be sent in chunks.)
inline constexpr std::size_t kChunkBytes = std::size_t{1} << 24;

/// Traffic of the asynchronous reductions that this rank began since the start.
struct Traffic {
  std::uint64_t bytes_sent = 0;
  double busy_seconds = 0;  // time during which at least one reduction was in progress
};

/// Collective operations over a group of ranks. Every rank calls the same members in the same order with the same
/// sizes, all from one thread. It owns duplicated MPI communicators and, with more than one rank, a progress thread,
/// which drives reductions while other threads compute and diagnoses stalls. The only rank of a communicator sends
/// nothing, and its values stay unchanged.
class Communicator {
 public:
  /// A communicator of this process alone, which needs no MPI.
  Communicator();
  /// Ends the progress thread and frees the MPI communicators; COLLECTIVE with more than one rank.
  ~Communicator();
  Communicator(Communicator&&) noexcept;
  Communicator& operator=(Communicator&&) noexcept;

  int rank() const;
  int size() const;
  bool is_root() const { return rank() == 0; }

  /// Identifies an operation in progress, for wait().
  using Ticket = std::uint64_t;
  /// Starts an asynchronous all-reduce (sum, in place) and returns at once; `values` must not be touched before wait().
  /// Every rank gets the same bits, which depend only on the ranks' values and the number of ranks: not on
  /// timing, on the hosts of the ranks or on how the values are divided into calls. Where the ranks of each host follow
  /// one another and every host has as many, values are summed within hosts first, so that each value crosses the
  /// network once for a host and not for each of its ranks.
  Ticket begin_all_reduce(std::span<float> values) const;
  /// The same with an order of additions that does not depend on the number of ranks either: that of ShardTree(shards)
  /// (shard_tree.h). nodes: the sums of this rank's nodes, which are those of the shards [rank S / R, (rank + 1) S / R)
  /// of S shards and R ranks, from left to right, all of the same size. The sum over all shards replaces the last one.
  /// REQUIRES: R divides S.
  Ticket begin_tree_reduce(std::uint64_t shards, std::span<const std::span<float>> nodes) const;
  /// Starts an asynchronous all-reduce with bitwise OR, in place; the rules of begin_all_reduce apply.
  Ticket begin_or_reduce(std::span<std::uint64_t> bits) const;
  /// Returns when this operation and all operations started before it are complete. A failure logs MPI's reason and
  /// ends all ranks.
  void wait(Ticket ticket) const;
  void wait_for_all() const;
  /// For a caller that leaves by an exception while reductions are in progress: afterwards the progress thread of this
  /// rank does not touch the values any more (MPI may still do so for other ranks). The only permitted next call is
  /// `Environment::abort`, soon.
  void abandon() const;
  Traffic traffic() const;

  /// Blocking reductions in place; every rank gets the same bits. Those of doubles are meant for a few numbers, which
  /// are combined in the order of ranks.
  void all_reduce(std::span<float> values) const;  // begin_all_reduce, then wait
  void all_reduce(std::span<double> values) const;
  void max(std::span<double> values) const;
  /// On every rank the values of all ranks, in rank order. Every rank gives as many.
  std::vector<double> all_gather(std::span<const double> values) const;
  void barrier() const;
  void broadcast(std::string& text, int from = 0) const;
  void broadcast(std::span<float> values, int from = 0) const;
  void broadcast(std::span<std::uint64_t> values, int from = 0) const;
  void broadcast(std::span<std::byte> bytes, int from, std::size_t chunk_bytes = kChunkBytes) const;
  /// At the root: one string for each rank, in rank order. On the other ranks: empty.
  std::vector<std::string> gather(const std::string& text, std::size_t chunk_bytes = kChunkBytes) const;
  /// The host name of each rank, in rank order, as distinct_hosts gives it; the same on every rank. Not
  /// collective.
  std::vector<std::string> hosts() const;

  /// Sets the stall timeout. When a collective that this rank waits in makes no progress for that many seconds, a log
  /// line names the late ranks. If one of them does not answer (it is stopped, gone or cut off), all ranks end with
  /// exit code 1. A late rank that answers is alive (it may read a large file): it is named again after each timeout,
  /// and all ranks end after ten of them. 0 turns the check off.
  void set_stall_timeout(double seconds) const;
  /// Ends all ranks with this exit code, after `line` was logged once: by the root, which ends them at the first such
  /// line of any rank. If the root does not respond, this rank logs the line itself. For a rank whose error is not that
  /// of all ranks; may be called by any thread, while other ranks are in a collective.
  [[noreturn]] void end_all_ranks(int exit_code, const std::string& line) const;

 private:
  friend class Activity;
  friend class Environment;
  explicit Communicator(std::unique_ptr<ProgressThread> thread);

  std::unique_ptr<ProgressThread> thread_;  // none with one rank
};

/// Tells other ranks, in the log line about a stall, what this rank does between construction and destruction of the
/// object. `what` must be a string literal, for example "writes a checkpoint".
class Activity {
 public:
  Activity(const Communicator& communicator, const char* what);
  ~Activity();
  Activity(const Activity&) = delete;
  Activity& operator=(const Activity&) = delete;

 private:
  ProgressThread* thread_;
  const char* former_;
};

/// Holds MPI, and the communicator of all ranks, from construction to destruction. Each process has one; the main
/// thread creates it first and destroys it last.
/// A process that was started without a launcher, or as the only process of one, never initialises MPI. If SLURM
/// granted it several tasks, the constructor throws an Error that names the cause (see check_launch). Otherwise this
/// class initialises and finalises MPI, which must provide MPI_THREAD_MULTIPLE. An MPI that does not suit is an
/// AgreedError. Stalls can be diagnosed only while a progress thread runs. Before and after that, a rank that waits
/// longer than kStartTimeout (at the start) or the stall timeout (at the end) logs so and ends its process with exit
/// code 1.
class Environment {
 public:
  Environment();
  /// Calls MPI_Abort unless `finish` was called, because then an exception is propagating and the other ranks must not
  /// wait for this one. Does nothing if this process never initialised MPI.
  ~Environment();
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;

  /// All ranks.
  const Communicator& communicator() const { return communicator_; }
  /// COLLECTIVE. Finalises MPI; afterwards communicator() is that of this process alone. exit_code: the exit code of
  /// this process if MPI_Finalize does not return in time.
  void finish(int exit_code = 0);
  /// Ends all ranks at once with this exit code. Call it after the error was printed.
  [[noreturn]] static void abort(int exit_code);

 private:
  bool with_mpi_ = false;
  Communicator communicator_;
};

/// The number of ranks of a host, if the ranks of each host follow one another and every host has as many; otherwise 1.
/// hosts: of each rank, in rank order, at least one.
int ranks_of_each_host(const std::vector<std::string>& hosts);

/// The names, in which a host has a number if it has the name of another machine: "node", "node#2". names, boots: of
/// each rank.
std::vector<std::string> distinct_hosts(std::vector<std::string> names, const std::vector<std::string>& boots);

/// Name and version that the MPI library reports, such as "Open MPI v4.1.4". May be called at any time.
std::string library();
/// For advice that only this MPI understands.
bool library_is_open_mpi();
/// Commands that start ranks which may use all CPUs, in the words of this MPI's launcher and of SLURM: for advice.
std::string launch_without_binding();

}  // namespace rnnsearch::comm
