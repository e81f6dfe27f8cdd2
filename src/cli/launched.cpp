#include "cli/launched.h"

#include <algorithm>
#include <cstdlib>

namespace rnnsearch::cli {
namespace {

long number_set(const char* name) {
  const char* const text = std::getenv(name);
  return text ? std::strtol(text, nullptr, 10) : 0;
}

}  // namespace

Launched launched() {
  const bool step = std::getenv("SLURM_STEP_ID") && !std::getenv("OMPI_COMM_WORLD_SIZE");
  return {std::max(1L, number_set(step ? "SLURM_STEP_NUM_TASKS" : "OMPI_COMM_WORLD_SIZE")),
          number_set(step ? "SLURM_PROCID" : "OMPI_COMM_WORLD_RANK")};
}

}  // namespace rnnsearch::cli
