// The mean of the parameters of several checkpoints of one training, which often translates better than the last of
// them (Junczys-Dowmunt, Dwojak and Sennrich 2016).
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

namespace rnnsearch::train {

struct Averaged {
  std::vector<std::string> of;  // the files' names, by falling update
  std::uint64_t update = 0;     // of the newest
  std::uint64_t parameters = 0;
};

/// Writes the mean of /parameters (of moving averages that they may hold there is none), summed in double, as a
/// checkpoint without optimiser and history: it translates, and no training goes on from it. Its attribute average_of
/// names the files and their digests. Memory: the largest parameter, three times. The output is published whole or not
/// at all. Throws Error, in one sentence: for fewer than two checkpoints, for one that is given twice, that is a mean
/// itself or cannot be read, for checkpoints of different trainings (naming what differs), and for an output that
/// stands there, unless it may be overwritten.
Averaged average_checkpoints(std::span<const std::filesystem::path> checkpoints, const std::filesystem::path& output,
                             bool overwrite);

}  // namespace rnnsearch::train
