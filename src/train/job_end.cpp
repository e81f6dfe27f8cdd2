#include "rnnsearch/train/job_end.h"

#include <array>
#include <cmath>
#include <ctime>

#include "rnnsearch/base/error.h"
#include "rnnsearch/base/number_text.h"
#include "rnnsearch/base/option.h"

namespace rnnsearch::train {
namespace {

std::string utc(double unix_seconds) {
  std::array<char, 40> text{};
  const auto time = static_cast<std::time_t>(unix_seconds);
  std::tm fields{};
  std::strftime(text.data(), text.size(), "%Y-%m-%d %H:%M:%S UTC", ::gmtime_r(&time, &fields));
  return text.data();
}

std::string minutes(double count) {
  return fmt::format("{:g}{}", count, count == 1 ? " minute" : " minutes");
}

}  // namespace

Deadline deadline_of(std::optional<double> stop_before, const comm::Lookup& environment, double now) {
  constexpr double kYear10000 = 253402300800;
  const double before = stop_before.value_or(kStopBeforeMinutes);
  for (const char* name : {"RNNSEARCH_END_TIME", "SLURM_JOB_END_TIME"}) {
    const char* const set = environment(name);
    const std::string text = set ? set : "";
    if (text.empty()) continue;
    double end = 0;
    if (!value::read(text, end) || end < 0 || end >= kYear10000) {
      throw Error(
          "{} is '{}' but must be when the job ends, in seconds since 1970 (as date +%s prints them); set "
          "RNNSEARCH_END_TIME to it, or to 0 if there is no end",
          name, text);
    }
    if (end == 0) break;
    const double deadline = end - 60 * before;
    if (deadline <= now) {
      throw Error(
          "{} says that the job ends at {}, and stop-before is {}, so no time is left to train; give a smaller "
          "--stop-before, or set RNNSEARCH_END_TIME to the end of the job (0: there is none)",
          name, utc(end), minutes(before));
    }
    return {deadline, fmt::format("will stop with a checkpoint before {}, in {}: {} before the end that {} says",
                                  utc(deadline), duration(deadline - now), minutes(before), name)};
  }
  if (!stop_before) return {};
  return {{},
          "stop-before does nothing, because neither RNNSEARCH_END_TIME nor SLURM_JOB_END_TIME says when the job ends"};
}

}  // namespace rnnsearch::train
