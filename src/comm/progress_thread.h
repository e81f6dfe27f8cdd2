// The one thread of a rank that drives its sums while the others compute, and that answers for the rank when another
// one asks where it is.
#pragma once

#include <mpi.h>

#include <array>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <deque>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "comm/exchange.h"
#include "comm/roll_call.h"
#include "rnnsearch/comm/communicator.h"

namespace rnnsearch::comm {

/// Elements of one exchange at most: small enough that the first bytes leave early and the receive buffers stay small
/// (16 MB each), large enough that latency does not count.
inline constexpr std::size_t kBlock = std::size_t{1} << 22;
/// Exchanges under way at the same time: while one adds or waits for a slow rank, another one moves.
inline constexpr std::size_t kUnderWay = 4;

class ProgressThread {
 public:
  /// COLLECTIVE. More than one rank.
  ProgressThread();
  ~ProgressThread();
  ProgressThread(const ProgressThread&) = delete;
  ProgressThread& operator=(const ProgressThread&) = delete;

  // For the main thread.
  std::uint64_t begin(std::span<float> values, std::span<float> residual);
  std::uint64_t begin(std::span<std::uint64_t> bits);
  void wait(std::uint64_t ticket);
  std::uint64_t begun() const { return begun_; }  // only the main thread begins
  void abandon();
  Traffic traffic() const;

  /// Around a collective that MPI itself does on the main thread.
  class Watched {
   public:
    explicit Watched(ProgressThread* thread, const char* what);
    ~Watched();
    /// A part of it is done.
    void moved();
    Watched(const Watched&) = delete;
    Watched& operator=(const Watched&) = delete;

   private:
    ProgressThread* thread_;
  };

  void set_stall_timeout(double seconds) { stall_timeout_ = seconds; }
  double stall_timeout() const { return stall_timeout_; }
  /// A string literal; returns the former one.
  const char* set_activity(const char* activity) { return activity_.exchange(activity); }

 private:
  using Clock = std::chrono::steady_clock;
  struct Job {
    std::uint64_t ticket = 0;
    Exchange::Block sum;
    std::span<std::uint64_t> bits{};  // not empty: these are united, and there is no sum
  };
  struct Slot {
    bool busy = false;
    Job job;
    Exchange exchange;
    MPI_Request uniting = MPI_REQUEST_NULL;
  };

  void run();
  bool take_jobs();
  bool advance();
  void begin(Slot& slot);
  bool advance(Slot& slot);
  void call_the_roll();
  void rest(bool moved, bool idle);

  MPI_Comm sums_ = MPI_COMM_NULL, rolls_ = MPI_COMM_NULL;
  Grid grid_;
  RollCall roll_call_;

  mutable std::mutex mutex_;
  std::condition_variable work_, finished_;
  std::deque<Job> queue_;
  std::uint64_t begun_ = 0, finished_up_to_ = 0;  // tickets
  bool stop_ = false, abandoned_ = false;
  Traffic traffic_;

  std::atomic<std::uint64_t> entered_{0};
  std::atomic<std::uint64_t> main_moves_{0};    // in collectives that MPI does on the main thread
  std::atomic<const char*> waits_in_{nullptr};  // nullptr: the main thread does not wait
  std::atomic<const char*> activity_{"computes"};
  std::atomic<double> stall_timeout_{kStallTimeout};

  // The thread's own.
  std::array<Slot, kUnderWay> slots_;
  std::uint64_t moves_ = 0;       // messages and blocks completed
  std::uint64_t seen_moves_ = 0;  // with main_moves_ and entered_
  double stalled_ = 0;            // seconds
  bool under_way_ = false;
  Clock::time_point under_way_since_{}, last_tick_{}, last_move_{};
  std::chrono::microseconds nap_{0};
  std::thread thread_;  // last: it uses the others
};

/// This process's: from Environment's beginning to its end, in a world of more than one rank; else nullptr.
ProgressThread* progress_thread();

}  // namespace rnnsearch::comm
