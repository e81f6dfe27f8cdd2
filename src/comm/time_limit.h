// A time limit for the MPI calls that wait for other ranks while no progress thread can tell who is late: MPI_Init,
// MPI_Finalize and MPI_Abort.
#pragma once

#include <string>
#include <thread>

namespace rnnsearch::comm {

/// If the object is not destroyed within `seconds` (0: no limit), it logs the sentence, unless that is empty, and ends
/// this process with the exit code; the launcher then ends the other ranks. Time during which the process is suspended
/// does not count.
class TimeLimit {
 public:
  TimeLimit(double seconds, std::string sentence, int exit_code = 1);

 private:
  std::jthread thread_;  // which its destructor asks to stop
};

}  // namespace rnnsearch::comm
