// The one place that knows oneTBB. Work is cut by the caller into pieces that do not depend on the number of threads,
// or whose cut does not touch the bits: 1 thread and 64 compute the same.
#pragma once

#include <cstddef>
#include <exception>
#include <functional>

namespace rnnsearch::kernels {

/// CPUs this process may use (sched_getaffinity): the default number of threads.
std::size_t allowed_cpus();

/// At most this many threads work from now on, the calling one included. count >= 1.
void set_threads(std::size_t count);
std::size_t threads();

/// A computation that was told to stop.
struct Interrupted : std::exception {
  const char* what() const noexcept override { return "a signal asked to stop"; }
};

/// While one exists, parallel_for asks `stop` on the thread that made it, and on its helpers before each piece, and
/// throws Interrupted once it says true: every part of a model's work, down to one step of one sentence, goes through
/// parallel_for. What is computed then is worthless. Of several the last one counts. `stop` may be called by all
/// threads.
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

/// piece(0) ... piece(pieces - 1), in any order, on all threads; returns when all are done. The first exception is
/// rethrown, and pieces that were not begun by then are left out. A thread begins with the pieces that it had in an
/// earlier call of as many pieces, so that what they read may still be in its cache, and then helps others with theirs.
void parallel_for(std::size_t pieces, const std::function<void(std::size_t piece)>& piece);

}  // namespace rnnsearch::kernels
