#include "rnnsearch/kernels/parallel.h"

#include <sched.h>
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
    for (std::size_t i = 0; i < pieces; ++i) piece(i);
    return;
  }
  pool()->arena.execute([&] {
    tbb::parallel_for(
        tbb::blocked_range<std::size_t>(0, pieces, 1),
        [&](const tbb::blocked_range<std::size_t>& range) {
          for (std::size_t i = range.begin(); i < range.end(); ++i) piece(i);
        },
        tbb::simple_partitioner());
  });
}

}  // namespace rnnsearch::kernels
