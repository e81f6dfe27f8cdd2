// Checkpoint averaging: the mean of the parameters of several checkpoints of one training often translates better than
// the last checkpoint (Junczys-Dowmunt, Dwojak and Sennrich 2016).
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace rnnsearch::train {

struct Averaged {
  std::vector<std::string> checkpoints;  // file names, newest first
  std::uint64_t update = 0;              // update of the newest checkpoint
  std::uint64_t parameters = 0;          // number of parameters averaged
};

/// Writes the mean of /parameters, summed in double, as a checkpoint without optimiser and history: it can translate,
/// but training cannot be resumed from it. Moving averages that the checkpoints may hold are ignored. The attribute
/// average_of of the output names the averaged files and their digests. Memory: three times the largest parameter. The
/// output appears atomically, after it is complete. Throws Error for fewer than two checkpoints, for a checkpoint that
/// is given twice, is itself an average or cannot be read, for checkpoints of different trainings (the message names
/// the difference), with `successive` for checkpoints between which the training wrote others that are gone, and for an
/// existing output unless `overwrite` is set.
Averaged average_checkpoints(std::span<const std::filesystem::path> checkpoints, const std::filesystem::path& output,
                             bool overwrite, bool successive = false);

}  // namespace rnnsearch::train
