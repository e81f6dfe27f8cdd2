// A text chart of BLEU by sentence length, like figure 2 of Bahdanau, Cho and Bengio (2015), for a terminal or log
// file.
#pragma once

#include <cstddef>
#include <string>

#include "rnnsearch/evaluate/evaluation.h"

namespace rnnsearch::evaluate {

/// The maximum number of systems, limited by the number of distinguishable marks.
inline constexpr std::size_t kChartSystems = 8;

/// The chart has a curve for each system over the length buckets; the axis starts at BLEU 0. A bucket without sentences
/// interrupts the curve, and one with fewer than kReliableSentences is marked with an asterisk. Points at the same
/// place are drawn beside each other. Below the chart there are, for every system, its mark, its name, its best bucket,
/// and the BLEU of each bucket as a percentage of the best one. The text is plain ASCII except for the names of the
/// systems, without colours or cursor movement, ends with a line end, and is at most 80 columns wide (apart from names)
/// for up to 9 buckets with the usual labels. REQUIRES: at most kChartSystems systems.
std::string render_length_chart(const Evaluation& evaluation);

}  // namespace rnnsearch::evaluate
