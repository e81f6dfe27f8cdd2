#include "rnnsearch/evaluate/presentation.h"

#include <algorithm>
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

/// The rows under one heading.
struct Section {
  struct Row {
    std::string label;
    std::string count;
    bool unreliable = false;
    std::vector<std::string> cells;  // one for each system
  };
  std::string heading, counted;  // "reference words", "sentences"
  std::vector<Row> rows;
};

class Table {
 public:
  Table(const Evaluation& evaluation, bool details) : evaluation_(evaluation), details_(details) {
    Section lengths{heading(), "sentences", {}};
    for (std::size_t b = 0; b < first().buckets.size(); ++b) {
      lengths.rows.push_back(bleu_row([b](const SystemEvaluation& system) { return &system.buckets[b]; }));
    }
    sections_.push_back(std::move(lengths));
    Section whole{"", "", {}};
    whole.rows.push_back(bleu_row([](const SystemEvaluation& system) { return &system.all; }));
    if (first().without_unknown_words) {
      whole.rows.push_back(bleu_row([](const SystemEvaluation& system) { return &*system.without_unknown_words; }));
    }
    for (std::size_t m = 0; m < first().all.others.size(); ++m) whole.rows.push_back(other_row(m));
    sections_.push_back(std::move(whole));
    breakdown("unknown words in the pair", &SystemEvaluation::by_unknown_share);
    breakdown("rarest word of the reference", &SystemEvaluation::by_rarest_word);
    if (!first().words_by_frequency.empty()) words();
  }

  std::string text() const {
    std::size_t label_width = 0, count_width = 9;
    std::vector<std::size_t> widths;
    for (const SystemEvaluation& system : evaluation_.systems) widths.push_back(columns_of(shown(system.system)));
    for (const Section& section : sections_) {
      label_width = std::max(label_width, columns_of(section.heading));
      for (const Section::Row& row : section.rows) {
        label_width = std::max(label_width, columns_of(row.label));
        count_width = std::max(count_width, row.count.size());
        for (std::size_t s = 0; s < widths.size(); ++s) widths[s] = std::max(widths[s], columns_of(row.cells[s]));
      }
    }
    std::size_t all = label_width + 2 + count_width + 1;
    for (const std::size_t width : widths) all += 2 + width;
    const std::string rule = std::string(all, '-') + "\n";
    const auto trimmed = [](std::string line) {
      line.erase(line.find_last_not_of(' ') + 1);
      return line + "\n";
    };
    std::string table;
    bool unreliable = false;
    for (const Section& section : sections_) {
      if (!table.empty()) table += rule;
      if (!section.heading.empty()) {
        std::string header = left(section.heading, label_width) + "  " + right(section.counted, count_width) + " ";
        for (std::size_t s = 0; s < widths.size(); ++s) {
          header += "  " + right(table.empty() ? shown(evaluation_.systems[s].system) : "", widths[s]);
        }
        table += trimmed(header) + rule;
      }
      for (const Section::Row& row : section.rows) {
        unreliable |= row.unreliable;
        std::string line = left(row.label, label_width) + "  " + right(row.count, count_width);
        line += row.unreliable ? "*" : " ";
        for (std::size_t s = 0; s < widths.size(); ++s) line += "  " + right(row.cells[s], widths[s]);
        table += trimmed(line);
      }
    }
    return table + footer(unreliable);
  }

 private:
  const SystemEvaluation& first() const { return evaluation_.systems.front(); }
  bool tested() const { return !evaluation_.comparisons.empty(); }

  std::string heading() const {
    if (evaluation_.length == LengthOf::kLongest) return "words of the longer side";
    return name_of(evaluation_.length) + " words";
  }

  const Comparison* comparison(const std::string& system, const std::string& metric, const std::string& row) const {
    for (const Comparison& comparison : evaluation_.comparisons) {
      if (comparison.system == system && comparison.metric == metric && comparison.row == row) return &comparison;
    }
    return nullptr;
  }

  template <class Score>
  static std::string interval(double score, const Score& of) {
    if (!of.low || !of.high) return fixed(score, 2);
    return fmt::format("{:.2f} [{:5.2f}, {:5.2f}]", score, *of.low, *of.high);
  }

  // The mark of significance and, with details, the p value; spaces of the same width if there was no comparison.
  std::string verdict(const Comparison* found) const {
    if (!tested()) return {};
    std::string text = found != nullptr && found->significant() ? "†" : " ";
    if (details_) text += left(found == nullptr ? "" : " p " + (found->p ? fixed(*found->p, 4) : "-"), 9);
    return text;
  }

  // compared: look up the comparison by the label of the row. Breakdowns have no comparisons, although their labels may
  // equal those of length buckets (10-99).
  template <class Get>
  Section::Row bleu_row(Get get, bool compared = true) const {
    const BucketScore& example = *get(first());
    Section::Row row{
        example.label, std::to_string(example.sentences), !example.reliable() && example.sentences > 0, {}};
    for (const SystemEvaluation& system : evaluation_.systems) {
      const BucketScore& score = *get(system);
      std::string cell = "-";
      if (score.sentences > 0) {
        cell = interval(score.bleu.score, score);
        if (details_) cell += "  ratio " + fixed(score.bleu.ratio, 3);
      }
      row.cells.push_back(cell + verdict(compared ? comparison(system.system, "BLEU", score.label) : nullptr));
    }
    return row;
  }

  Section::Row other_row(std::size_t metric) const {
    Section::Row row{
        first().all.others[metric].metric, std::to_string(first().all.sentences), !first().all.reliable(), {}};
    for (const SystemEvaluation& system : evaluation_.systems) {
      const MetricScore& score = system.all.others[metric];
      std::string cell = interval(score.score, score);
      if (details_) cell += std::string(13, ' ');  // as wide as the ratios above
      row.cells.push_back(cell + verdict(comparison(system.system, score.metric, "all")));
    }
    return row;
  }

  void breakdown(const std::string& title, std::vector<BucketScore> SystemEvaluation::*rows) {
    if ((first().*rows).empty()) return;
    Section section{title, "sentences", {}};
    for (std::size_t b = 0; b < (first().*rows).size(); ++b) {
      section.rows.push_back(bleu_row([&](const SystemEvaluation& system) { return &(system.*rows)[b]; }, false));
    }
    sections_.push_back(std::move(section));
  }

  void words() {
    Section section{"words by frequency, F1", "words", {}};
    for (std::size_t b = 0; b < first().words_by_frequency.size(); ++b) {
      const WordAccuracy& example = first().words_by_frequency[b];
      Section::Row row{example.label, std::to_string(example.words), false, {}};
      for (const SystemEvaluation& system : evaluation_.systems) {
        const WordAccuracy& accuracy = system.words_by_frequency[b];
        std::string cell = accuracy.words + accuracy.hypothesis == 0 ? "-" : fixed(100 * accuracy.f1(), 2);
        if (details_) {
          cell +=
              fmt::format(" (precision {:.2f}, recall {:.2f})", 100 * accuracy.precision(), 100 * accuracy.recall());
        }
        if (tested()) cell += " ";
        row.cells.push_back(std::move(cell));
      }
      section.rows.push_back(std::move(row));
    }
    sections_.push_back(std::move(section));
  }

  std::string footer(bool unreliable) const {
    std::string text;
    if (unreliable)
      text += fmt::format("* fewer than {} sentences: too few for a reliable score\n", kReliableSentences);
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
  std::vector<Section> sections_;
};

}  // namespace

std::string render_table(const Evaluation& evaluation, bool details) {
  return Table(evaluation, details).text();
}

}  // namespace rnnsearch::evaluate
