#include "rnnsearch/base/predicted_threads.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <functional>
#include <numeric>
#include <queue>
#include <utility>
#include <vector>

#include "rnnsearch/base/stopwatch.h"

namespace rnnsearch {
namespace {

thread_local PredictedThreads* current_one = nullptr;

}  // namespace

PredictedThreads::PredictedThreads(std::size_t threads) : threads_(threads) {
  assert(threads >= 1 && current_one == nullptr);
  current_one = this;
}
PredictedThreads::~PredictedThreads() {
  current_one = nullptr;
}

PredictedThreads* PredictedThreads::current() {
  return current_one;
}

void PredictedThreads::run(std::size_t pieces, const std::function<void(std::size_t piece)>& piece) {
  if (pieces <= 1 || in_piece_) {
    for (std::size_t i = 0; i < pieces; ++i) piece(i);
    return;
  }
  in_piece_ = true;
  std::vector<double> seconds;
  try {
    for (std::size_t i = 0; i < pieces; ++i) {
      const Stopwatch watch;
      piece(i);
      seconds.push_back(watch.seconds());
    }
  } catch (...) {
    in_piece_ = false;
    throw;
  }
  in_piece_ = false;
  saved_ += std::accumulate(seconds.begin(), seconds.end(), 0.0) - seconds_of_loop(seconds, threads_) -
            seconds_to_start_loop(threads_);
}

double seconds_of_loop(std::span<const double> seconds, std::size_t threads) {
  struct Range {
    std::size_t first, last;
  };
  const std::size_t homes = std::min(seconds.size(), threads);
  std::vector<Range> home(homes);
  using Free = std::pair<double, std::size_t>;  // when a thread has nothing to do, and which
  std::priority_queue<Free, std::vector<Free>, std::greater<>> free;
  for (std::size_t h = 0; h < homes; ++h) {
    home[h] = {seconds.size() * h / homes, seconds.size() * (h + 1) / homes};
    free.emplace(0.0, h);
  }
  double end = 0;
  while (!free.empty()) {
    const auto [now, thread] = free.top();
    free.pop();
    if (home[thread].first < home[thread].last) {
      free.emplace(now + seconds[home[thread].first++], thread);
      continue;
    }
    std::size_t other = 1;
    while (other < homes && home[(thread + other) % homes].first == home[(thread + other) % homes].last) ++other;
    if (other < homes) {
      free.emplace(now + seconds[--home[(thread + other) % homes].last], thread);
    } else {
      end = std::max(end, now);
    }
  }
  return end;
}

double seconds_to_start_loop(std::size_t threads) {
  return 2e-6 * std::log2(static_cast<double>(threads));
}

}  // namespace rnnsearch
