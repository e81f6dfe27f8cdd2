#include "rnnsearch/report/line_chart.h"

#include <fmt/core.h>

#include <algorithm>
#include <cmath>
#include <utility>

#include "rnnsearch/base/parallel.h"
#include "rnnsearch/report/table.h"

namespace rnnsearch::report {
namespace {

// Whether low and high are so close that there are no distinct ticks between them.
bool one_value(double low, double high) {
  return !(high - low > 1e-12 * std::max(std::abs(low), std::abs(high))) || high - low < 1e-290;
}

}  // namespace

void Range::see(double value) {
  low = std::min(low, value);
  high = std::max(high, value);
}

bool drawable_on(double value, Scale scale) {
  return std::abs(value) < 1e100 && (scale == Scale::kLinear || value > 0);
}

Range rounded(Range range, const Axis& axis, std::size_t ticks) {
  if (range.low > range.high) return axis.scale == Scale::kLog ? Range{1, 10} : Range{0, 1};
  if (axis.scale == Scale::kLog) {
    if (range.low == range.high) return {range.low / 2, range.high * 2};
    return {range.low / 1.1, range.high * 1.1};
  }
  if (axis.from_zero) range.see(0);
  if (one_value(range.low, range.high)) {
    const double room = std::abs(range.low) < 1e-290 ? 1 : std::abs(range.low) / 2;
    return axis.from_zero ? Range{0, 1} : Range{range.low - room, range.high + room};
  }
  // Finds the finest step for which the rounded range has at most `ticks` ticks.
  for (std::size_t inner = ticks; inner >= 2; --inner) {
    const auto within = nice_ticks(range.low, range.high, inner);
    if (within.size() < 2) break;
    const double step = within[1] - within[0];
    const Range wider{std::floor(range.low / step + 1e-9) * step, std::ceil(range.high / step - 1e-9) * step};
    if (std::round((wider.high - wider.low) / step) + 1 <= static_cast<double>(ticks)) return wider;
  }
  return range;
}

std::vector<double> ticks_of(Range range, Scale scale, std::size_t at_most) {
  return scale == Scale::kLog ? log_ticks(range.low, range.high, at_most) : nice_ticks(range.low, range.high, at_most);
}

std::vector<double> nice_ticks(double low, double high, std::size_t at_most) {
  if (one_value(low, high)) return {low};
  const double span = high - low;
  double power = std::pow(10, std::floor(std::log10(span)) - 2);
  for (;; power *= 10) {
    for (const double factor : {1.0, 2.0, 5.0}) {
      const double step = factor * power;
      // The tolerance keeps the ticks at both ends despite rounding.
      const double first = std::ceil(low / step - 1e-9), last = std::floor(high / step + 1e-9);
      if (last - first + 1 > static_cast<double>(at_most)) continue;
      std::vector<double> ticks;
      // Dividing by the inverse of a small power gives 0.3; multiplying would give 0.30000000000000004.
      const double inverse = std::round(1 / power);
      for (double i = first; i <= last; ++i) ticks.push_back(power < 1 ? i * factor / inverse : i * step);
      return ticks;
    }
  }
}

std::vector<double> log_ticks(double low, double high, std::size_t at_most) {
  const auto first = static_cast<int>(std::ceil(std::log10(low) - 1e-9)),
             last = static_cast<int>(std::floor(std::log10(high) + 1e-9));
  const auto power = [](int exponent) { return exponent < 0 ? 1 / std::pow(10, -exponent) : std::pow(10, exponent); };
  std::vector<double> ticks;
  if (last - first + 1 < 3) {
    for (int exponent = first - 1; exponent <= last; ++exponent) {
      for (const double factor : {1.0, 2.0, 5.0}) {
        const double tick = exponent < 0 ? factor / power(-exponent) : factor * power(exponent);
        if (tick >= low * (1 - 1e-9) && tick <= high * (1 + 1e-9)) ticks.push_back(tick);
      }
    }
    if (ticks.size() < 2) return nice_ticks(low, high, at_most);
    if (ticks.size() <= at_most) return ticks;
    ticks.clear();
  }
  const int every = static_cast<int>(ceil_div(static_cast<std::size_t>(last - first + 1), at_most));
  for (int exponent = first; exponent <= last; exponent += every) ticks.push_back(power(exponent));
  return ticks;
}

std::string tick_label(double tick, std::span<const double> ticks) {
  double step = std::numeric_limits<double>::infinity(), most = std::abs(tick);
  for (std::size_t i = 1; i < ticks.size(); ++i) step = std::min(step, std::abs(ticks[i] - ticks[i - 1]));
  for (const double other : ticks) most = std::max(most, std::abs(other));
  if (!std::isfinite(step)) step = std::abs(tick);
  if (tick == 0) return "0";
  if (most >= 1e6 && step >= 1e5) return fmt::format("{:.10g}M", tick / 1e6);
  // The ticks of a log scale have different numbers of decimals.
  const bool even = ticks.size() < 3 || std::abs((ticks[2] - ticks[1]) - (ticks[1] - ticks[0])) < step * 1e-6;
  const double finest = even ? step : std::abs(tick);
  if (finest < 1e-4 && most < 1e-2) return fmt::format("{:.3g}", tick);
  int decimals = 0;
  for (double size = finest; decimals < 9 && std::abs(size - std::round(size)) > 1e-6 * size; size *= 10) ++decimals;
  return fixed(tick, decimals);
}

double position(double value, double low, double high, Scale scale) {
  if (scale == Scale::kLog) return std::log(value / low) / std::log(high / low);
  return (value - low) / (high - low);
}

std::vector<Point> thinned(std::span<const Point> points, std::size_t at_most) {
  const std::size_t n = points.size();
  if (n <= at_most || at_most < 4) return {points.begin(), points.end()};
  const std::size_t inner = n - 2, stretches = (at_most - 2) / 2;
  std::vector<Point> kept{points.front()};
  for (std::size_t k = 0; k < stretches; ++k) {
    const auto begin = points.begin() + static_cast<std::ptrdiff_t>(1 + inner * k / stretches);
    const auto end = points.begin() + static_cast<std::ptrdiff_t>(1 + inner * (k + 1) / stretches);
    auto [least, most] = std::minmax_element(begin, end, [](const Point& a, const Point& b) { return a.y < b.y; });
    if (most < least) std::swap(least, most);
    kept.push_back(*least);
    if (most != least) kept.push_back(*most);
  }
  kept.push_back(points.back());
  return kept;
}

std::vector<Point> smoothed(std::span<const Point> points, std::size_t window) {
  std::vector<Point> result;
  const std::size_t half = window / 2, n = points.size();
  // Each window is composed of sums of 1, 2, 4, ... neighbours, because the windows of a long log are long. Nothing is
  // subtracted, so a spike does not cost digits of distant values.
  std::vector<std::vector<double>> sums(1);
  for (const Point& point : points) sums[0].push_back(point.y);
  while (sums.back().size() > 1) {
    const std::vector<double>& finer = sums.back();
    std::vector<double> pairs;
    for (std::size_t i = 0; i + 1 < finer.size(); i += 2) pairs.push_back(finer[i] + finer[i + 1]);
    sums.push_back(std::move(pairs));
  }
  for (std::size_t i = 0; i < n; ++i) {
    // At its start a curve is steep, so a one-sided mean would be biased; at its end it is noisy.
    const std::size_t before = std::min(half, i), after = std::min(before, n - 1 - i);
    double sum = 0;
    std::size_t begin = i - before, end = i + after + 1;
    for (std::size_t level = 0; begin < end; ++level, begin /= 2, end /= 2) {
      if (begin % 2 == 1) sum += sums[level][begin++];
      if (end % 2 == 1) sum += sums[level][--end];
    }
    result.push_back({points[i].x, sum / static_cast<double>(before + after + 1)});
  }
  return result;
}

}  // namespace rnnsearch::report
