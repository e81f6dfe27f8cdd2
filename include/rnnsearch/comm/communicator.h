// The one room that knows MPI. Every call is checked; a failure throws Error with MPI's own reason, the rank and the
// place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace rnnsearch::comm {

/// Seconds; see set_stall_timeout.
inline constexpr double kStallTimeout = 120;
/// Seconds in which all ranks must have started and found each other; RNNSEARCH_START_TIMEOUT says otherwise.
inline constexpr double kStartTimeout = 300;

/// The world of ranks from construction to destruction. There is one per process, which `main`'s thread makes first and
/// destroys last.
/// A process that no launcher started, or that a launcher started alone, is a world of 1 and never initialises MPI. It
/// is an Error, which names the cause, when SLURM granted it several tasks (see check_launch).
/// Otherwise this initialises and ends MPI. It pins the allreduce algorithm (unless the user set one), so that the same
/// number of ranks gives the same bits on every run. With more than one rank it starts a progress thread, which drives
/// sums while others compute; so MPI must provide MPI_THREAD_MULTIPLE.
/// Before the progress thread runs and after it, nobody can ask who is late: a rank that waits for longer than
/// kStartTimeout at the start, or the stall timeout at the end, logs that and ends its process with exit code 1.
class Environment {
 public:
  Environment();
  /// Calls MPI_Abort unless `finish` was called (an exception is on its way), so that the other ranks do not wait for
  /// this one. Does nothing in a world of one.
  ~Environment();
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;
  /// COLLECTIVE. exit_code: what the program will end with, should MPI not come to its own end.
  void finish(int exit_code = 0);
  /// Ends all ranks, or the only one, at once with this exit code. Call after the error was printed.
  [[noreturn]] static void abort(int exit_code);
};

/// After so many seconds in which nothing moved in a collective that this rank waits in, the ranks that are late are
/// named in a log line; those that do not answer (stopped, gone, cut off) end all ranks with exit code 1. A rank that
/// answers is late but alive (it may read a large file): it is named each time, and given ten times as long. 0: never.
void set_stall_timeout(double seconds);

/// What this rank does, for others that wait for it, from construction to destruction. `what` is a literal: "writes a
/// checkpoint".
class Activity {
 public:
  explicit Activity(const char* what);
  ~Activity();
  Activity(const Activity&) = delete;
  Activity& operator=(const Activity&) = delete;

 private:
  const char* former_;
};

/// Of what this rank began since the start.
struct Traffic {
  std::uint64_t bytes_sent = 0;
  double busy_seconds = 0;  // in which some of it was under way
};

/// All ranks, collectively: every rank calls the same members in the same order with the same sizes, on one thread.
/// REQUIRES: an Environment was made. In a world of one nothing is sent, and values stay as they are.
class Communicator {
 public:
  int rank() const;
  int size() const;
  bool is_root() const { return rank() == 0; }

  /// Identifies an operation that was started, for wait().
  using Ticket = std::uint64_t;
  /// Starts an asynchronous all-reduce (sum, in place) and returns at once; `values` must not be touched before wait().
  /// Every rank gets the same bits. They depend on the ranks' values and the number of ranks alone: not on timing, nor,
  /// in float32, on how the values are divided over calls.
  /// residual: empty, or the error-feedback residual of these values, [values.size()], zero before the first call. With
  /// it values are sent in bfloat16, half the bytes, and added in float32; what rounding removed is added to the values
  /// of the next call.
  Ticket begin_all_reduce(std::span<float> values, std::span<float> residual = {}) const;
  /// The same for a bitwise OR.
  Ticket begin_or_reduce(std::span<std::uint64_t> bits) const;
  /// Returns once this operation, and all that were started before it, are complete. A failure ends all ranks, after a
  /// log line with MPI's reason.
  void wait(Ticket ticket) const;
  void wait_for_all() const;
  /// For whoever began sums and leaves by an exception: this rank does not touch the values any more (other ranks still
  /// may, through MPI). Only `Environment::abort` may follow, soon.
  void abandon() const;
  Traffic traffic() const;

  /// In place; every rank gets the same bits. Of doubles: a few.
  void all_reduce(std::span<float> values) const;  // begin_all_reduce and wait
  void all_reduce(std::span<double> values) const;
  void max(std::span<double> values) const;
  void barrier() const;
  void broadcast(std::string& text, int from = 0) const;
  void broadcast(std::span<float> values, int from = 0) const;
  void broadcast(std::span<std::uint64_t> values, int from = 0) const;
  /// One string a rank, in the order of ranks, at the root; empty elsewhere.
  std::vector<std::string> gather(const std::string& text) const;
  /// The name of the machine each rank runs on, at every rank.
  std::vector<std::string> hosts() const;
};

/// "Open MPI v4.1.4" or what else the MPI library calls itself, for the record of a run. May be called at any time.
std::string library();

}  // namespace rnnsearch::comm
