#include "rnnsearch/evaluate/evaluation.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <string_view>

#include "rnnsearch/base/error.h"
#include "rnnsearch/base/printable.h"

namespace rnnsearch::evaluate {
namespace {

constexpr std::string_view kMarks = "ox+#@%&$";
static_assert(kMarks.size() == kChartSystems);
constexpr std::size_t kWidth = 80, kMargin = 6;  // columns of the chart, and of the y axis with its labels
constexpr std::size_t kHeight = 18;              // approximate number of rows

/// The y axis from 0 to intervals * step, with rows_per_interval rows for each interval.
struct Scale {
  double step = 1;
  std::size_t intervals = 1, rows_per_interval = kHeight;

  explicit Scale(double most) {
    constexpr double kMostIntervals = 7;
    for (const double candidate : {0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0}) {
      step = candidate;
      if (most <= kMostIntervals * step) break;
    }
    intervals = std::max<std::size_t>(1, static_cast<std::size_t>(std::ceil(most / step - 1e-9)));
    rows_per_interval = std::max<std::size_t>(1, (kHeight + intervals / 2) / intervals);
  }
  std::size_t rows() const { return intervals * rows_per_interval; }  // rows above the row of 0
  /// The row of a score, counted from the top.
  std::size_t row_of(double bleu) const {
    const double above = bleu / step * static_cast<double>(rows_per_interval);
    return rows() - std::min(rows(), static_cast<std::size_t>(std::llround(above)));
  }
  std::string label(std::size_t interval) const {
    return fixed(step * static_cast<double>(interval), step < 1 ? 1 : 0);
  }
};

/// Writes a text at a column; writing past the end of a line extends it.
void put(std::string& line, std::size_t column, std::string_view text) {
  line.resize(std::max(line.size(), column + text.size()), ' ');
  std::copy(text.begin(), text.end(), line.begin() + static_cast<std::ptrdiff_t>(column));
}
void put_centred(std::string& line, std::size_t column, std::string_view text) {
  put(line, column - std::min(column, text.size() / 2), text);
}
std::string without_end(const std::string& line) {
  return line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
}

/// "<=10" for "up to 10", ">60" for "over 60".
std::string short_label(const std::string& label) {
  if (label.starts_with("up to ")) return fmt::format("<={}", label.substr(6));
  if (label.starts_with("over ")) return fmt::format(">{}", label.substr(5));
  return label;
}

bool unreliable(const BucketScore& bucket) {
  return bucket.sentences > 0 && !bucket.reliable();
}

}  // namespace

std::string render_length_chart(const Evaluation& evaluation) {
  const auto& systems = evaluation.systems;
  const auto& buckets = systems.front().buckets;
  assert(systems.size() <= kChartSystems);
  double most = 0;
  for (const SystemEvaluation& system : systems) {
    for (const BucketScore& bucket : system.buckets)
      most = std::max(most, bucket.sentences > 0 ? bucket.bleu.score : 0);
  }
  const Scale scale(most);

  // A slot is so wide that points drawn beside each other do not reach the next bucket.
  std::size_t slot = std::max((kWidth - kMargin) / buckets.size(), systems.size() + 1);
  std::vector<std::string> labels;
  const auto label_all = [&](bool shortened) {
    labels.clear();
    std::size_t longest = 0;
    for (const BucketScore& bucket : buckets) {
      labels.push_back((shortened ? short_label(bucket.label) : bucket.label) + (unreliable(bucket) ? "*" : ""));
      longest = std::max(longest, labels.back().size());
    }
    return longest + 1;
  };
  if (label_all(false) > slot) slot = std::max(slot, label_all(true));
  const auto centre = [&](std::size_t bucket) { return kMargin + bucket * slot + slot / 2; };

  const std::size_t axis = scale.rows(), width = labels.size() * slot;
  std::vector<std::string> rows(axis + 3);
  for (std::size_t row = 0; row <= axis; ++row) put(rows[row], kMargin - 1, "|");
  for (std::size_t interval = 0; interval <= scale.intervals; ++interval) {
    const std::string label = scale.label(interval);
    put(rows[axis - interval * scale.rows_per_interval], kMargin - 2 - label.size(), fmt::format("{} +", label));
  }
  put(rows[axis], kMargin, std::string(width, '-'));
  for (std::size_t b = 0; b < labels.size(); ++b) {
    put(rows[axis], centre(b), "+");
    put_centred(rows[axis + 1], centre(b), labels[b]);
  }
  put_centred(rows[axis + 2], kMargin + width / 2,
              evaluation.length == LengthOf::kLongest ? "words of the longer side"
                                                      : fmt::format("{} words", name_of(evaluation.length)));
  for (const SystemEvaluation& system : systems) {  // the curves
    for (std::size_t b = 0; b + 1 < buckets.size(); ++b) {
      const BucketScore &from = system.buckets[b], &to = system.buckets[b + 1];
      if (from.sentences == 0 || to.sentences == 0) continue;
      for (std::size_t column = centre(b) + 1; column < centre(b + 1); ++column) {
        const double way = static_cast<double>(column - centre(b)) / static_cast<double>(slot);
        std::string& row = rows[scale.row_of(from.bleu.score + way * (to.bleu.score - from.bleu.score))];
        if (column >= row.size() || row[column] == ' ' || row[column] == '-') put(row, column, ".");
      }
    }
  }
  for (std::size_t b = 0; b < buckets.size(); ++b) {  // the points
    std::vector<std::size_t> marks_in(axis + 1);      // number of marks in each row
    for (std::size_t s = 0; s < systems.size(); ++s) {
      const BucketScore& score = systems[s].buckets[b];
      if (score.sentences == 0) continue;
      const std::size_t row = scale.row_of(score.bleu.score);
      put(rows[row], centre(b) + marks_in[row]++, kMarks.substr(s, 1));
    }
  }

  std::string text = "BLEU by sentence length\n\n";
  for (const std::string& row : rows) text += without_end(row);
  text += "\n";
  for (std::size_t s = 0; s < systems.size(); ++s) {
    const BucketScore* const best = best_bucket(systems[s]);
    text += fmt::format("{} {}", kMarks.substr(s, 1), printable(systems[s].system));
    if (best == nullptr) {
      text += ": no sentences\n";
      continue;
    }
    text += fmt::format(": BLEU as a share of its best bucket's ({}: {:.2f})\n", best->label, best->bleu.score);
    std::string shares;
    for (std::size_t b = 0; b < buckets.size(); ++b) {
      const auto share = share_of_best(systems[s], b);
      put_centred(shares, centre(b), share ? fmt::format("{:.0f}%", 100 * *share) : "-");
    }
    text += without_end(shares);
  }
  if (std::none_of(buckets.begin(), buckets.end(), unreliable)) return text;
  const bool others = std::any_of(buckets.begin(), buckets.end(), [](const auto& bucket) { return bucket.reliable(); });
  return text + fmt::format("* fewer than {} sentences: too few for a reliable score{}\n", kReliableSentences,
                            others ? ", and never taken as the best bucket" : "");
}

}  // namespace rnnsearch::evaluate
