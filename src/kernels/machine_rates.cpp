#include "rnnsearch/kernels/machine_rates.h"

#include <algorithm>
#include <cassert>
#include <cstdint>
#include <cstring>
#include <functional>
#include <memory>
#include <vector>

#include "kernels/products/product_tiles.h"
#include "rnnsearch/base/parallel.h"
#include "rnnsearch/base/stopwatch.h"
#include "rnnsearch/kernels/buffer.h"

namespace rnnsearch::kernels {
namespace {

// The least seconds of an attempt to do `work` on all threads. It is repeated often enough that starting the threads
// does not count, and each attempt may be disturbed by other programs.
double least_seconds(std::size_t threads, const std::function<void(std::size_t thread, std::size_t times)>& work) {
  constexpr double kLongEnough = 0.01;
  constexpr int kAttempts = 5;
  const auto attempt = [&](std::size_t times) {
    const Stopwatch watch;
    parallel_for(threads, [&](std::size_t thread) { work(thread, times); });
    return watch.seconds();
  };
  std::size_t times = 1;
  double seconds = attempt(times);
  for (; seconds < kLongEnough; seconds = attempt(times)) times *= 2;
  for (int i = 0; i < kAttempts; ++i) seconds = std::min(seconds, attempt(times));
  return seconds / static_cast<double>(times);
}

// The operands of a tile, packed, and its sums, for one thread.
class Operands {
 public:
  // So many strips and panels that all together take `bytes`, but at least one of each.
  Operands(const ProductTiles& tiles, std::size_t depth, std::size_t bytes)
      : tiles_(tiles), depth_(depth), count_(std::max<std::size_t>(1, bytes / both())) {
    const auto elements = elements_.shape(1, count_ * both() / sizeof(float));
    constexpr std::uint32_t kOnes = 0x3f803f80;  // two bfloat16 ones, and as a float a little above 1
    for (std::size_t i = 0; i < elements.cols; ++i) std::memcpy(elements.data + i, &kOnes, sizeof kOnes);
    sums_.zeros(tiles.max_rows, tiles.cols);
  }

  std::size_t tiles() const { return count_; }
  void multiply() {
    const auto sums = sums_.view();
    const auto* strip = reinterpret_cast<const std::byte*>(elements_.view().data);
    for (std::size_t i = 0; i < count_; ++i, strip += both()) {
      tiles_.tile(tiles_.max_rows, tiles_.cols, depth_, {strip}, {strip + strip_bytes()}, sums.data, sums.stride, true,
                  {});
    }
  }
  void multiply_registers(std::size_t steps) { tiles_.arithmetic(steps, sums_.view().data); }

 private:
  // Up to the next cache line, where the panel begins, as in a product.
  std::size_t strip_bytes() const {
    return ceil_div(tiles_.strip_bytes(tiles_.max_rows, depth_), Ahead::kLine) * Ahead::kLine;
  }
  std::size_t both() const { return strip_bytes() + tiles_.panel_bytes(depth_); }

  const ProductTiles& tiles_;
  std::size_t depth_, count_;
  Buffer<float> elements_, sums_;
};

}  // namespace

ProductRates measure_products(std::size_t threads) {
  assert(threads >= 1 && threads <= thread_count());
  const ProductTiles& tiles = current_tiles();
  const Caches& sizes = caches();
  const std::size_t step = tiles.depth_step;
  const std::size_t step_bytes = tiles.strip_bytes(tiles.max_rows, step) + tiles.panel_bytes(step);
  // Three quarters of a cache leave room for sums and for what else the thread touches.
  const std::size_t depth = std::max<std::size_t>(1, sizes.level1 * 3 / 4 / step_bytes) * step;
  const double flop = 2 * static_cast<double>(tiles.max_rows * tiles.cols * depth);
  const auto on_threads = static_cast<double>(threads);
  std::vector<std::unique_ptr<Operands>> operands(threads);
  const auto rate_of = [&](std::size_t bytes) {
    parallel_for(threads, [&](std::size_t i) { operands[i] = std::make_unique<Operands>(tiles, depth, bytes); });
    const double seconds = least_seconds(threads, [&](std::size_t thread, std::size_t times) {
      for (std::size_t i = 0; i < times; ++i) operands[thread]->multiply();
    });
    return on_threads * static_cast<double>(operands.front()->tiles()) * flop / seconds;
  };
  ProductRates rates;
  rates.level1 = rate_of(0);
  rates.level2 = rate_of(sizes.level2 * 3 / 4);
  // Other programs may use the L3 cache, too, and what the system reports may be that of all processors.
  constexpr std::size_t kMostOfLevel3 = 16 << 20;
  const std::size_t share = std::min(sizes.level3 / 2 / threads, kMostOfLevel3);
  if (share > 2 * sizes.level2) rates.level3 = rate_of(share);
  const double seconds = least_seconds(threads, [&](std::size_t thread, std::size_t times) {
    operands[thread]->multiply_registers(times * depth / tiles.depth_step);
  });
  rates.registers = on_threads * flop / seconds;
  return rates;
}

double measure_memory(std::size_t threads) {
  assert(threads >= 1 && threads <= thread_count());
  constexpr std::size_t kBytes = 128 << 20;     // of an array of all threads together
  constexpr std::size_t kLeastBytes = 8 << 20;  // of a thread's, more than its share of any cache
  const std::size_t count = std::max(kBytes / threads, kLeastBytes) / sizeof(float);
  std::vector<Buffer<float>> arrays(3 * threads);
  // Each thread writes its part first, because memory that was never written is one shared page.
  parallel_for(threads, [&](std::size_t thread) {
    for (std::size_t i = 0; i < 3; ++i) {
      const auto array = arrays[3 * thread + i].shape(1, count);
      std::fill_n(array.data, count, static_cast<float>(i));
    }
  });
  const double seconds = least_seconds(threads, [&](std::size_t thread, std::size_t times) {
    float* const __restrict a = arrays[3 * thread].view().data;
    const float* const __restrict b = arrays[3 * thread + 1].view().data;
    const float* const __restrict c = arrays[3 * thread + 2].view().data;
    for (std::size_t t = 0; t < times; ++t) {
      for (std::size_t i = 0; i < count; ++i) a[i] = b[i] + 3.0F * c[i];
    }
  });
  return 3 * static_cast<double>(count * threads * sizeof(float)) / seconds;
}

}  // namespace rnnsearch::kernels
