// Functions shared by the writers and readers of checkpoints. The layout is documented in checkpoint.cpp.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>

#include "rnnsearch/storage/hdf5.h"
#include "rnnsearch/storage/sealed_file.h"
#include "rnnsearch/train/checkpoint.h"

namespace rnnsearch::train {

/// Attribute of "/" that names the checkpoints that were averaged.
inline constexpr const char* kAverageOf = "average_of";

/// Opens a checkpoint after verifying digest, format and version. Throws Error if it is not a finished checkpoint.
storage::File open_checkpoint(const std::filesystem::path& path, const Poll& poll = {});

/// Writes the start of a checkpoint: the format, the update of its parameters, and the options.
void begin_checkpoint(storage::File& file, std::uint64_t update, const Config& config);

/// The options that the checkpoint was trained with.
Config read_config(const storage::File& file);

/// The value of an option in them; "(unknown)" if they lack it.
inline std::string value_in(const Config& config, const std::string& name) {
  const auto found = config.find(name);
  return found == config.end() ? "(unknown)" : found->second;
}

/// Reads an accumulator of the optimizer, such as "squared_gradient", into a block of this layout. Throws Error if a
/// dataset is missing, has another shape or holds a NaN.
void read_accumulator(const storage::File& file, const std::string& name, const model::ParameterLayout& layout,
                      std::span<float> block);

}  // namespace rnnsearch::train
