// Turns the failure of an MPI call into an Error.
#pragma once

#include <mpi.h>

#include <algorithm>
#include <array>
#include <string_view>

#include "rnnsearch/base/error.h"

namespace rnnsearch::comm {

/// Throws Error unless `result` is MPI_SUCCESS. `what` names the call. (clang 14 has no std::source_location; the
/// builtins behind it exist in every compiler we build with.)
inline void check(int result, const char* what, const char* function = __builtin_FUNCTION(),
                  int line = __builtin_LINE()) {
  if (result == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> reason{};
  int length = 0, rank = -1;
  MPI_Error_string(result, reason.data(), &length);
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  // MPICH describes the call in several lines; an Error is one.
  std::replace(reason.begin(), reason.begin() + length, '\n', ' ');
  throw Error("comm: {} failed on rank {}: {} ({}, line {})", what, rank,
              std::string_view(reason.data(), static_cast<std::size_t>(length)), function, line);
}

}  // namespace rnnsearch::comm
