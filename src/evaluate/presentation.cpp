#include "rnnsearch/evaluate/presentation.h"

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "rnnsearch/base/error.h"
#include "rnnsearch/base/number_text.h"
#include "rnnsearch/base/printable.h"

namespace rnnsearch::evaluate {
namespace {

/// The name of a system in a table.
std::string shown(const std::string& system) {
  constexpr std::size_t kLongest = 60;
  std::string name = printable(system);
  if (columns_of(name) > kLongest) name = cut(name, kLongest - 1) + "…";
  return name;
}

struct Row {
  std::string label, count;
  std::vector<std::string> cells{};  // one for each system
  bool unreliable = false;
  bool heading = false;  // begins a section; without a label, it is only a line between two
};

class Table {
 public:
  Table(const Evaluation& evaluation, bool details) : evaluation_(evaluation), details_(details) {
    heading(
        evaluation.length == LengthOf::kLongest ? "words of the longer side" : name_of(evaluation.length) + " words",
        "sentences", [](const SystemEvaluation& system) { return shown(system.system); });
    for (std::size_t b = 0; b < first().buckets.size(); ++b) {
      bleu_row([b](const SystemEvaluation& system) { return &system.buckets[b]; }, true);
    }
    heading("", "");
    bleu_row([](const SystemEvaluation& system) { return &system.all; }, true);
    if (first().without_unknown_words) {
      bleu_row([](const SystemEvaluation& system) { return &*system.without_unknown_words; }, true);
    }
    for (std::size_t m = 0; m < first().all.others.size(); ++m) other_row(m);
    breakdown("unknown words in the pair", &SystemEvaluation::by_unknown_share);
    breakdown("rarest word of the reference", &SystemEvaluation::by_rarest_word);
    if (!first().words_by_frequency.empty()) heading("words by frequency, F1", "words");
    for (std::size_t b = 0; b < first().words_by_frequency.size(); ++b) word_row(b);
  }

  std::string text() const {
    std::size_t label_width = 0, count_width = 0;
    std::vector<std::size_t> widths(evaluation_.systems.size());
    for (const Row& row : rows_) {
      label_width = std::max(label_width, columns_of(row.label));
      count_width = std::max(count_width, row.count.size());
      for (std::size_t s = 0; s < widths.size(); ++s) widths[s] = std::max(widths[s], columns_of(row.cells[s]));
    }
    const std::size_t all =
        std::accumulate(widths.begin(), widths.end(), label_width + count_width + 3 + 2 * widths.size());
    const std::string rule = std::string(all, '-') + "\n";
    std::string table;
    for (const Row& row : rows_) {
      std::string line = left(row.label, label_width) + "  " + right(row.count, count_width);
      line += row.unreliable ? "*" : " ";
      for (std::size_t s = 0; s < widths.size(); ++s) line += "  " + right(row.cells[s], widths[s]);
      line.erase(line.find_last_not_of(' ') + 1);
      if (row.heading && !table.empty()) table += rule;
      if (!line.empty()) table += line + "\n";
      if (row.heading && !line.empty()) table += rule;
    }
    return table + footer();
  }

 private:
  const SystemEvaluation& first() const { return evaluation_.systems.front(); }
  bool tested() const { return !evaluation_.comparisons.empty(); }

  Row& add_row(const std::string& label, const std::string& count, const auto& cell_of) {
    Row& row = rows_.emplace_back(Row{label, count});
    for (const SystemEvaluation& system : evaluation_.systems) row.cells.push_back(cell_of(system));
    return row;
  }

  void heading(const std::string& label, const std::string& counted) {
    heading(label, counted, [](const SystemEvaluation&) { return ""; });
  }
  void heading(const std::string& label, const std::string& counted, const auto& cell_of) {
    add_row(label, counted, cell_of).heading = true;
  }

  static std::string interval(double score, const auto& of) {
    if (!of.low || !of.high) return fixed(score, 2);
    return fmt::format("{:.2f} [{:5.2f}, {:5.2f}]", score, *of.low, *of.high);
  }

