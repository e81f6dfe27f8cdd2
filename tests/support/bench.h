// Functions that the micro-benchmarks (*_bench.cpp) share; bench_main.cpp has their main.
//
// A benchmark's name is FUNCTION/SIZE/USE/SHAPE[/PRECISION]; SIZE is `paper` (RNNsearch-50) or `small` (the preset of
// that name), and the shapes are those of an update on 80 pairs of 25 words and </s>. Times are elapsed time over
// all threads. Operands stay in the caches from one iteration to the next if they fit, as the weights of a recurrence
// do from step to step.
#pragma once

#include <benchmark/benchmark.h>

#include <cstddef>
#include <cstdint>
#include <functional>
#include <initializer_list>
#include <numeric>
#include <span>
#include <string>
#include <vector>

#include "rnnsearch/base/matrix.h"
#include "rnnsearch/base/parallel.h"
#include "rnnsearch/base/random.h"
#include "rnnsearch/kernels/buffer.h"
#include "rnnsearch/kernels/instruction_set.h"
#include "rnnsearch/kernels/precision.h"

namespace rnnsearch::support {

/// Widths of a model, in the paper's letters (appendix A): m embedding, n state, n' alignment, l maxout; the rank of
/// the output matrix (0: full), words of each vocabulary, and the number of parameters without the two embeddings.
struct ModelSize {
  const char* name;
  std::size_t embedding, state, alignment, maxout, factor, words, other_parameters;
  /// What the output matrix multiplies.
  std::size_t hidden() const { return factor > 0 ? factor : maxout; }
};
inline constexpr ModelSize kSizes[] = {{"small", 256, 512, 512, 256, 0, 8000, 8'600'000},
                                       {"paper", 620, 1000, 1000, 500, 620, 30000, 48'000'000}};
inline constexpr std::size_t kSentences = 80, kSteps = 26, kWords = kSentences * kSteps;
inline constexpr std::size_t kReadoutRows = 256;  // the readout processes blocks of this many rows

/// A matrix of random elements, in the same kind of memory as the model's. Results are initialised, too, because memory
/// that was never written maps to a single page of zeros, which is read faster.
class Operand {
 public:
  Operand(std::size_t rows, std::size_t cols, float limit = 1) {
    static std::uint64_t stream = 0;
    Random random(1, stream++);
    const auto view = buffer_.shape(rows, cols);
    for (std::size_t i = 0; i < rows * cols; ++i) {
      view.data[i] = limit * static_cast<float>(2 * random.uniform() - 1);  // [-limit, limit]
    }
  }
  MatrixView<float> view() const { return buffer_.view(); }
  /// All elements, row after row.
  std::span<float> span() const { return {view().data, view().rows * view().cols}; }

 private:
  kernels::Buffer buffer_;
};

/// The numbers 0, 1, 2 ... of the sentences of a batch.
inline std::vector<std::uint32_t> every_sentence(std::size_t count) {
  std::vector<std::uint32_t> all(count);
  std::iota(all.begin(), all.end(), 0U);
  return all;
}

/// A shape such as "80x1000x2000".
inline std::string shape_text(std::initializer_list<std::size_t> dimensions) {
  std::string text;
  for (const std::size_t d : dimensions) {
    if (!text.empty()) text += 'x';
    text += std::to_string(d);
  }
  return text;
}

/// One iteration of the measured code.
using Turn = std::function<void()>;

/// The work of an iteration, reported as a rate.
struct Work {
  double gflop = 0;  // 0: not reported
  double elements = 0, bytes = 0;
};

inline void measure(benchmark::State& state, const Work& work, const Turn& turn, const Turn& untimed_before = {}) {
  for (auto _ : state) {
    if (untimed_before) {
      state.PauseTiming();
      untimed_before();
      state.ResumeTiming();
    }
    turn();
    benchmark::ClobberMemory();
  }
  const auto turns = static_cast<double>(state.iterations());
  if (work.gflop > 0) {
    state.counters["GFLOP/s"] = benchmark::Counter(work.gflop, benchmark::Counter::kIsIterationInvariantRate);
  }
  if (work.elements > 0) state.SetItemsProcessed(static_cast<std::int64_t>(work.elements * turns));
  if (work.bytes > 0) state.SetBytesProcessed(static_cast<std::int64_t>(work.bytes * turns));
  std::string label(kernels::instruction_set());
  if (kernels::precision() == kernels::Precision::kBFloat16) {
    label = kernels::bfloat16_unit().empty() ? label + ", bf16 emulated" : std::string(kernels::bfloat16_unit());
  }
  state.SetLabel(label + ", threads: " + std::to_string(thread_count()));
}

/// Registers a benchmark. `run` draws its operands and calls measure().
inline void add(const std::string& name, const std::function<void(benchmark::State&)>& run) {
  benchmark::RegisterBenchmark(name.c_str(), run)->UseRealTime()->Unit(benchmark::kMicrosecond);
}
/// Registers a benchmark for each precision of products.
inline void add_for_precisions(const std::string& name, const std::function<void(benchmark::State&)>& run) {
  for (const auto precision : {kernels::Precision::kFloat32, kernels::Precision::kBFloat16}) {
    add(name + "/" + kernels::name_of(precision), [run, precision](benchmark::State& state) {
      kernels::set_precision(precision);
      run(state);
      kernels::set_precision(kernels::Precision::kFloat32);
    });
  }
}

}  // namespace rnnsearch::support
