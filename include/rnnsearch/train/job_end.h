// The time when the job of this process will end, and when a training must stop before it.
#pragma once

#include <optional>
#include <string>

#include "rnnsearch/comm/launch.h"

namespace rnnsearch::train {

inline constexpr double kStopBeforeMinutes = 2;  // a checkpoint of paper scale, written slowly, and some air

struct Deadline {
  std::optional<double> unix_seconds;  // nothing: it is not known when the job ends
  std::string line;                    // for people; may be empty
};

/// The end of the job is RNNSEARCH_END_TIME or else SLURM_JOB_END_TIME, in seconds since 1970; empty or 0: not known.
/// The deadline is `stop_before` minutes earlier (by default kStopBeforeMinutes). Throws Error for a text that is not
/// such a number, and for a deadline before `now`, because a job without time for an update would be requeued for ever.
Deadline deadline_of(std::optional<double> stop_before, const comm::Lookup& environment, double now);

}  // namespace rnnsearch::train
