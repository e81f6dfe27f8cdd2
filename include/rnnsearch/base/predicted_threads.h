// How long parallel loops would take on more threads than a machine has.
#pragma once

#include <cstddef>
#include <functional>
#include <span>

namespace rnnsearch {

/// While the object exists, parallel loops of the thread that created it divide their work as for `threads` threads,
/// and run the pieces on that thread alone, one after the other. Their times, put together as the threads would share
/// them, predict the time of a machine with so many cores. The prediction knows the pieces' sizes and what runs on one
/// thread only; it does not know that threads share memory bandwidth, outer caches and power. A loop within a piece is
/// a part of that piece. Results have the same bits. One object at a time in a thread; it stays in that thread.
class PredictedThreads {
 public:
  /// REQUIRES: threads >= 1
  explicit PredictedThreads(std::size_t threads);
  ~PredictedThreads();
  PredictedThreads(const PredictedThreads&) = delete;
  PredictedThreads& operator=(const PredictedThreads&) = delete;

  /// Of the calling thread; null if there is none.
  static PredictedThreads* current();

  std::size_t threads() const { return threads_; }
  /// The seconds that the threads would save so far: less than 0 if starting loops costs more than they gain.
  double saved() const { return saved_; }

  /// For parallel_for.
  void run(std::size_t pieces, const std::function<void(std::size_t piece)>& piece);

 private:
  std::size_t threads_;
  double saved_ = 0;
  bool in_piece_ = false;
};

/// The seconds from the start of a parallel loop until its last piece is done, if piece i takes seconds[i] on any
/// thread: each thread takes the pieces that parallel_for gives it, and then those that others have not begun.
double seconds_of_loop(std::span<const double> seconds, std::size_t threads);

/// What starting a loop on `threads` threads and waiting for all of them takes: 2 us for each doubling, an assumption.
double seconds_to_start_loop(std::size_t threads);

}  // namespace rnnsearch
