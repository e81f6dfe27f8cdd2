// Reads the output of `rnnsearch evaluate --json` for the report.
#pragma once

#include <filesystem>
#include <vector>

#include "rnnsearch/evaluate/evaluation.h"

namespace rnnsearch::report {

using evaluate::BucketScore;
using evaluate::MetricScore;
using evaluate::SentenceEvaluation;
using evaluate::SystemEvaluation;

struct EvaluationFile : evaluate::Evaluation {
  std::filesystem::path path;
};

/// Throws Error, naming the file and the location in it, for invalid JSON, another format, a newer version, and members
/// that are missing, of the wrong type or out of range.
EvaluationFile read_evaluation(const std::filesystem::path& path);

/// Merges files with the same set, references, buckets and numbers of sentences into one with the systems side by side.
/// The others stay separate, in the order given, and so do files with sequence accuracy of whole outputs and files with
/// that of cut outputs. If two systems have the same name, the name of the file is added. Throws Error if the names are
/// still equal.
std::vector<EvaluationFile> merged(std::vector<EvaluationFile> files);

/// Throws Error if two of these differ in set, references, buckets, numbers of sentences, or in whether outputs were
/// cut for sequence accuracy.
void check_same_test(const std::vector<EvaluationFile>& rounds);

}  // namespace rnnsearch::report
