// An attempt is a process that may write to the folder of a run. RUN/attempt identifies it.
#pragma once

#include <string>

namespace rnnsearch::train {

/// Identifies this process in one line: host, process id, and start time of the process, because ids are reused.
std::string this_attempt();

/// Whether the process of `attempt` runs on this machine and is not this process. False for processes of other
/// machines, about which nothing is known.
bool lives_here(const std::string& attempt);

}  // namespace rnnsearch::train
