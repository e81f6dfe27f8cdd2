#include "rnnsearch/kernels/parallel.h"

#include <omp.h>
#include <sched.h>
#include <signal.h>
#include <tbb/blocked_range.h>
#include <tbb/global_control.h>
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

#include <algorithm>
#include <memory>

namespace rnnsearch::kernels {
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

std::unique_ptr<Pool>& pool() {
  static std::unique_ptr<Pool> instance = std::make_unique<Pool>(allowed_cpus());
  return instance;
}

// The float products of oneDNN 2.6 borrow the stack pointer: a signal handler that runs on the thread's own stack
// meanwhile overwrites the heap. With a stack of its own (SA_ONSTACK) it does not.
class SignalStack {
 public:
  SignalStack() {
    stack_t present{};
    if (sigaltstack(nullptr, &present) != 0 || (present.ss_flags & SS_DISABLE) == 0) return;  // somebody gave it one
    memory_ = std::make_unique<char[]>(kBytes);
    stack_t ours{};
    ours.ss_sp = memory_.get();
    ours.ss_size = kBytes;
    sigaltstack(&ours, nullptr);
  }
  ~SignalStack() {
    if (!memory_) return;
    stack_t none{};
    none.ss_flags = SS_DISABLE;
    sigaltstack(&none, nullptr);
  }
  SignalStack(const SignalStack&) = delete;
  SignalStack& operator=(const SignalStack&) = delete;

 private:
  static constexpr std::size_t kBytes = 65536;  // the registers of AMX alone take 11 KB
  std::unique_ptr<char[]> memory_;
};

// Once a thread, before its first piece.
void prepare_thread() {
  thread_local const SignalStack signal_stack;
  thread_local bool done = false;
  // oneDNN brings OpenMP; a team of OpenMP threads inside each oneTBB thread would fight for the cores.
  if (!done) omp_set_num_threads(1);
  done = true;
}

}  // namespace

std::size_t allowed_cpus() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof(set), &set) != 0) return 1;
  return static_cast<std::size_t>(std::max(1, CPU_COUNT(&set)));
}

void set_threads(std::size_t count) {
  count = std::max<std::size_t>(count, 1);
  if (pool() && pool()->count == count) return;
  pool().reset();
  pool() = std::make_unique<Pool>(count);
}

std::size_t threads() {
  return pool()->count;
}

void parallel_for(std::size_t pieces, const std::function<void(std::size_t piece)>& piece) {
  if (pieces <= 1 || threads() == 1) {
    prepare_thread();
    for (std::size_t i = 0; i < pieces; ++i) piece(i);
    return;
  }
  pool()->arena.execute([&] {
    tbb::parallel_for(
        tbb::blocked_range<std::size_t>(0, pieces, 1),
        [&](const tbb::blocked_range<std::size_t>& range) {
          prepare_thread();
          for (std::size_t i = range.begin(); i < range.end(); ++i) piece(i);
        },
        tbb::simple_partitioner());
  });
}

}  // namespace rnnsearch::kernels
