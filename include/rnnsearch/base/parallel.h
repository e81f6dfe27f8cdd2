// Parallel loops; no other file uses oneTBB. The caller divides work into pieces in a way that does not depend on the
// number of threads, or that does not affect the bits: 1 thread and 64 threads give the same result.
#pragma once

#include <algorithm>
#include <cstddef>
#include <functional>
#include <string>

#include "rnnsearch/base/signals.h"

namespace rnnsearch {

/// The number of CPUs that this process may use (allowed_cpu_list), or fewer if its cpu_quota is less: the default
/// number of threads.
std::size_t allowed_cpus();

/// Sets the maximum number of threads, including the calling one. REQUIRES: count >= 1.
void set_thread_count(std::size_t count);
std::size_t thread_count();

/// The library that runs the threads, for the record of a run, such as "oneTBB 2021.8".
std::string thread_library();

/// Makes the computations of the thread that creates it interruptible. While the object exists, parallel_for calls
/// `stop` before each piece and throws Interrupted when it returns true; partial results are then meaningless. Every
/// part of a model's work, down to one step of one sentence, goes through parallel_for. If several objects exist, the
/// last one is used. `stop` may be called by all threads.
class Interruptible {
 public:
  explicit Interruptible(std::function<bool()> stop);
  ~Interruptible();
  Interruptible(const Interruptible&) = delete;
  Interruptible& operator=(const Interruptible&) = delete;

 private:
  std::function<bool()> stop_;
  const std::function<bool()>* outer_;
};

/// While the object exists, parallel_for uses no other thread where the thread that created it is the caller: a
/// background thread leaves them to the others.
class SerialScope {
 public:
  SerialScope();
  ~SerialScope();
  SerialScope(const SerialScope&) = delete;
  SerialScope& operator=(const SerialScope&) = delete;

 private:
  bool outer_;
};

/// Calls piece(0) ... piece(pieces - 1), in any order, on all threads, and returns when all are done. The first
/// exception is rethrown, and pieces that have not started by then are skipped. A thread starts with the pieces that it
/// had in an earlier call with the same number of pieces, because their data may still be in its cache; then it helps
/// other threads.
void parallel_for(std::size_t pieces, const std::function<void(std::size_t piece)>& piece);

/// Whether a piece of parallel_for, at whatever depth, calls this: for assertions of functions that must not be called
/// there.
bool inside_parallel_for();

/// whole / piece, rounded up. REQUIRES: piece > 0, and whole + piece - 1 does not overflow.
constexpr std::size_t ceil_div(std::size_t whole, std::size_t piece) { return (whole + piece - 1) / piece; }

/// Calls range(first, last) for pieces of `piece` items of [0, count), on all threads.
template <class Range>
void parallel_ranges(std::size_t count, std::size_t piece, const Range& range) {
  parallel_for(ceil_div(count, piece), [&](std::size_t i) { range(i * piece, std::min(count, (i + 1) * piece)); });
}

}  // namespace rnnsearch
