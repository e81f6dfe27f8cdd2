#include "rnnsearch/train/optimizer.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <utility>

#include "rnnsearch/base/ceil_div.h"
#include "rnnsearch/base/parallel.h"

namespace rnnsearch::train {
namespace {

constexpr std::size_t kBlock = 16384;  // elements: 64 KiB of each array, which fits into the L2 cache

// Averages below the smallest normal float are set to 0: they are negligible beside epsilon, and processors are slow
// with subnormal numbers.
constexpr float kLeast = std::numeric_limits<float>::min();

// The loops below use only local variables and restrict pointers; otherwise the compiler does not vectorize them.

/// Calls range(first, last) for every block of [0, size), on all threads.
template <class Range>
void for_blocks(std::size_t size, const Range& range) {
  parallel_for((size + kBlock - 1) / kBlock,
               [&](std::size_t i) { range(i * kBlock, std::min(size, (i + 1) * kBlock)); });
}

constexpr std::size_t kTurns = 16;  // updates until Adadelta has completed every row once

// Zeiler (2012), algorithm 1, with the paper's rho = 0.95 and epsilon = 1e-6:
//   g2 = rho g2 + (1 - rho) g^2
//   d  = sqrt(d2 + epsilon) / sqrt(g2 + epsilon) g
//   d2 = rho d2 + (1 - rho) d^2
//   p -= rate d
//
// Where g is 0, p does not change and g2 and d2 are multiplied by rho. These multiplications are deferred for table
// rows without a gradient: a row that gets a gradient after k updates without one is first multiplied by rho k times,
// with the same k roundings. Every update also completes some rows in turn, so that little is left when a checkpoint
// needs all of them: training waits for that.
class Adadelta final : public Optimizer {
 public:
  Adadelta(double rho, double epsilon, std::size_t size)
      : rho_(static_cast<float>(rho)),
        epsilon_(static_cast<float>(epsilon)),
        squared_gradient_(size),
        squared_delta_(size) {}

  void update(std::span<float> parameters, std::span<const float> gradient, double learning_rate, double scale,
              std::span<const TableGradient> tables) override {
    assert(parameters.size() == squared_gradient_.size() && gradient.size() <= parameters.size());
    const Step step{parameters.data(), static_cast<float>(learning_rate), static_cast<float>(scale)};
    for_blocks(gradient.size(),
               [&](std::size_t first, std::size_t last) { run(step, first, gradient.data() + first, last - first); });
    assert(tables_.empty() || tables.size() == tables_.size());
    while (tables_.size() < tables.size()) {
      const TableGradient& table = tables[tables_.size()];
      tables_.push_back({table.offset, table.cols, std::vector<std::uint64_t>(table.table_rows, updates_)});
    }
    for (std::size_t t = 0; t < tables.size(); ++t) {
      const TableGradient& table = tables[t];
      parallel_for(table.words.size(), [&](std::size_t i) {
        catch_up(tables_[t], table.words[i], updates_);
        run(step, table.offset + table.words[i] * table.cols, table.rows.data() + i * table.cols, table.cols);
        tables_[t].done[table.words[i]] = updates_ + 1;
      });
    }
    const std::size_t turn = updates_ % kTurns;
    ++updates_;
    ++steps;
    for (Table& table : tables_) {
      const std::size_t rows = table.done.size(), first = rows * turn / kTurns, last = rows * (turn + 1) / kTurns;
      complete(table, first, last);
    }
  }

  std::vector<Accumulator> accumulators() override {
    for (Table& table : tables_) complete(table, 0, table.done.size());
    return {{"squared_gradient", squared_gradient_}, {"squared_delta", squared_delta_}};
  }

 private:
  struct Step {
    float* parameters;
    float rate, scale;
  };
  struct Table {
    std::size_t offset, cols;
    std::vector<std::uint64_t> done;  // for each row, the number of updates (of updates_) applied to it
  };

  // Completes the deferred updates of the rows [first, last).
  void complete(Table& table, std::size_t first, std::size_t last) {
    parallel_for(last - first, [&](std::size_t i) { catch_up(table, first + i, updates_); });
  }

  // Updates `count` elements of the parameter block from `first` on.
  void run(const Step& step, std::size_t first, const float* gradient, std::size_t count) {
    const float rho = rho_, epsilon = epsilon_, rate = step.rate, s = step.scale;
    const float* __restrict g = gradient;
    float* __restrict p = step.parameters + first;
    float* __restrict g2 = squared_gradient_.data() + first;
    float* __restrict d2 = squared_delta_.data() + first;
    for (std::size_t i = 0; i < count; ++i) {
      const float gradient_i = s * g[i];
      const float next_g2 = rho * g2[i] + (1 - rho) * gradient_i * gradient_i;
      g2[i] = next_g2 < kLeast ? 0.0F : next_g2;
      const float d = std::sqrt(d2[i] + epsilon) / std::sqrt(g2[i] + epsilon) * gradient_i;
      const float next_d2 = rho * d2[i] + (1 - rho) * d * d;
      d2[i] = next_d2 < kLeast ? 0.0F : next_d2;
      p[i] -= rate * d;
    }
  }

