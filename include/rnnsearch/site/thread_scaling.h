// How an update becomes faster with more threads: the same updates timed on several numbers of them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <vector>

#include "rnnsearch/base/json.h"
#include "rnnsearch/site/measurement.h"

namespace rnnsearch::site {

/// The same updates, or translations, on one number of threads of each rank.
struct OnThreads {
  Measured measured;
  Measurement measurement;
};

/// A point of the curve. Times are medians.
struct ThreadScaling {
  std::size_t threads = 1;        // of each rank
  double seconds = 0;             // an update
  double speed_up = 1;            // the time with the fewest threads divided by this time
  double efficiency = 1;          // speed_up divided by the number of threads relative to the fewest; 1 is linear
  std::optional<double> gain{};   // what the threads added to the point before gained, relative to linear; 1 is linear
  std::optional<double> share{};  // of the bound of this many threads (share_of_bound)
};

/// More threads pay as long as each step gains at least this part of what its threads would at linear scaling.
inline constexpr double kWorthwhileGain = 0.5;

/// One point for each of the runs. REQUIRES: at least one run, in ascending order of threads, none twice.
std::vector<ThreadScaling> scaling_of(const std::vector<OnThreads>& runs);
/// The largest number of threads up to which every step gained kWorthwhileGain. REQUIRES: at least one point.
std::size_t worthwhile_threads(const std::vector<ThreadScaling>& curve);
/// Where more threads stop paying, in a sentence. `unit`: "update" or "batch".
std::string conclusion_of(const std::vector<ThreadScaling>& curve, const std::string& unit);

/// The curve, its conclusion, and the whole record of each run. REQUIRES as scaling_of.
Json json_of(const std::vector<OnThreads>& runs);
/// The table, for people.
std::string table_of(const std::vector<OnThreads>& runs);

}  // namespace rnnsearch::site
