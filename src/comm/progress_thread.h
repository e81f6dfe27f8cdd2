// The background thread of a rank that drives asynchronous reductions while the other threads compute, and that answers
// other ranks when they diagnose a stall.
#pragma once

#include <mpi.h>

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "comm/exchange.h"
#include "rnnsearch/comm/communicator.h"

namespace rnnsearch::comm {

/// Maximum number of elements in one exchange: small enough that the first bytes leave early and the receive buffers
/// stay small (8 MB for each sum that a rank holds), large enough to hide latency.
inline constexpr std::size_t kBlock = std::size_t{1} << 21;
/// Exchanges in progress at the same time: while one adds, copies within its host or waits for a slow rank, others
/// transfer data.
inline constexpr std::size_t kUnderWay = 8;

// Diagnoses stalls: finds out which ranks are late. A rank that waits long in a collective asks all other ranks what
// they do. Each rank's progress thread answers, whatever its main thread does; a missing answer means that the process
// is stopped or gone, or that its network is down.
//
// One rank asks at a time: the first one to run out of patience asks, and the others then hold back. A stall therefore
// costs a few messages for each rank, and a run without stalls sends none.

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

class ProgressThread {
 public:
  /// COLLECTIVE. Duplicates `comm`, of which it keeps nothing. REQUIRES: more than one rank.
  explicit ProgressThread(MPI_Comm comm);
  /// COLLECTIVE.
  ~ProgressThread();
  ProgressThread(const ProgressThread&) = delete;
  ProgressThread& operator=(const ProgressThread&) = delete;

  int rank() const { return rank_; }
  int size() const { return static_cast<int>(hosts_.size()); }
  /// Of each rank, as distinct_hosts gives them.
  const std::vector<std::string>& hosts() const { return hosts_; }
  /// For the blocking collectives of the main thread.
  MPI_Comm collectives() const { return collectives_; }

  // For the main thread. shards: 0 if each rank is one.
  std::uint64_t begin(std::uint64_t shards, std::span<const std::span<float>> nodes);
  std::uint64_t begin(std::span<std::uint64_t> bits);
  void wait(std::uint64_t ticket);
  std::uint64_t begun() const { return begun_; }  // needs no lock: only the main thread changes it
  void abandon();
  Traffic traffic() const;
  RollCall& roll_call() { return roll_call_; }

  /// Registers a blocking MPI collective of the main thread with the stall check while the object lives.
  class Watched {
   public:
    Watched(ProgressThread& thread, const char* what);
    ~Watched();
    /// Reports progress: a part of the collective is complete.
    void moved();
    Watched(const Watched&) = delete;
    Watched& operator=(const Watched&) = delete;

   private:
    ProgressThread& thread_;
  };

  void set_stall_timeout(double seconds) { stall_timeout_ = seconds; }
  double stall_timeout() const { return stall_timeout_; }
  /// `activity` must be a string literal. Returns the previous one.
  const char* set_activity(const char* activity) { return activity_.exchange(activity); }

 private:
  using Clock = std::chrono::steady_clock;
  struct Job {
    std::uint64_t ticket = 0;
    Exchange::Block sum;
    std::span<std::uint64_t> bits{};  // if not empty, the job is a bitwise OR of these and `sum` is unused
  };
  struct Slot {
    bool busy = false;
    Job job;
    Exchange exchange;
    MPI_Request or_request = MPI_REQUEST_NULL;
  };

  void run();
  bool take_jobs();
  bool advance();
  void begin(Slot& slot);
  bool advance(Slot& slot);
  void call_the_roll();
  void rest(bool moved, bool idle);

  MPI_Comm collectives_, sums_, rolls_;
  const int rank_;
  const std::vector<std::string> hosts_;
  const Grid grid_;
  RollCall roll_call_;

  mutable std::mutex mutex_;
  std::condition_variable work_, finished_;
  std::deque<Job> queue_;
  std::uint64_t begun_ = 0;           // the last ticket given out
  std::uint64_t finished_up_to_ = 0;  // all tickets up to this one are complete
  bool stop_ = false, abandoned_ = false;
  Traffic traffic_;

  std::atomic<std::uint64_t> entered_{0};       // collectives that the main thread has entered or begun
  std::atomic<std::uint64_t> main_moves_{0};    // progress reports of blocking collectives on the main thread
  std::atomic<const char*> waits_in_{nullptr};  // nullptr while the main thread does not wait
  std::atomic<const char*> activity_{"computes"};
  std::atomic<double> stall_timeout_{kStallTimeout};

  // The members below are used by the progress thread only.
  std::array<Slot, kUnderWay> slots_;
  std::uint64_t moves_ = 0;       // messages and blocks completed
  std::uint64_t seen_moves_ = 0;  // moves_ + main_moves_ + entered_ at the last stall check
  double stalled_ = 0;            // seconds without progress while the main thread waits
  bool under_way_ = false;
  Clock::time_point under_way_since_{}, last_tick_{}, last_move_{};
  std::chrono::microseconds nap_{0};
  std::thread thread_;  // declared last, because it uses the members above
};

}  // namespace rnnsearch::comm