  void catch_up(Table& table, std::size_t row, std::uint64_t updates) {
    const std::uint64_t missed = updates - std::exchange(table.done[row], updates);
    if (missed == 0) return;
    const std::size_t first = table.offset + row * table.cols;
    shrink(squared_gradient_.data() + first, table.cols, missed);
    shrink(squared_delta_.data() + first, table.cols, missed);
  }

  // Multiplies the values by rho `times` times, kAtOnce values in parallel to hide the latency of a multiplication.
  void shrink(float* values, std::size_t count, std::uint64_t times) const {
    constexpr std::size_t kAtOnce = 64;
    const float rho = rho_;
    for (std::size_t first = 0; first < count; first += kAtOnce) {
      const std::size_t here = std::min(kAtOnce, count - first);
      float some[kAtOnce] = {};
      std::copy_n(values + first, here, some);
      for (std::uint64_t time = 0; time < times; ++time) {
        float largest = 0;
        for (float& value : some) {
          const float next = rho * value;
          value = next < kLeast ? 0.0F : next;
          largest = std::max(largest, value);
        }
        if (largest == 0) break;
      }
      std::copy_n(some, here, values + first);
    }
  }

  float rho_, epsilon_;
  std::vector<float> squared_gradient_, squared_delta_;
  std::uint64_t updates_ = 0;  // updates by this object; `steps` also counts those before a resume
  std::vector<Table> tables_;
};

// Calls row(first, gradient) for all rows of a table, on all threads, for formulas that also change parameters whose
// gradient is 0. The row is the table.cols elements of the parameter block from `first` on; nullptr means gradient 0.
template <class Row>
void for_all_rows(const TableGradient& table, const Row& row) {
  const std::size_t rows_per_piece = std::max<std::size_t>(1, kBlock / table.cols);
  parallel_for(ceil_div(table.table_rows, rows_per_piece), [&](std::size_t piece) {
    const std::size_t last = std::min(table.table_rows, (piece + 1) * rows_per_piece);
    auto next = std::lower_bound(table.words.begin(), table.words.end(), piece * rows_per_piece);
    for (std::size_t i = piece * rows_per_piece; i < last; ++i) {
      const bool touched = next != table.words.end() && *next == i;
      const auto at = static_cast<std::size_t>(next - table.words.begin());
      row(table.offset + i * table.cols, touched ? table.rows.data() + at * table.cols : nullptr);
      if (touched) ++next;
    }
  });
}

// Calls run(first, gradient, count) for every piece of the parameters, including table rows without a gradient, for
// which it passes zeros.
template <class Run>
void for_all(std::span<const float> gradient, std::span<const TableGradient> tables, const Run& run) {
  for_blocks(gradient.size(),
             [&](std::size_t first, std::size_t last) { run(first, gradient.data() + first, last - first); });
  for (const TableGradient& table : tables) {
    const std::vector<float> zeros(table.cols);
    for_all_rows(table, [&](std::size_t first, const float* row) { run(first, row ? row : zeros.data(), table.cols); });
  }
}

// Kingma and Ba (2015), algorithm 1:
//   m = beta1 m + (1 - beta1) g;   v = beta2 v + (1 - beta2) g^2;
//   p -= rate (m / (1 - beta1^t)) / (sqrt(v / (1 - beta2^t)) + epsilon)
class Adam final : public Optimizer {
 public:
  Adam(double beta1, double beta2, double epsilon, std::size_t size)
      : beta1_(beta1), beta2_(beta2), epsilon_(static_cast<float>(epsilon)), m_(size), v_(size) {}

  void update(std::span<float> parameters, std::span<const float> gradient, double learning_rate, double scale,
              std::span<const TableGradient> tables) override {
    assert(parameters.size() == m_.size() && gradient.size() <= parameters.size());
    ++steps;
    const double t = static_cast<double>(steps);
    const float rate = static_cast<float>(learning_rate / (1 - std::pow(beta1_, t)));
    const float v_scale = static_cast<float>(1 / (1 - std::pow(beta2_, t)));
    const float beta1 = static_cast<float>(beta1_), beta2 = static_cast<float>(beta2_);
    // In double, because 1 - 0.999 in float is wrong in the fifth digit.
    const float rest1 = static_cast<float>(1 - beta1_), rest2 = static_cast<float>(1 - beta2_);
    const float s = static_cast<float>(scale), epsilon = epsilon_;
    const auto run = [=, this](std::size_t first, const float* gradient_there, std::size_t count) {
      const float* __restrict g = gradient_there;
      float* __restrict p = parameters.data() + first;
      float* __restrict m = m_.data() + first;
      float* __restrict v = v_.data() + first;
      for (std::size_t i = 0; i < count; ++i) {
        const float gradient_i = s * g[i];
        const float next_m = beta1 * m[i] + rest1 * gradient_i;
        m[i] = std::abs(next_m) < kLeast ? 0.0F : next_m;
        const float next_v = beta2 * v[i] + rest2 * gradient_i * gradient_i;
        v[i] = next_v < kLeast ? 0.0F : next_v;
        p[i] -= rate * m[i] / (std::sqrt(v_scale * v[i]) + epsilon);
      }
    };
    // All rows are updated, because m also moves a parameter whose gradient is 0.
    for_all(gradient, tables, run);
  }

