#include "rnnsearch/train/optimizer.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

#include "rnnsearch/base/parallel.h"
#include "rnnsearch/base/portable.h"
#include "rnnsearch/kernels/buffer.h"
#include "rnnsearch/kernels/optimizer_steps.h"

namespace rnnsearch::train {
namespace {

// One value for each element of the parameter block, 0 at first. In large pages, because an update reads four arrays at
// once.
class Average {
 public:
  explicit Average(std::size_t size) : values_(memory_.zeros(1, size).data, size) {}
  std::span<float> values() { return values_; }
  float* from(std::size_t element) { return values_.data() + element; }

 private:
  kernels::Buffer<float> memory_;
  std::span<float> values_;
};

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
    assert(parameters.size() == squared_gradient_.values().size() && gradient.size() <= parameters.size());
    const Step step{parameters.data(), static_cast<float>(learning_rate), static_cast<float>(scale)};
    parallel_ranges(gradient.size(), kBlock, [&](std::size_t first, std::size_t last) {
      run(step, first, gradient.data() + first, last - first);
    });
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
    return {{"squared_gradient", squared_gradient_.values()}, {"squared_delta", squared_delta_.values()}};
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
    kernels::adadelta(
        {rho_, epsilon_, step.rate, step.scale},
        {count, gradient, step.parameters + first, squared_gradient_.from(first), squared_delta_.from(first)});
  }

  void catch_up(Table& table, std::size_t row, std::uint64_t updates) {
    const std::uint64_t missed = updates - std::exchange(table.done[row], updates);
    if (missed == 0) return;
    const std::size_t first = table.offset + row * table.cols;
    kernels::decay(rho_, missed, table.cols, squared_gradient_.from(first));
    kernels::decay(rho_, missed, table.cols, squared_delta_.from(first));
  }

  float rho_, epsilon_;
  Average squared_gradient_, squared_delta_;
  std::uint64_t updates_ = 0;  // updates by this object; `steps` also counts those before a resume
  std::vector<Table> tables_;
};

