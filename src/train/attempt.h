// Who may write a run: the content of RUN/attempt.
#pragma once

#include <string>

namespace rnnsearch::train {

/// This process, unmistakably: host, process id and start of the process (ids are given out again), on one line.
std::string this_attempt();

/// That attempt's process runs on this machine and is not this process. Of other machines nothing is known: false.
bool lives_here(const std::string& attempt);

}  // namespace rnnsearch::train
