// What the writers and readers of checkpoints share; the layout is drawn in checkpoint.cpp.
#pragma once

#include <cstdint>
#include <filesystem>

#include "rnnsearch/storage/hdf5.h"
#include "rnnsearch/storage/sealed_file.h"
#include "rnnsearch/train/checkpoint.h"

namespace rnnsearch::train {

inline constexpr const char* kAverageOf = "average_of";  // of "/"; which checkpoints it is the mean of

/// Verifies digest, format and version. Throws Error, in one sentence, for what is no finished checkpoint.
storage::File open_checkpoint(const std::filesystem::path& path, const storage::Poll& poll = {});

/// What a new one begins with: its format, of the first version that can say it, the update that its parameters are of,
/// and the options.
void begin_checkpoint(storage::File& file, const corpus::TextPipeline& pipeline, bool has_average, std::uint64_t update,
                      const Config& config);

/// The options that it was trained with. Throws Error as refuse_outdated.
Config read_config(const storage::File& file);

}  // namespace rnnsearch::train
