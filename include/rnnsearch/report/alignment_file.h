// What `rnnsearch align --json` wrote, as the report reads it.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "rnnsearch/report/heat_map.h"

namespace rnnsearch::report {

struct AlignedSentence {
  std::uint64_t line = 0;  // from 1
  AttentionMatrix alignment;
  double log_probability = 0;
};

struct AlignmentFile {
  std::filesystem::path path;
  std::string model;  // as it was given to align
  std::vector<AlignedSentence> sentences;
};

/// Throws Error, naming the file and the place in it, for what is not JSON, another format or a newer version, and
/// matrices that are not target x source or not from 0 to 1.
AlignmentFile read_alignment(const std::filesystem::path& path);

}  // namespace rnnsearch::report
