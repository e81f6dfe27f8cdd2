#include "rnnsearch/base/parallel.h"

#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>
#include <tbb/task_group.h>
#include <tbb/version.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>
#include <vector>

#include "rnnsearch/base/error.h"
#include "rnnsearch/base/machine.h"

namespace rnnsearch {
namespace {

struct Pool {
  std::size_t count;
  tbb::global_control control;
  tbb::task_arena arena;
  explicit Pool(std::size_t threads)
      : count(threads),
        control(tbb::global_control::max_allowed_parallelism, threads),
        arena(static_cast<int>(threads)) {}
};

// The pieces [first, last) of one thread, which takes them from the front. Threads that have no pieces left steal from
// the back.
class alignas(64) PieceRange {
 public:
  void set(std::size_t first, std::size_t last) { range_.store(pack(first, last), std::memory_order_relaxed); }
  bool take_first(std::size_t& piece) {
    return take([&](std::size_t first, std::size_t last) {
      piece = first;
      return pack(first + 1, last);
    });
  }
  bool take_last(std::size_t& piece) {
    return take([&](std::size_t first, std::size_t last) {
      piece = last - 1;
      return pack(first, last - 1);
    });
  }

 private:
  static std::uint64_t pack(std::size_t first, std::size_t last) { return std::uint64_t{first} << 32 | last; }

  template <class Rest>
  bool take(const Rest& rest) {
    std::uint64_t range = range_.load(std::memory_order_relaxed);
    while (true) {
      const std::size_t first = range >> 32, last = range & 0xffffffff;
      if (first >= last) return false;
      if (range_.compare_exchange_weak(range, rest(first, last), std::memory_order_relaxed)) return true;
    }
  }

  std::atomic<std::uint64_t> range_ = 0;
};

std::unique_ptr<Pool>& pool() {
  static std::unique_ptr<Pool> instance = std::make_unique<Pool>(allowed_cpus());
  return instance;
}

thread_local const std::function<bool()>* asks_to_stop = nullptr;
thread_local bool is_alone = false, is_in_piece = false;

struct InPiece {
  const bool outer = std::exchange(is_in_piece, true);
  ~InPiece() { is_in_piece = outer; }
};

// ThreadSanitizer sees no synchronization inside oneTBB, which is not instrumented, nor is this file. So it is told
// what parallel_for guarantees: all pieces begin after the call and end before its return. Two pieces remain unordered.
#ifdef RNNSEARCH_SANITIZE_THREAD
extern "C" void __tsan_acquire(void* address);
extern "C" void __tsan_release(void* address);
struct CallOrder {
  char begins{}, ends{};
  CallOrder() { __tsan_release(&begins); }
  ~CallOrder() { __tsan_acquire(&ends); }
};
struct PieceOrder {
  CallOrder& call;
  explicit PieceOrder(CallOrder& call_order) : call(call_order) { __tsan_acquire(&call.begins); }
  ~PieceOrder() { __tsan_release(&call.ends); }
};
#else
struct CallOrder {};
struct PieceOrder {
  explicit PieceOrder(CallOrder&) {}
};
#endif

}  // namespace

Interruptible::Interruptible(std::function<bool()> stop) : stop_(std::move(stop)), outer_(asks_to_stop) {
  asks_to_stop = &stop_;
}
Interruptible::~Interruptible() { asks_to_stop = outer_; }

SerialScope::SerialScope() : outer_(std::exchange(is_alone, true)) {}
SerialScope::~SerialScope() { is_alone = outer_; }

std::size_t allowed_cpus() {
  const std::size_t cpus = cpus_of(allowed_cpu_list()).size();
  const CpuQuota quota = cpu_quota();
  return std::max<std::size_t>(1, quota ? std::min(cpus, static_cast<std::size_t>(std::min(quota.cpus, 1e6))) : cpus);
}

bool inside_parallel_for() { return is_in_piece; }

void set_thread_count(std::size_t count) {
  count = std::max<std::size_t>(count, 1);
  if (pool() && pool()->count == count) return;
  pool().reset();
  pool() = std::make_unique<Pool>(count);
}

std::size_t thread_count() { return pool()->count; }

std::string thread_library() {
  const int version = TBB_runtime_interface_version();  // for example 12080 for interface 12.8, released as 2021.8
  return fmt::format("oneTBB {}.{}", version / 1000 + 2009, version % 1000 / 10);
}

void parallel_for(std::size_t pieces, const std::function<void(std::size_t piece)>& piece) {
  const auto run = [&piece, stop = asks_to_stop](std::size_t i) {
    if (stop && (*stop)()) throw Interrupted();
    const InPiece in_piece;
    piece(i);
  };
  if (pieces <= 1 || is_alone || thread_count() == 1) {
    for (std::size_t i = 0; i < pieces; ++i) run(i);
    return;
  }
  const std::size_t threads = std::min(pieces, thread_count());
  std::vector<PieceRange> ranges(threads);
  for (std::size_t h = 0; h < threads; ++h) ranges[h].set(pieces * h / threads, pieces * (h + 1) / threads);
  CallOrder call;
  pool()->arena.execute([&] {
    tbb::parallel_for(
        tbb::blocked_range<std::size_t>(0, threads, 1),
        [&](const tbb::blocked_range<std::size_t>&) {
          [[maybe_unused]] const PieceOrder order(call);
          const auto own = static_cast<std::size_t>(tbb::this_task_arena::current_thread_index()) % threads;
          const auto stopped = [] { return tbb::is_current_task_group_canceling(); };  // another piece threw
          std::size_t i = 0;
          while (!stopped() && ranges[own].take_first(i)) run(i);
          for (std::size_t other = own + 1; other < own + threads; ++other) {
            while (!stopped() && ranges[other % threads].take_last(i)) run(i);
          }
        },
        tbb::simple_partitioner());
  });
}

}  // namespace rnnsearch
