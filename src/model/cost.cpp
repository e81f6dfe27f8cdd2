#include "rnnsearch/model/cost.h"

namespace rnnsearch::model {

double update_flop(const ModelOptions& options, const BatchSize& batch) {
  const auto m = static_cast<double>(options.embedding), n = static_cast<double>(options.state);
  const auto l = static_cast<double>(options.maxout), rank = static_cast<double>(options.readout_rank);
  const auto K = static_cast<double>(options.target_words);
  const bool attends = options.attention == Attention::kAdditive;
  const double A = attends ? static_cast<double>(options.alignment) : 0;
  const double C = attends ? 2 * n : n;

  const double gated_unit = (m + n) * 3 * n;
  const double with_context = C * (3 * n + 2 * l);                          // decoder and readout
  const double annotation = attends ? 2 * gated_unit + C * A : gated_unit;  // both directions and the key
  const double step = n * A + gated_unit;
  const double readout = (n + m) * 2 * l + (rank > 0 ? l * rank + rank * K : l * K);
  const double sentence = n * n + (attends ? 0 : n * n + with_context);  // s_0; and c, with what it is multiplied by
  const double target_word = step + readout + (attends ? with_context : 0);
  return 3 * 2 * (batch.pairs * sentence + batch.source_words * annotation + batch.target_words * target_word);
}

}  // namespace rnnsearch::model
