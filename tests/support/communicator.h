// The communicator of a test program: of all ranks under run_mpi_tests, otherwise of this process alone; and the
// environment of a simulated launcher.
#pragma once

#include <map>
#include <string>

#include "rnnsearch/comm/communicator.h"
#include "rnnsearch/comm/launch.h"

namespace rnnsearch::support {

inline const comm::Communicator kAlone;
inline const comm::Communicator* all_ranks = &kAlone;  // set by run_mpi_tests

inline const comm::Communicator& communicator() { return *all_ranks; }

inline comm::Lookup lookup_in(const std::map<std::string, std::string>& variables) {
  return [variables](const char* name) -> const char* {
    const auto found = variables.find(name);
    return found == variables.end() ? nullptr : found->second.c_str();
  };
}

}  // namespace rnnsearch::support
