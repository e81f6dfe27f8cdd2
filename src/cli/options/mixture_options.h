// --mix of train: the corpora that are mixed into that of --corpus.
#pragma once

#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "rnnsearch/cli/options.h"
#include "rnnsearch/comm/communicator.h"
#include "rnnsearch/corpus/corpus.h"
#include "rnnsearch/corpus/mixture.h"

namespace rnnsearch::cli {

/// Declares --mix FILE:WEIGHT in the group at hand.
void add_mixture(Options& options, std::vector<std::string>& mix);

/// The corpus of a FILE:WEIGHT. Throws UsageError for a text that is not that.
std::vector<std::filesystem::path> path_without_weight(const std::string& text);
inline constexpr Path kWeightedFile{.kind = Path::kInputFile, .in = path_without_weight};

/// Throws UsageError for a text that is not FILE:WEIGHT with a weight above 0.
void check_mixture_options(const std::vector<std::string>& mix);

/// The corpora that --mix names.
class Mixture {
 public:
  /// COLLECTIVE. Opens the corpora as train::open_corpus does, and makes the names in `mix` absolute. Throws
  /// AgreedError as corpus::check_mixture does. `first`, the corpus of --corpus, must outlive this object.
  Mixture(std::vector<std::string>& mix, const corpus::Corpus& first, const comm::Communicator& communicator);
  Mixture(const Mixture&) = delete;
  Mixture& operator=(const Mixture&) = delete;

  std::span<const corpus::MixedCorpus> others() const { return others_; }
  /// Whether pairs of some corpus, the first one included, have links.
  bool has_alignments() const;
  /// What to tell the user of each corpus.
  std::vector<std::string> lines() const;

 private:
  const corpus::Corpus& first_;
  std::vector<corpus::Corpus> corpora_;
  std::vector<corpus::MixedCorpus> others_;
};

}  // namespace rnnsearch::cli
