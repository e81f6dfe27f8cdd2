// The communicator of a test program: of all ranks under run_mpi_tests, otherwise of this process alone.
#pragma once

#include "rnnsearch/comm/communicator.h"

namespace rnnsearch::support {

inline const comm::Communicator kAlone;
inline const comm::Communicator* all_ranks = &kAlone;  // set by run_mpi_tests

inline const comm::Communicator& communicator() { return *all_ranks; }

}  // namespace rnnsearch::support
