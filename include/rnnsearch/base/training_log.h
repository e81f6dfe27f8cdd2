// What a line of RUN/log.jsonl says of an update: `train` writes these figures and `report` reads them. For other
// readers, src/train/log.schema.json describes every kind of line.
#pragma once

#include <cstdint>

namespace rnnsearch {

/// The version of the log's lines, as their `schema`. A figure or an event may be added without a new version; a new
/// version means that one is gone or has another meaning. Lines without `schema` are of version 1, which had no times.
inline constexpr int kLogSchema = 2;

/// Rates and seconds are measured at the root, as means over the updates since the previous line. In a line that was
/// read, a figure is NaN (a count: 0) if the line holds null, as for a loss that was not finite, or lacks the figure.
struct UpdateFigures {
  std::uint64_t epoch = 0;                   // epochs that are complete
  double epoch_share = 0;                    // share of this epoch's pairs that have been used, 0 to 1
  double loss_per_word = 0;                  // nats; words include </s>; without label smoothing, with dropout
  double label_smoothing = 0;                // affects the gradient, not loss_per_word
  double guided_alignment = 0, dropout = 0;  // of the last update, where these options change during training
  double gradient_norm = 0;   // norm in the last update, after the division by `gradient_of` and before clipping
  double parameter_norm = 0;  // norm of all parameters after the last update
  double learning_rate = 0;   // learning rate of the last update
  double skipped_share = 0;   // share of all updates of the training that were skipped
  // Sums since the previous line, without </s>. They do not depend on the number of ranks.
  std::uint64_t pairs = 0, source_words = 0, target_words = 0;
  double source_words_per_second = 0, target_words_per_second = 0;  // without </s>, over all ranks
  // Seconds of one update: the sum, without validations and checkpoints, and its parts. data: waiting for sentences.
  // communication: reductions as far as they are not overlapped with computation, including waiting for slower ranks.
  double seconds = 0;
  double data_seconds = 0, compute_seconds = 0, communication_seconds = 0, optimizer_seconds = 0;
  double reduction_seconds = 0;  // time with a gradient reduction in progress, overlapped with computation or not
  double megabytes_sent = 0;     // sent by the root in the gradient reductions of one update
};

/// Calls visit(name, figure) for every figure, in the order of a line. Writing and reading both use it, so neither can
/// miss one.
template <class Figures, class Visit>
void for_each_figure(Figures& f, const Visit& visit) {
  visit("epoch", f.epoch);
  visit("epoch_share", f.epoch_share);
  visit("loss_per_word", f.loss_per_word);
  visit("label_smoothing", f.label_smoothing);
  visit("guided_alignment", f.guided_alignment);
  visit("dropout", f.dropout);
  visit("gradient_norm", f.gradient_norm);
  visit("parameter_norm", f.parameter_norm);
  visit("learning_rate", f.learning_rate);
  visit("skipped_share", f.skipped_share);
  visit("pairs", f.pairs);
  visit("source_words", f.source_words);
  visit("target_words", f.target_words);
  visit("source_words_per_second", f.source_words_per_second);
  visit("target_words_per_second", f.target_words_per_second);
  visit("seconds", f.seconds);
  visit("data_seconds", f.data_seconds);
  visit("compute_seconds", f.compute_seconds);
  visit("communication_seconds", f.communication_seconds);
  visit("reduction_seconds", f.reduction_seconds);
  visit("megabytes_sent", f.megabytes_sent);
  visit("optimizer_seconds", f.optimizer_seconds);
}

}  // namespace rnnsearch
