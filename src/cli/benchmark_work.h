// What `benchmark` times: batches, and updates or translations of them by an untrained model.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include "cli/options/benchmark_options.h"
#include "rnnsearch/comm/communicator.h"
#include "rnnsearch/corpus/batches.h"
#include "rnnsearch/corpus/corpus.h"
#include "rnnsearch/decode/shortlist.h"
#include "rnnsearch/model/model.h"
#include "rnnsearch/site/measurement.h"

namespace rnnsearch::cli {

/// What an untrained model is given: batches as a training takes them from a corpus, or drawn ones.
class Batches {
 public:
  explicit Batches(std::vector<corpus::BatchSlice> drawn) : drawn_(std::move(drawn)) {}
  Batches(std::unique_ptr<const corpus::Corpus> corpus, const corpus::BatchOptions& options,
          const comm::Communicator& communicator, std::uint64_t run)
      : corpus_(std::move(corpus)),
        sequence_(std::in_place, *corpus_, options, communicator.rank(), communicator.size(), run) {
    sequence_->seek({});  // as before a training's first update
  }

  bool of_corpus() const { return sequence_.has_value(); }
  corpus::BatchSlice next() { return sequence_ ? sequence_->next() : drawn_[drawn_index_++]; }
  /// The next batch is the first one again.
  void rewind() {
    if (sequence_) sequence_->seek({});
    drawn_index_ = 0;
  }

 private:
  std::vector<corpus::BatchSlice> drawn_;
  std::size_t drawn_index_ = 0;
  std::unique_ptr<const corpus::Corpus> corpus_;
  std::optional<corpus::BatchSequence> sequence_;  // of `corpus_`
};
/// COLLECTIVE. May set the sizes of the vocabularies.
Batches batches_of(BenchmarkSettings& settings, const comm::Communicator& communicator);

/// The shortlists of --shortlist-frequent and --shortlist-translations; nullptr if both are 0. The vocabularies have
/// their sizes.
std::shared_ptr<const decode::Shortlist> shortlist_of(const BenchmarkSettings& settings);

/// For --latency-sentences, on the first batches. Starts them anew before and after.
site::Latency latency_of(const BenchmarkSettings& settings, Batches& batches, model::Model& model);

/// Makes an update of each batch, or with --decode its translation, and times it. The arguments must outlive what is
/// returned, and the model's parameters change with each update. It is COLLECTIVE and throws AgreedError when the model
/// computes no numbers.
std::function<site::Timed(const corpus::BatchSlice&)> work_of(const BenchmarkSettings& settings,
                                                              const comm::Communicator& communicator,
                                                              model::Model& model);

}  // namespace rnnsearch::cli
