#include "comm/check.h"

#include <algorithm>
#include <array>
#include <string_view>

#include "rnnsearch/base/error.h"

namespace rnnsearch::comm {
namespace {

int world_rank() {
  int rank = -1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

}  // namespace

void check(int result, const char* what, const char* function, int line) {
  if (result == MPI_SUCCESS) return;
  std::array<char, MPI_MAX_ERROR_STRING> reason{};
  int length = 0;
  MPI_Error_string(result, reason.data(), &length);
  // MPICH describes the call in several lines; an Error is one.
  std::replace(reason.begin(), reason.begin() + length, '\n', ' ');
  throw Error("comm: {} failed on rank {}: {} ({}, line {})", what, world_rank(),
              std::string_view(reason.data(), static_cast<std::size_t>(length)), function, line);
}

}  // namespace rnnsearch::comm