// Calls row(first, gradient) for all rows of a table, on all threads, for formulas that also change parameters whose
// gradient is 0. The row is the table.cols elements of the parameter block from `first` on; nullptr means gradient 0.
template <class Row>
void for_all_rows(const TableGradient& table, const Row& row) {
  parallel_ranges(table.table_rows, std::max<std::size_t>(1, kBlock / table.cols),
                  [&](std::size_t first, std::size_t last) {
                    auto next = std::lower_bound(table.words.begin(), table.words.end(), first);
                    for (std::size_t i = first; i < last; ++i) {
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
  parallel_ranges(gradient.size(), kBlock,
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
    assert(parameters.size() == m_.values().size() && gradient.size() <= parameters.size());
    ++steps;
    const double t = static_cast<double>(steps);
    // 1 - beta in double, because 1 - 0.999 in float is wrong in the fifth digit.
    const kernels::AdamStep step{.beta1 = static_cast<float>(beta1_),
                                 .rest1 = static_cast<float>(1 - beta1_),
                                 .beta2 = static_cast<float>(beta2_),
                                 .rest2 = static_cast<float>(1 - beta2_),
                                 .v_scale = static_cast<float>(1 / (1 - portable::power(beta2_, t))),
                                 .epsilon = epsilon_,
                                 .rate = static_cast<float>(learning_rate / (1 - portable::power(beta1_, t))),
                                 .scale = static_cast<float>(scale)};
    const auto run = [&](std::size_t first, const float* gradient_there, std::size_t count) {
      kernels::adam(step, {count, gradient_there, parameters.data() + first, m_.from(first), v_.from(first)});
    };
    // All rows are updated, because m also moves a parameter whose gradient is 0.
    for_all(gradient, tables, run);
  }

  std::vector<Accumulator> accumulators() override { return {{"m", m_.values()}, {"v", v_.values()}}; }

 private:
  double beta1_, beta2_;
  float epsilon_;
  Average m_, v_;
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
    const kernels::DescentStep step{momentum_, static_cast<float>(learning_rate), static_cast<float>(scale)};
    ++steps;
    if (velocity_.values().empty()) {
      const auto run = [=](std::size_t first, const float* gradient_there, std::size_t count) {
        kernels::gradient_descent(step, {count, gradient_there, parameters.data() + first});
      };
      parallel_ranges(gradient.size(), kBlock,
                      [&](std::size_t first, std::size_t last) { run(first, gradient.data() + first, last - first); });
      for (const TableGradient& table : tables) {
        parallel_for(table.words.size(), [&](std::size_t i) {
          run(table.offset + table.words[i] * table.cols, table.rows.data() + i * table.cols, table.cols);
        });
      }
      return;
    }
    assert(parameters.size() == velocity_.values().size());
    const auto run = [&](std::size_t first, const float* gradient_there, std::size_t count) {
      kernels::gradient_descent(step, {count, gradient_there, parameters.data() + first, velocity_.from(first)});
    };
    // All rows are updated, because the velocity also moves a parameter whose gradient is 0. That cannot be deferred:
    // the model reads such parameters.
    for_all(gradient, tables, run);
  }

  std::vector<Accumulator> accumulators() override {
    if (velocity_.values().empty()) return {};
    return {{"velocity", velocity_.values()}};
  }

 private:
  float momentum_;
  Average velocity_;
};

}  // namespace

double squared_norm_of(std::span<const float> gradient) {
  std::vector<double> sums(ceil_div(gradient.size(), kBlock));
  parallel_ranges(gradient.size(), kBlock, [&](std::size_t first, std::size_t last) {
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

void ParameterAverage::begin(std::span<const float> parameters) {
  if (empty()) return;
  assert(parameters.size() == values_.size());
  std::copy(parameters.begin(), parameters.end(), values_.begin());
}

void ParameterAverage::follow(std::span<const float> parameters, std::uint64_t update) {
  if (empty()) return;
  assert(parameters.size() == values_.size());
  const auto t = static_cast<double>(update);
  const float rest = static_cast<float>(1 - std::min(decay_, (t + 1) / (t + 10)));
  parallel_ranges(values_.size(), kBlock, [&](std::size_t first, std::size_t last) {
    const float* __restrict from = parameters.data();
    float* __restrict to = values_.data();
    for (std::size_t i = first; i < last; ++i) to[i] += rest * (from[i] - to[i]);
  });
}

void ParameterAverage::exchange(std::span<float> parameters) {
  if (empty()) return;
  assert(parameters.size() == values_.size());
  parallel_ranges(values_.size(), kBlock, [&](std::size_t first, std::size_t last) {
    std::swap_ranges(values_.data() + first, values_.data() + last, parameters.data() + first);
  });
}

double scaled_learning_rate(const TrainOptions& options) {
  if (options.scale_learning_rate == ScaleLearningRate::kNone) return options.learning_rate;
  const double words = options.batch_words.to;  // the rate does not follow batches that grow
  const double batch = words > 0 ? words : static_cast<double>(options.batch_sentences);
  const double ratio = batch / static_cast<double>(options.reference_batch);
  return options.learning_rate * (options.scale_learning_rate == ScaleLearningRate::kLinear ? ratio : std::sqrt(ratio));
}

double learning_rate(const TrainOptions& options, const SchedulePoint& point) {
  const double u = static_cast<double>(point.update), w = static_cast<double>(options.warmup_updates);
  const double rate = scaled_learning_rate(options), start = rate > options.learning_rate ? options.learning_rate : 0;
  const double warm = u < w ? start + (rate - start) * (u / w) : rate;
  switch (options.schedule) {
    case Schedule::kConstant:
      return warm;
    case Schedule::kInverseSquareRoot:
      return rate * std::min(u / w, std::sqrt(w / u));
    case Schedule::kPlateau:
      return warm * point.plateau_factor;
    case Schedule::kHalving: {
      const double past = point.epochs - options.halve_after_epochs;
      const double halvings = past < 0 ? 0 : 1 + std::floor(past / options.halve_every_epochs);
      return std::ldexp(warm, -static_cast<int>(std::min(halvings, 2000.0)));
    }
  }
  return rate;
}

void Plateau::validated(double loss, std::uint64_t patience) {
  if (std::isfinite(loss) && (!seen || loss < best_loss)) {
    seen = true;
    best_loss = loss;
    validations_without_gain = 0;
  } else if (++validations_without_gain >= patience) {
    factor /= 2;
    validations_without_gain = 0;
  }
}

void Patience::validated(double score, BestMetric metric) {
  if (is_gain(metric, score, seen ? std::optional(best_score) : std::nullopt)) {
    seen = true;
    best_score = score;
    validations_without_gain = 0;
  } else {
    ++validations_without_gain;
  }
}

bool is_gain(BestMetric metric, double score, std::optional<double> best) {
  if (!std::isfinite(score)) return false;
  const bool lower_is_better = metric == BestMetric::kLoss || metric == BestMetric::kTer;
  return !best || (lower_is_better ? score < *best : score > *best);
}

}  // namespace rnnsearch::train
