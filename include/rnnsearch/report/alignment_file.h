// Reads the output of `rnnsearch align --json` for the report.
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
  std::string label;  // the name of the sentence in the experiment, such as "(a)"; may be empty
};

struct AlignmentFile {
  std::filesystem::path path;
  std::string model;  // as given to align
  std::string note;   // how the sentences were selected; may be empty
  std::vector<AlignedSentence> sentences;
};

/// `note` and the `label` of each sentence may be added by hand to the output of align. Throws Error, naming the file
/// and the place in it, for invalid JSON, another format, a newer version, and matrices that are not target x source or
/// have values outside of [0, 1].
AlignmentFile read_alignment(const std::filesystem::path& path);

}  // namespace rnnsearch::report
