// The tables of an evaluation, which the page, the Markdown file and the terminal show.
#pragma once

#include <string>
#include <vector>

#include "rnnsearch/evaluate/evaluation.h"
#include "rnnsearch/report/table.h"

namespace rnnsearch::report {

/// BLEU of groups of sentences.
struct Breakdown {
  std::vector<evaluate::BucketScore> evaluate::SystemEvaluation::*rows;
  std::string id, title, heading;
  std::string axis{};  // of the chart; empty: the heading
};
/// The breakdowns that the evaluation has, that by length first.
std::vector<Breakdown> breakdowns_of(const evaluate::Evaluation& evaluation);

/// Appends the item unless the list has it.
void add_once(std::vector<std::string>& list, const std::string& item);
/// BLEU, then the other metrics that some system has.
std::vector<std::string> metrics_of(const evaluate::Evaluation& evaluation);

// The columns of these tables are the systems. They have no id yet.

/// details: with length ratios.
Table bucket_table(const evaluate::Evaluation& evaluation, const Breakdown& breakdown, bool details = false);
/// All scores over all sentences, with signatures.
Table score_table(const evaluate::Evaluation& evaluation);
/// Precision, recall and F1 of words by their frequency in the training text.
Table word_table(const evaluate::Evaluation& evaluation);
/// The differences of each system from its baseline, with p values.
std::vector<Table> comparison_tables(const evaluate::Evaluation& evaluation);

/// The text of all these tables. details: with length ratios and p values.
std::string evaluation_text(const evaluate::Evaluation& evaluation, bool details);

}  // namespace rnnsearch::report
