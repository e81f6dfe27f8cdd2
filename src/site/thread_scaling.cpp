#include "rnnsearch/site/thread_scaling.h"

#include <cassert>
#include <nlohmann/json.hpp>
#include <utility>

#include "rnnsearch/base/error.h"
#include "rnnsearch/base/number_text.h"
#include "rnnsearch/base/printable.h"

namespace rnnsearch::site {
namespace {

const char* unit_of(const Measured& measured) {
  return measured.decode ? "batch" : "update";
}

std::string percents(double share) {
  return fixed(100 * share, 0) + "%";
}

}  // namespace

std::vector<ThreadScaling> scaling_of(const std::vector<OnThreads>& runs) {
  assert(!runs.empty());
  std::vector<ThreadScaling> curve;
  for (const auto& [measured, measurement] : runs) {
    ThreadScaling point{
        .threads = measured.threads, .seconds = measurement.median(), .share = share_of_bound(measured, measurement)};
    if (!curve.empty()) {
      const auto ratio = [&](const ThreadScaling& to) {
        return static_cast<double>(point.threads) / static_cast<double>(to.threads);
      };
      const ThreadScaling &fewest = curve.front(), &before = curve.back();
      assert(point.threads > before.threads);
      point.speed_up = fewest.seconds / point.seconds;
      point.efficiency = point.speed_up / ratio(fewest);
      point.gain = (before.seconds / point.seconds - 1) / (ratio(before) - 1);
    }
    curve.push_back(point);
  }
  return curve;
}

std::size_t worthwhile_threads(const std::vector<ThreadScaling>& curve) {
  std::size_t threads = curve.front().threads;
  for (const ThreadScaling& point : curve) {
    if (point.gain.value_or(1) < kWorthwhileGain) break;
    threads = point.threads;
  }
  return threads;
}

std::string conclusion_of(const std::vector<ThreadScaling>& curve, const std::string& unit) {
  const std::size_t best = worthwhile_threads(curve);
  const std::string begin = fmt::format("More threads pay up to {}", best);
  const ThreadScaling* last = &curve.front();
  for (const ThreadScaling& point : curve) {
    if (point.threads > best) {
      const double faster = last->seconds / point.seconds;
      const double linear = static_cast<double>(point.threads) / static_cast<double>(last->threads);
      return fmt::format(
          "{}: with {} {}{} is {:.2f} times as fast as with {}, where linear scaling would make it {:.2f} times as "
          "fast; a step counts as paying if it gains at least {} of what linear scaling would.",
          begin, point.threads, unit == "batch" ? "a " : "an ", unit, faster, last->threads, linear,
          percents(kWorthwhileGain));
    }
    last = &point;
  }
  return fmt::format("{}, the most of these: each step gained at least {} of what linear scaling would.", begin,
                     percents(kWorthwhileGain));
}

Json json_of(const std::vector<OnThreads>& runs) {
  const auto curve = scaling_of(runs);
  Json points = Json::array(), records = Json::array();
  for (const ThreadScaling& point : curve) {
    Json json = Json::object({{"threads", point.threads},
                              {"seconds", point.seconds},
                              {"speed_up", point.speed_up},
                              {"efficiency", point.efficiency}});
    if (point.gain) json["gain_of_added_threads"] = *point.gain;
    if (point.share) json["share_of_bound"] = *point.share;
    points.push_back(std::move(json));
  }
  for (const auto& [measured, measurement] : runs) records.push_back(json_of(measured, measurement));
  return Json::object({{"thread_scaling", std::move(points)},
                       {"worthwhile_threads", worthwhile_threads(curve)},
                       {"conclusion", conclusion_of(curve, unit_of(runs.front().measured))},
                       {"runs", std::move(records)}});
}

std::string table_of(const std::vector<OnThreads>& runs) {
  const auto curve = scaling_of(runs);
  const Measured& first = runs.front().measured;
  std::string threads;
  for (const ThreadScaling& point : curve) threads += fmt::format("{}{}", threads.empty() ? "" : ", ", point.threads);
  std::string text =
      heading_of(first, runs.front().measurement, threads + " threads") + "\n" +
      fmt::format("threads{}{}{}{}", right(fmt::format("seconds {}", first.decode ? "a batch" : "an update"), 20),
                  right("speed-up", 10), right("efficiency", 12), right("target words/s", 16));
  if (curve.front().share) text += "   of this machine's products from L1";
  text += "\n";
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const auto& [measured, m] = runs[i];
    const ThreadScaling& point = curve[i];
    text += right(std::to_string(point.threads), 7) + right(fixed(point.seconds, point.seconds < 0.1 ? 6 : 4), 20) +
            right(fixed(point.speed_up, 2), 10) + right(percents(point.efficiency), 12) +
            right(fixed(m.target_words / m.total(), 0), 16);
    if (point.share) {
      text += fmt::format("   {} of {:.1f} GFLOP/s; memory {:.1f} GB/s", percents(*point.share),
                          measured.machine->all.level1 / 1e9, measured.machine->memory / 1e9);
    }
    text += "\n";
  }
  return text + "\n" + conclusion_of(curve, unit_of(first)) + "\n";
}

}  // namespace rnnsearch::site
