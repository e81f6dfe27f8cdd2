// What started this process, as the environment says before MPI does.
#pragma once

namespace rnnsearch::cli {

/// Of mpirun, or of a step of SLURM; 1 and 0 if nothing said otherwise.
struct Launched {
  long processes = 1, rank = 0;
};
Launched launched();

}  // namespace rnnsearch::cli
