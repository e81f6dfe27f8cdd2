// Files that every rank reads for itself: corpora and checkpoints, opened only if all ranks have the same.
#pragma once

#include <filesystem>

#include "rnnsearch/comm/communicator.h"
#include "rnnsearch/corpus/corpus.h"
#include "rnnsearch/train/checkpoint.h"

namespace rnnsearch::train {

/// COLLECTIVE. The root verifies the digest of the whole file. Throws AgreedError on all ranks when one cannot open it
/// or the fingerprints differ, Stopped when a signal came.
corpus::Corpus open_corpus(const std::filesystem::path& path, const comm::Communicator& communicator);

/// COLLECTIVE. A checkpoint as it is; of a run directory the one that the root finds (checkpoint_of), and the next one
/// if a training removes it before all ranks have read it. Throws AgreedError on all ranks when one cannot open it or
/// the contents differ, Stopped when a signal came.
LoadedModel open_model(const std::filesystem::path& run_or_checkpoint, const comm::Communicator& communicator);

}  // namespace rnnsearch::train
