// The options of `prepare`.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "cli/options/ranks.h"
#include "rnnsearch/cli/options.h"
#include "rnnsearch/corpus/prepare.h"

namespace rnnsearch::cli {

struct PrepareSettings {
  corpus::PrepareOptions corpus;
  std::vector<std::string> train_source, train_target, train_tsv, train_alignments, train_weights, tests, copy_patterns;
  std::filesystem::path dev_source, dev_target, both_models, both_codes;
  ThreadOptions threads;
  std::size_t memory = corpus.memory >> 20;  // MiB
  std::filesystem::path json;
};
void declare(Options& options, PrepareSettings& settings);
/// Throws UsageError for options that contradict each other or would have no effect, and for a missing output.
/// Completes settings.corpus from what was given.
void check(const Options& options, PrepareSettings& settings);

}  // namespace rnnsearch::cli
