// BLEU by sentence length as a text chart: figure 2 of Bahdanau, Cho and Bengio (2015) for a terminal or a log file.
#pragma once

#include <cstddef>
#include <string>

#include "rnnsearch/evaluate/evaluation.h"

namespace rnnsearch::evaluate {

/// As many systems as there are marks that can be told apart.
inline constexpr std::size_t kChartSystems = 8;

/// Plain ASCII but for the systems' names, without colours or cursor movement; ends with a line end. One curve a system
/// over the length buckets, from BLEU 0; a bucket without sentences interrupts it, and one with fewer than
/// kReliableSentences is marked by an asterisk. Points that fall into one place stand beside each other. Below the
/// chart, for every system, its mark, its name, its best bucket, and each bucket's BLEU as a share of that one's, in
/// percent. At most 80 columns wide (names aside) up to 9 buckets of the usual labels, and wider for more.
/// Throws Error when there are more than kChartSystems systems.
std::string render_length_chart(const Evaluation& evaluation);

}  // namespace rnnsearch::evaluate
