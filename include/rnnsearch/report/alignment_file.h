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
  std::string label;  // "(a)": what the experiment calls it; may be empty
};

struct AlignmentFile {
  std::filesystem::path path;
  std::string model;  // as it was given to align
  std::string note;   // how the sentences were chosen; may be empty
  std::vector<AlignedSentence> sentences;
};

/// `note`, and each sentence's `label`, may be added to what align wrote.
/// Throws Error, naming the file and the place in it, for what is not JSON, another format or a newer version, and
/// matrices that are not target x source or not from 0 to 1.
AlignmentFile read_alignment(const std::filesystem::path& path);

}  // namespace rnnsearch::report
