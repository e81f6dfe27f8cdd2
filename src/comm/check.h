// The result of a call of MPI, made an Error when it is none.
#pragma once

#include <mpi.h>

namespace rnnsearch::comm {

// clang 14 has no std::source_location; the builtins behind it exist in every compiler we build with.
void check(int result, const char* what, const char* function = __builtin_FUNCTION(), int line = __builtin_LINE());

}  // namespace rnnsearch::comm
