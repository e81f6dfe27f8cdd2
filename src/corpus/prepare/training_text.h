// The training text of a corpus that is being prepared, and what all passes over it have in common.
#pragma once

#include <cstddef>
#include <filesystem>
#include <functional>

#include "corpus/prepare/pair_cleaner.h"
#include "corpus/prepare/repeated_pairs.h"
#include "corpus/prepare/text_pass.h"
#include "rnnsearch/corpus/prepare.h"
#include "rnnsearch/corpus/text_pipeline.h"

namespace rnnsearch::corpus {

/// All references outlive this.
struct TrainingText {
  const PrepareOptions& options;
  const std::function<void(const PrepareProgress&)>& progress;

  /// The folder of the output, which has room for temporary files, too.
  std::filesystem::path folder() const {
    return options.output.has_parent_path() ? options.output.parent_path() : std::filesystem::path(".");
  }
  /// One pass, see read_text.
  PassTotals read(const PassSteps& steps) const {
    return read_text(options.train, options.line_limit, steps, progress);
  }
};

/// A PassSteps::work: checks, tokenizes and selects pairs [first, last) of the block. Thread-safe. Throws Error for a
/// line that is no valid text, for links that do not fit their pair, and for a line that is no weight.
void split_pairs(const PrepareOptions& options, const PairCleaner& cleaner, const PairSet& repeated,
                 const TextBlock& block, std::size_t first, std::size_t last, Piece& piece);

}  // namespace rnnsearch::corpus
