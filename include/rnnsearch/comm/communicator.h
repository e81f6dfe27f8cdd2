// The one room that knows MPI. Every call is checked; a failure throws Error with MPI's own reason, the rank and the place.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace rnnsearch::comm {

/// MPI from construction to destruction; one a process, made first and destroyed last, by `main`'s thread. Pins the
/// allreduce algorithm (unless the user set one), so that the same number of ranks gives the same bits on every run.
/// A process that no launcher started is a world of 1. SLURM_NTASKS > 1 with a world of 1 is an Error that names the cause.
class Environment {
 public:
  Environment();
  /// Ends MPI in order when `finish` was called; otherwise (an exception is on its way) calls MPI_Abort, so that the other
  /// ranks do not wait for this one.
  ~Environment();
  Environment(const Environment&) = delete;
  Environment& operator=(const Environment&) = delete;
  void finish();
  /// Ends all ranks at once with this exit code. Call after the error was printed.
  [[noreturn]] static void abort(int exit_code);
};

/// All ranks, collectively: every rank calls the same members in the same order with the same sizes.
class Communicator {
 public:
  int rank() const;
  int size() const;
  bool is_root() const { return rank() == 0; }

  /// In place; every rank gets the same bits. Counts beyond int are cut into chunks.
  void sum(std::span<float> values) const;
  void sum(std::span<double> values) const;
  void max(std::span<double> values) const;
  /// Every bit that is set on some rank.
  void unite(std::span<std::uint64_t> bits) const;
  void barrier() const;
  void broadcast(std::string& text, int from = 0) const;
  void broadcast(std::span<float> values, int from = 0) const;
  void broadcast(std::span<std::uint64_t> values, int from = 0) const;
  /// One string a rank, in the order of ranks, at the root; empty elsewhere.
  std::vector<std::string> gather(const std::string& text) const;
  /// The name of the machine each rank runs on, at every rank.
  std::vector<std::string> hosts() const;
};

/// "Open MPI v4.1.4" or what else MPI calls itself, for the record of a run.
std::string library();

}  // namespace rnnsearch::comm
