#include "rnnsearch/evaluate/length_chart.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <string_view>
#include <vector>

#include "rnnsearch/base/error.h"
#include "rnnsearch/base/number_text.h"
#include "rnnsearch/base/printable.h"

namespace rnnsearch::evaluate {
namespace {

constexpr std::string_view kMarks = "ox+#@%&$";
static_assert(kMarks.size() == kChartSystems);
constexpr char kLine = '.';
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

/// Text in columns; writing past the end of a line extends it.
class Canvas {
 public:
  explicit Canvas(std::size_t rows) : lines_(rows) {}

  char at(std::size_t row, std::size_t column) const { return column < lines_[row].size() ? lines_[row][column] : ' '; }
  void put(std::size_t row, std::size_t column, std::string_view text) {
    std::string& line = lines_[row];
    line.resize(std::max(line.size(), column + text.size()), ' ');
    std::copy(text.begin(), text.end(), line.begin() + static_cast<std::ptrdiff_t>(column));
  }
  void put_centred(std::size_t row, std::size_t column, std::string_view text) {
    put(row, column - std::min(column, text.size() / 2), text);
  }
  std::string text() const {
    std::string all;
    for (const std::string& line : lines_) all += line.substr(0, line.find_last_not_of(' ') + 1) + "\n";
    return all;
  }

 private:
  std::vector<std::string> lines_;
};

/// "<=10" for "up to 10", ">60" for "over 60".
std::string short_label(const std::string& label) {
  if (label.starts_with("up to ")) return fmt::format("<={}", label.substr(6));
  if (label.starts_with("over ")) return fmt::format(">{}", label.substr(5));
  return label;
}

class LengthChart {
 public:
  explicit LengthChart(const Evaluation& evaluation) : evaluation_(evaluation), scale_(most_of(evaluation)) {
    const auto& buckets = evaluation.systems.front().buckets;
    // Wide enough that points drawn beside each other do not reach the next bucket.
    slot_ = std::max((kWidth - kMargin) / buckets.size(), evaluation.systems.size() + 1);
    const auto label_all = [&](bool shortened) {
      labels_.clear();
      std::size_t longest = 0;
      for (const BucketScore& bucket : buckets) {
        labels_.push_back((shortened ? short_label(bucket.label) : bucket.label) + (unreliable(bucket) ? "*" : ""));
        longest = std::max(longest, labels_.back().size());
      }
      return longest + 1;
    };
    if (label_all(false) > slot_) slot_ = std::max(slot_, label_all(true));
  }

  std::string text() const { return fmt::format("BLEU by sentence length\n\n{}\n{}{}", plot(), shares(), footnote()); }

 private:
  static bool unreliable(const BucketScore& bucket) { return bucket.sentences > 0 && !bucket.reliable(); }

  static double most_of(const Evaluation& evaluation) {
    double most = 0;
    for (const SystemEvaluation& system : evaluation.systems) {
      for (const BucketScore& bucket : system.buckets) {
        if (bucket.sentences > 0) most = std::max(most, bucket.bleu.score);
      }
    }
    return most;
  }

  std::size_t centre(std::size_t bucket) const { return kMargin + bucket * slot_ + slot_ / 2; }

  std::string plot() const {
    const std::size_t axis = scale_.rows(), width = labels_.size() * slot_;
    Canvas canvas(axis + 3);
    for (std::size_t row = 0; row <= axis; ++row) canvas.put(row, kMargin - 1, "|");
    for (std::size_t interval = 0; interval <= scale_.intervals; ++interval) {
      const std::string label = scale_.label(interval);
      const std::size_t row = axis - interval * scale_.rows_per_interval;
      canvas.put(row, kMargin - 2 - label.size(), fmt::format("{} +", label));
    }
    canvas.put(axis, kMargin, std::string(width, '-'));
    for (std::size_t b = 0; b < labels_.size(); ++b) {
      canvas.put(axis, centre(b), "+");
      canvas.put_centred(axis + 1, centre(b), labels_[b]);
    }
    canvas.put_centred(axis + 2, kMargin + width / 2,
                       evaluation_.length == LengthOf::kLongest ? "words of the longer side"
                                                                : fmt::format("{} words", name_of(evaluation_.length)));
    for (const SystemEvaluation& system : evaluation_.systems) draw_line(canvas, system);
    for (std::size_t b = 0; b < labels_.size(); ++b) draw_points(canvas, b);
    return canvas.text();
  }

  void draw_line(Canvas& canvas, const SystemEvaluation& system) const {
    for (std::size_t b = 0; b + 1 < system.buckets.size(); ++b) {
      const BucketScore &from = system.buckets[b], &to = system.buckets[b + 1];
      if (from.sentences == 0 || to.sentences == 0) continue;
      for (std::size_t column = centre(b) + 1; column < centre(b + 1); ++column) {
        const double way = static_cast<double>(column - centre(b)) / static_cast<double>(slot_);
        const std::size_t row = scale_.row_of(from.bleu.score + way * (to.bleu.score - from.bleu.score));
        if (canvas.at(row, column) == ' ' || canvas.at(row, column) == '-') canvas.put(row, column, {&kLine, 1});
      }
    }
  }

  void draw_points(Canvas& canvas, std::size_t bucket) const {
    std::vector<std::size_t> marks_in(scale_.rows() + 1);  // number of marks in each row
    for (std::size_t s = 0; s < evaluation_.systems.size(); ++s) {
      const BucketScore& score = evaluation_.systems[s].buckets[bucket];
      if (score.sentences == 0) continue;
      const std::size_t row = scale_.row_of(score.bleu.score);
      canvas.put(row, centre(bucket) + marks_in[row]++, kMarks.substr(s, 1));
    }
  }

  std::string shares() const {
    std::string all;
    for (std::size_t s = 0; s < evaluation_.systems.size(); ++s) {
      const SystemEvaluation& system = evaluation_.systems[s];
      const BucketScore* const best = best_bucket(system);
      all += fmt::format("{} {}", kMarks.substr(s, 1), printable(system.system));
      if (best == nullptr) {
        all += ": no sentences\n";
        continue;
      }
      all += fmt::format(": BLEU as a share of its best bucket's ({}: {:.2f})\n", best->label, best->bleu.score);
      Canvas row(1);
      for (std::size_t b = 0; b < system.buckets.size(); ++b) {
        const auto share = share_of_best(system, b);
        row.put_centred(0, centre(b), share ? fmt::format("{:.0f}%", 100 * *share) : "-");
      }
      all += row.text();
    }
    return all;
  }

  std::string footnote() const {
    const auto& buckets = evaluation_.systems.front().buckets;
    if (std::none_of(buckets.begin(), buckets.end(), unreliable)) return {};
    const bool others =
        std::any_of(buckets.begin(), buckets.end(), [](const auto& bucket) { return bucket.reliable(); });
    return fmt::format("* fewer than {} sentences: too few for a reliable score{}\n", kReliableSentences,
                       others ? ", and never taken as the best bucket" : "");
  }

  const Evaluation& evaluation_;
  Scale scale_;
  std::size_t slot_ = 0;  // number of columns of a bucket
  std::vector<std::string> labels_;
};

}  // namespace

std::string render_length_chart(const Evaluation& evaluation) {
  assert(evaluation.systems.size() <= kChartSystems);
  return LengthChart(evaluation).text();
}

}  // namespace rnnsearch::evaluate
