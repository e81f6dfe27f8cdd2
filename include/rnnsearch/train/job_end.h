// When the job that this process belongs to will be ended, and when a training has to stop for it.
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

/// The job's end is what RNNSEARCH_END_TIME says, else SLURM_JOB_END_TIME: seconds since 1970; empty or 0: not known.
/// The deadline is `stop_before` minutes (else kStopBeforeMinutes) earlier. Throws Error for a text that is no such
/// number, and for a deadline that is past at `now`: a job that can do nothing would be requeued for ever.
Deadline deadline_of(std::optional<double> stop_before, const comm::Lookup& environment, double now);

}  // namespace rnnsearch::train
