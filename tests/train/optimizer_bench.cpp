// An update of all parameters: `dense`, their gradient written out; `rows`, that of the two embeddings as the rows that
// a batch touched. Bytes are those of gradient, parameters and averages, read and written once; Adam moves the other
// rows too. Gradient descent without momentum has no averages.
#include "rnnsearch/train/optimizer.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "tests/support/bench.h"

namespace rnnsearch::train {
namespace {

using support::ModelSize;
using support::Operand;

// reads of g, p and two averages, writes of p and the averages
double bytes_of(OptimizerKind kind) {
  return (kind == OptimizerKind::kSgd ? 3.0 : 7.0) * sizeof(float);
}
constexpr double kBytesWithoutGradient = 6 * sizeof(float);
constexpr double kScale = 0.01;

// The words of a batch, each once, ascending. Words are drawn by Zipf's law: the k-th with a probability of 1 / k.
std::vector<WordId> words_of_batch(Random& random, std::size_t vocabulary) {
  std::vector<WordId> words;
  for (std::size_t i = 0; i < support::kWords; ++i) {
    words.push_back(static_cast<WordId>(std::pow(static_cast<double>(vocabulary), random.uniform()) - 1));
  }
  std::ranges::sort(words);
  words.erase(std::ranges::unique(words).begin(), words.end());
  return words;
}

void add_dense(const std::string& name, const ModelSize& size, const TrainOptions& options) {
  support::add(name + "/dense", [=](benchmark::State& state) {
    const std::size_t all = size.other_parameters + 2 * size.words * size.embedding;
    const Operand parameters(1, all), gradient(1, all);
    const auto optimizer = make_optimizer(options, all);
    support::measure(state, {.bytes = bytes_of(options.optimizer) * static_cast<double>(all)},
                     [&] { optimizer->update(parameters.span(), gradient.span(), options.learning_rate, kScale); });
  });
}

void add_rows(const std::string& name, const ModelSize& size, const TrainOptions& options) {
  support::add(name + "/rows", [=](benchmark::State& state) {
    const std::size_t m = size.embedding, table = size.words * m, all = size.other_parameters + 2 * table;
    const Operand parameters(1, all), gradient(1, size.other_parameters), rows(support::kWords, m);
    const auto optimizer = make_optimizer(options, all);
    // Several batches, so that rows are met again after updates without them.
    constexpr std::size_t kBatches = 32;
    Random random(2);
    std::vector<std::vector<WordId>> words;
    double touched = 0;
    for (std::size_t i = 0; i < 2 * kBatches; ++i) {
      words.push_back(words_of_batch(random, size.words));
      touched += static_cast<double>(words.back().size() * m) / kBatches;
    }
    double bytes = bytes_of(options.optimizer) * (static_cast<double>(size.other_parameters) + touched);
    if (options.optimizer == OptimizerKind::kAdam) {
      bytes += kBytesWithoutGradient * (static_cast<double>(2 * table) - touched);
    }
    std::size_t batch = 0;
    support::measure(state, {.bytes = bytes}, [&] {
      std::vector<TableGradient> tables;
      for (std::size_t t = 0; t < 2; ++t) {
        const auto& of = words[2 * batch + t];
        tables.push_back({size.other_parameters + t * table, size.words, m, of, rows.span().first(of.size() * m)});
      }
      optimizer->update(parameters.span(), gradient.span(), options.learning_rate, kScale, tables);
      batch = (batch + 1) % kBatches;
    });
  });
}

[[maybe_unused]] const bool registered = [] {
  for (const ModelSize& size : support::kSizes) {
    for (const OptimizerKind kind : {OptimizerKind::kAdadelta, OptimizerKind::kAdam, OptimizerKind::kSgd}) {
      TrainOptions options;
      options.optimizer = kind;
      if (kind == OptimizerKind::kAdam) options.learning_rate = 1e-3;
      const std::string name = name_of(kind) + "/" + size.name;
      add_dense(name, size, options);
      add_rows(name, size, options);
    }
    support::add(std::string("squared_norm_of/") + size.name, [=](benchmark::State& state) {
      const Operand gradient(1, size.other_parameters);
      support::measure(state, {.bytes = sizeof(float) * static_cast<double>(size.other_parameters)},
                       [&] { benchmark::DoNotOptimize(squared_norm_of(gradient.span())); });
    });
  }
  return true;
}();

}  // namespace
}  // namespace rnnsearch::train
