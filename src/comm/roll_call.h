// Diagnoses stalls: finds out which ranks are late. A rank that waits long in a collective asks all other ranks what
// they do. Each rank's progress thread answers, whatever its main thread does; a missing answer means that the process
// is stopped or gone, or that its network is down.
//
// One rank asks at a time: the first one to run out of patience asks, and the others then hold back. A stall therefore
// costs a few messages for each rank, and a run without stalls sends none.
#pragma once

#include <mpi.h>

#include <atomic>
#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <thread>
#include <vector>

namespace rnnsearch::comm {

/// What one rank reports about itself.
struct RankStatus {
  std::uint64_t entered = 0;  // number of collectives that its main thread has entered or begun since the start
  double seconds = 0;         // time without progress in the collective it waits in
  bool waits = false;         // whether it waits in a collective; otherwise it computes, reads or writes
  char doing[48] = "";        // what it does, for the log line
};

/// Not thread-safe but for end_all_ranks; the progress thread owns it.
class RollCall {
 public:
  using Clock = std::chrono::steady_clock;

  /// `comm` must be a communicator of its own; no other messages may use it. hosts: the host name of every rank.
  RollCall(MPI_Comm comm, std::vector<std::string> hosts);

  struct Finding {
    std::string text;    // one line that names the late ranks
    bool final = false;  // the stall cannot resolve itself: end all ranks
  };
  /// Call it several times a second. It answers pending questions of other ranks. When this rank has made no progress
  /// for a quarter of stall_timeout (seconds; 0: never asks), it asks all others; when it has made none for the whole
  /// timeout, it returns a finding and starts over. The finding depends on the ranks that are furthest behind:
  ///   one does not answer  final
  ///   all of them wait     final: no rank is late, but nothing moves. No finding if one of them made progress recently
  ///   one does not wait    it is late but alive (it may write a checkpoint to a slow file system); final after ten
  ///                        stall timeouts
  /// Throws Error.
  std::optional<Finding> tick(const RankStatus& own, double stall_timeout);

  /// See Communicator::end_all_ranks.
  [[noreturn]] void end_all_ranks(int exit_code, const std::string& line);

 private:
  void answer(const RankStatus& own);
  void ask();
  std::optional<Finding> evaluate(const RankStatus& own, double stall_timeout);
  std::string list(const std::vector<int>& ranks, bool with_doing) const;
  void tell_the_root(int exit_code, const std::string& line) const;

  MPI_Comm comm_;
  int rank_ = 0, ranks_ = 1;
  std::vector<std::string> hosts_;
  std::vector<std::optional<RankStatus>> answers_;  // by rank: the answers to the roll call in progress, also its own
  std::vector<MPI_Request> asking_;                 // by rank: the question sent to it
  std::vector<MPI_Request> answering_;              // by rank: the answer sent to it
  std::vector<RankStatus> answered_with_;           // send buffers of answering_
  bool asked_ = false;
  double evaluate_at_ = 0;                          // the value of own.seconds at which the answers are evaluated
  Clock::time_point others_asked_{};                // when another rank last asked
  std::atomic_flag has_spoken_ = ATOMIC_FLAG_INIT;  // the root, which ends all ranks
};

/// A time limit for the MPI calls that wait for other ranks while no progress thread can tell who is late: MPI_Init,
/// MPI_Finalize and MPI_Abort. If the object is not destroyed within `seconds` (0: no limit), it logs the sentence,
/// unless that is empty, and ends this process with the exit code; the launcher then ends the other ranks. Time during
/// which the process is suspended does not count.
class TimeLimit {
 public:
  TimeLimit(double seconds, std::string sentence, int exit_code = 1);

 private:
  std::jthread thread_;  // which its destructor asks to stop
};

}  // namespace rnnsearch::comm
