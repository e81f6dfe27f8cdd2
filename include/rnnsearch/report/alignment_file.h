// The file of `rnnsearch align --json`: written sentence by sentence, because the matrices of a corpus need not fit
// into memory, and read for the report.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "rnnsearch/base/json.h"
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
/// and the location in it, for invalid JSON, another format, a newer version, and matrices that are not target x source
/// or have values outside of [0, 1].
AlignmentFile read_alignment(const std::filesystem::path& path);

/// The text before the first sentence. Sentences follow, separated by commas, and then alignment_file_end.
std::string alignment_file_begin(const std::string& model);
/// `weights`: [target, source], row-major. Each is written as the shortest number that reads back as this float.
std::string alignment_file_sentence(std::uint64_t line, std::span<const std::string> source,
                                    std::span<const std::string> target, std::span<const float> weights,
                                    double log_probability);
/// `gold`: the scores against links drawn by people; null if there are none.
std::string alignment_file_end(const Json& gold);

}  // namespace rnnsearch::report
