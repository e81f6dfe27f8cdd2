// Turns the failure of an MPI call into an Error.
#pragma once

#include <mpi.h>

namespace rnnsearch::comm {

/// Throws Error unless `result` is MPI_SUCCESS. `what` names the call. (clang 14 has no std::source_location; the
/// builtins behind it exist in every compiler we build with.)
void check(int result, const char* what, const char* function = __builtin_FUNCTION(), int line = __builtin_LINE());

}  // namespace rnnsearch::comm
