// For assertions of functions that must not be called in a parallel loop.
#pragma once

namespace rnnsearch {

/// Whether a piece of parallel_for, at whatever depth, calls this.
bool inside_parallel_for();

}  // namespace rnnsearch