  // The mark of significance and, with details, the p value; spaces of the same width if there was no comparison.
  std::string verdict(const std::string& system, const std::string& metric, const std::string& row) const {
    if (!tested()) return {};
    const Comparison* const found = comparison_of(evaluation_, system, metric, row);
    std::string text = found != nullptr && found->significant() ? "†" : " ";
    if (details_) text += left(found == nullptr ? "" : " p " + (found->p ? fixed(*found->p, 4) : "-"), 9);
    return text;
  }

  // compared: look up the comparison by the label of the row. Breakdowns have no comparisons, although their labels may
  // equal those of length buckets (10-99).
  void bleu_row(const auto& get, bool compared) {
    const BucketScore& example = *get(first());
    add_row(example.label, std::to_string(example.sentences), [&](const SystemEvaluation& system) {
      const BucketScore& score = *get(system);
      std::string cell = "-";
      if (score.sentences > 0) {
        cell = interval(score.bleu.score, score);
        if (details_) cell += "  ratio " + fixed(score.bleu.ratio, 3);
      }
      return cell + verdict(compared ? system.system : "", "BLEU", score.label);
    }).unreliable = !example.reliable() && example.sentences > 0;
  }

  void other_row(std::size_t metric) {
    const BucketScore& all = first().all;
    add_row(all.others[metric].metric, std::to_string(all.sentences), [&](const SystemEvaluation& system) {
      const MetricScore& score = system.all.others[metric];
      const std::string space(details_ ? 13 : 0, ' ');  // as wide as the ratios above
      return interval(score.score, score) + space + verdict(system.system, score.metric, "all");
    }).unreliable = !all.reliable();
  }

  void breakdown(const std::string& title, std::vector<BucketScore> SystemEvaluation::*rows) {
    if (!(first().*rows).empty()) heading(title, "sentences");
    for (std::size_t b = 0; b < (first().*rows).size(); ++b) {
      bleu_row([&](const SystemEvaluation& system) { return &(system.*rows)[b]; }, false);
    }
  }

  void word_row(std::size_t bucket) {
    const WordAccuracy& example = first().words_by_frequency[bucket];
    add_row(example.label, std::to_string(example.words), [&](const SystemEvaluation& system) {
      const WordAccuracy& accuracy = system.words_by_frequency[bucket];
      std::string cell = accuracy.words + accuracy.hypothesis == 0 ? "-" : fixed(100 * accuracy.f1(), 2);
      if (details_) {
        cell += fmt::format(" (precision {:.2f}, recall {:.2f})", 100 * accuracy.precision(), 100 * accuracy.recall());
      }
      return cell + (tested() ? " " : "");
    });
  }

  std::string footer() const {
    std::string text;
    if (std::any_of(rows_.begin(), rows_.end(), [](const Row& row) { return row.unreliable; })) {
      text += fmt::format("* fewer than {} sentences: too few for a reliable score\n", kReliableSentences);
    }
    if (tested()) {
      const Comparison& comparison = evaluation_.comparisons.front();
      text += fmt::format("† p < {:.2f} against {}: {}, each row of at least {} sentences by itself\n", kSignificant,
                          shown(comparison.baseline),
                          description_of(comparison.test, comparison.samples, comparison.seed), kFewestTested);
    }
    if (!evaluation_.edges.empty()) {
      text += fmt::format("lengths counted by tok:{}\n", text::name_of(evaluation_.length_tokenizer));
    }
    text += fmt::format("BLEU{}  {}\n", evaluation_.bootstrap ? " [95% bootstrap interval]" : "", first().signature);
    for (const MetricScore& other : first().all.others) {
      text +=
          fmt::format("{}{}  {}\n", other.metric, other.metric == "TER" ? " (lower is better)" : "", other.signature);
    }
    if (evaluation_.sequence_accuracy != SequenceAccuracyMode::kNone) {
      text += legend_of(evaluation_.sequence_accuracy) + "\n";
    }
    return text;
  }

  const Evaluation& evaluation_;
  bool details_;
  std::vector<Row> rows_;
};

}  // namespace

std::string render_table(const Evaluation& evaluation, bool details) {
  return Table(evaluation, details).text();
}

}  // namespace rnnsearch::evaluate
