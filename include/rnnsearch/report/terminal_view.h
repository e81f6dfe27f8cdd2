// The progress of a training as text for a terminal.
#pragma once

#include <cstddef>
#include <ctime>
#include <optional>
#include <string>

#include "rnnsearch/report/run.h"

namespace rnnsearch::report {

/// The seconds until the first of the run's limits (max-updates, max-epochs, max-minutes of its config.ini), at the
/// mean speed of its last 50 logged lines, so that batches of short and of long sentences count alike. None if the
/// training has ended, or has no limit. The end of a job is not known here.
std::optional<double> seconds_left(const Run& run);

/// Lines of at most `width` characters (at least 40), each with a line end: progress and time left, the loss with its
/// course, validations, words a second with the share of each part of an update, ranks by host. now: the time to
/// compare the last line of the log with. Control characters in the files' texts are replaced.
std::string terminal_view(const Run& run, std::time_t now, std::size_t width);

}  // namespace rnnsearch::report
