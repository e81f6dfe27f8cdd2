// The options of `benchmark`.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "cli/options/ranks.h"
#include "cli/options/training_options.h"
#include "rnnsearch/cli/options.h"
#include "rnnsearch/decode/translate.h"

namespace rnnsearch::cli {

struct BenchmarkSettings : TrainingSettings {
  BenchmarkSettings() {
    model.source_words = model.target_words = 30000;
    train.resume = "never";
  }

  std::size_t updates = 10, untimed_updates = 2;
  std::optional<std::uint64_t> estimate_updates;
  std::filesystem::path lengths, corpus;
  std::vector<std::string> mix;  // ignored
  std::size_t source_length = 25, target_length = 25;
  bool decode = false, machine = true;
  decode::SearchOptions search;
  std::uint64_t latency_sentences = 0;
  std::size_t shortlist_frequent = 0, shortlist_translations = 0;  // both 0: no shortlists
  std::filesystem::path json;
  std::optional<std::vector<std::uint64_t>> thread_counts;  // of each rank, ascending after `check`, none twice
  ThreadOptions threads;                                    // the number at hand, and what holds for all
  std::string precision;
};
void declare(Options& options, BenchmarkSettings& settings);
/// Throws UsageError for options that contradict each other. Sorts thread_counts.
void check(const Options& options, BenchmarkSettings& settings);

}  // namespace rnnsearch::cli