  std::vector<Accumulator> accumulators() override { return {{"m", m_}, {"v", v_}}; }

 private:
  double beta1_, beta2_;
  float epsilon_;
  std::vector<float> m_, v_;
};

// Stochastic gradient descent with the classical momentum of Sutskever, Martens, Dahl and Hinton (2013), equations 1
// and 2:
//   v = mu v - rate g;   p += v
// With mu = 0 it is p -= rate g: there is no v, and a parameter whose gradient is 0 does not change.
class GradientDescent final : public Optimizer {
 public:
  GradientDescent(double momentum, std::size_t size)
      : momentum_(static_cast<float>(momentum)), velocity_(momentum > 0 ? size : 0) {}

  void update(std::span<float> parameters, std::span<const float> gradient, double learning_rate, double scale,
              std::span<const TableGradient> tables) override {
    assert(gradient.size() <= parameters.size());
    const float rate = static_cast<float>(learning_rate), s = static_cast<float>(scale);
    ++steps;
    if (velocity_.empty()) {
      const auto run = [=](std::size_t first, const float* gradient_there, std::size_t count) {
        const float* __restrict g = gradient_there;
        float* __restrict p = parameters.data() + first;
        for (std::size_t i = 0; i < count; ++i) p[i] -= rate * (s * g[i]);
      };
      for_blocks(gradient.size(),
                 [&](std::size_t first, std::size_t last) { run(first, gradient.data() + first, last - first); });
      for (const TableGradient& table : tables) {
        parallel_for(table.words.size(), [&](std::size_t i) {
          run(table.offset + table.words[i] * table.cols, table.rows.data() + i * table.cols, table.cols);
        });
      }
      return;
    }
    assert(parameters.size() == velocity_.size());
    const float momentum = momentum_;
    const auto run = [=, this](std::size_t first, const float* gradient_there, std::size_t count) {
      const float* __restrict g = gradient_there;
      float* __restrict p = parameters.data() + first;
      float* __restrict v = velocity_.data() + first;
      for (std::size_t i = 0; i < count; ++i) {
        const float next = momentum * v[i] - rate * (s * g[i]);
        v[i] = std::abs(next) < kLeast ? 0.0F : next;
        p[i] += v[i];
      }
    };
    // All rows are updated, because the velocity also moves a parameter whose gradient is 0. That cannot be deferred:
    // the model reads such parameters.
    for_all(gradient, tables, run);
  }

  std::vector<Accumulator> accumulators() override {
    if (velocity_.empty()) return {};
    return {{"velocity", velocity_}};
  }

 private:
  float momentum_;
  std::vector<float> velocity_;
};

}  // namespace

double squared_norm_of(std::span<const float> gradient) {
  std::vector<double> sums((gradient.size() + kBlock - 1) / kBlock);
  for_blocks(gradient.size(), [&](std::size_t first, std::size_t last) {
    // Four partial sums, so that the additions do not wait for each other.
    double sum[4] = {};
    std::size_t i = first;
    for (; i + 4 <= last; i += 4) {
      for (std::size_t k = 0; k < 4; ++k) sum[k] += static_cast<double>(gradient[i + k]) * gradient[i + k];
    }
    for (; i < last; ++i) sum[0] += static_cast<double>(gradient[i]) * gradient[i];
    sums[first / kBlock] = (sum[0] + sum[1]) + (sum[2] + sum[3]);
  });
  double total = 0;
  for (const double sum : sums) total += sum;
  return total;
}

double optimizer_bytes(const TrainOptions& options, std::size_t dense, std::size_t table_elements) {
  const auto accumulators = static_cast<double>(accumulators_of(options));
  const double of_state = 2 * (1 + accumulators);  // parameter and accumulators are read and written
  constexpr double kOfGradient = 3;                // zeroed; read for the norm; read by the update
  double of_tables = 0;
  if (options.optimizer == OptimizerKind::kAdadelta) {
    of_tables = 2 * accumulators / kTurns;
  } else if (accumulators > 0) {
    of_tables = of_state;
  }
  return sizeof(float) *
         (static_cast<double>(dense) * (kOfGradient + of_state) + static_cast<double>(table_elements) * of_tables);
}

std::unique_ptr<Optimizer> make_optimizer(const TrainOptions& options, std::size_t size) {
  if (options.optimizer == OptimizerKind::kAdam) {
    return std::make_unique<Adam>(options.adam_beta1, options.adam_beta2, options.adam_epsilon, size);
  }
  if (options.optimizer == OptimizerKind::kSgd) return std::make_unique<GradientDescent>(options.momentum, size);
  return std::make_unique<Adadelta>(options.rho, options.epsilon, size);
}

std::size_t accumulators_of(const TrainOptions& options) {
  if (options.optimizer == OptimizerKind::kSgd) return options.momentum > 0 ? 1 : 0;
  return 2;
}

}  // namespace rnnsearch::train
