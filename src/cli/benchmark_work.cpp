#include "cli/benchmark_work.h"

#include <algorithm>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "rnnsearch/base/error.h"
#include "rnnsearch/base/file.h"
#include "rnnsearch/base/phases.h"
#include "rnnsearch/base/random.h"
#include "rnnsearch/base/stopwatch.h"
#include "rnnsearch/comm/meet.h"
#include "rnnsearch/corpus/synthetic_batches.h"
#include "rnnsearch/decode/translate.h"
#include "rnnsearch/train/schedule.h"
#include "rnnsearch/train/shared_files.h"
#include "rnnsearch/train/trainer.h"
#include "rnnsearch/train/update.h"

namespace rnnsearch::cli {
namespace {

// COLLECTIVE.
model::ProductFlop sum_of(const model::ProductFlop& own, const comm::Communicator& communicator) {
  double sums[] = {own.encoder, own.decoder, own.readout};
  communicator.all_reduce(std::span<double>(sums));
  return {sums[0], sums[1], sums[2]};
}

/// Updates of an untrained model by the code that trains.
class Updates {
 public:
  Updates(const BenchmarkSettings& s, const comm::Communicator& communicator, model::Model& model)
      : train_(s.train), world_(communicator), model_(model.options()), step_(communicator, model, s.train) {}

  site::Timed run(const corpus::BatchSlice& slice) {
    const double rate = train::learning_rate(train_, {.update = ++update_});
    const Stopwatch watch;
    const auto result = step_.run(
        {slice.source, slice.target, slice.batch_pairs, rate, {}, {}, update_, slice.first_pair, slice.pair_stride});
    const double seconds = watch.seconds();
    if (!result.applied) {
      throw comm::AgreedError(
          fmt::format("the gradient of update {} is not finite, so updates cannot be timed; try a lower learning-rate "
                      "or initial-deviation",
                      update_));
    }
    return {seconds,
            static_cast<double>(slice.batch_target_words),
            result.negative_log_likelihood,
            sum_of(model::update_flop(model_, result.own_batch), world_),
            result.phases,
            result.traffic,
            result.part_seconds};
  }

 private:
  const train::TrainOptions& train_;
  const comm::Communicator& world_;
  const model::ModelOptions& model_;
  train::UpdateStep step_;
  std::uint64_t update_ = 0;
};

// For translations by an untrained model, which ends nothing.
decode::SearchOptions endless(decode::SearchOptions search) {
  search.n_best = 1;
  search.retry_below = 0;
  return search;
}

// All translations get the length that `target_words` have in proportion to sources whose lengths add up to Tx.
void set_lengths(decode::SearchOptions& search, double target_words, double Tx) {
  // A little more, so that the product with Tx does not fall below a whole number.
  search.maximum_length_ratio = (target_words + 1e-6) / Tx;
  search.minimum_length_ratio = search.maximum_length_ratio;
}

/// Translations by an untrained model, all of the length that the targets of a batch have in proportion to its sources.
class Translations {
 public:
  Translations(const BenchmarkSettings& s, const comm::Communicator& communicator, model::Model& model)
      : search_(endless(s.search)), world_(communicator), model_(model) {}

  site::Timed run(const corpus::BatchSlice& slice) {
    set_lengths(search_, static_cast<double>(slice.batch_target_words), site::source_lengths(model_.options(), slice));
    search_.batch_sentences = std::max<std::size_t>(slice.source.size(), 1);
    site::Timed timed;
    PhaseTimes& phases = model_.phases();
    phases.clear();
    const Stopwatch watch;
    const auto translations = decode::translate(model_, slice.source, search_);
    {
      const PhaseTimes::Scope scope(&phases, Phase::kCommunication);
      double sums[] = {0, 0};  // words, translations that are NaN
      for (const auto& best : translations) {
        sums[0] += static_cast<double>(best.front().words.size());
        sums[1] += best.front().is_nan() ? 1 : 0;
      }
      world_.all_reduce(std::span<double>(sums));  // waits for the slowest rank
      timed.target_words = sums[0];
      if (sums[1] > 0) {
        throw comm::AgreedError(
            "the untrained model computes NaN, so translation cannot be timed; try a lower "
            "initial-deviation");
      }
    }
    timed.seconds = watch.seconds();
    timed.phases = phases;
    timed.flop = flop_of(slice.source, translations);
    return timed;
  }

 private:
  // COLLECTIVE. Those of all ranks. In the first step of a search a sentence has one hypothesis, and then as many as
  // the beam is wide.
  model::ProductFlop flop_of(const Sentences& sources,
                             const std::vector<std::vector<decode::Translation>>& translations) {
    model::ModelOptions options = model_.options();
    model::ProductFlop flop;
    std::set<WordId> embedded;  // the sentences are encoded together, and an embedding is multiplied for all of them
    if (options.source_end) embedded.insert(kEnd);
    if (options.source_start) embedded.insert(kStart);
    for (std::size_t b = 0; b < sources.size(); ++b) {
      if (search_.shortlist) options.target_words = search_.shortlist->words_for(sources[b]).size();
      const std::size_t read = options.source_length(sources.length(b)) + (options.source_start ? 1 : 0);
      const auto steps = static_cast<double>(translations[b].front().words.size());
      embedded.insert(sources[b].begin(), sources[b].end());
      flop += model::forward_flop(options, {.pairs = 1,
                                            .source_words = static_cast<double>(read),
                                            .target_words = 1 + (steps - 1) * static_cast<double>(search_.beam),
                                            .source_embeddings = 0});
    }
    flop += model::forward_flop(options, {.source_embeddings = static_cast<double>(embedded.size())});
    return sum_of(flop, world_);
  }

  decode::SearchOptions search_;
  const comm::Communicator& world_;
  model::Model& model_;
};

}  // namespace

Batches batches_of(BenchmarkSettings& s, const comm::Communicator& communicator) {
  const std::uint64_t run = s.decode ? 1 : train::shards_of_rank(s.train, communicator.size());
  if (!s.corpus.empty()) {
    auto corpus = std::make_unique<const corpus::Corpus>(train::open_corpus(s.corpus, communicator));
    s.model.source_words = corpus->source_vocabulary().size();
    s.model.target_words = corpus->target_vocabulary().size();
    return {std::move(corpus), train::batch_options(s.train), communicator, run};
  }
  corpus::SyntheticOptions synthetic;
  synthetic.lengths = {{s.source_length, s.target_length}};
  if (!s.lengths.empty()) {  // the root reads it: the file need not be visible to the other ranks
    const std::string text = comm::at_root(communicator, [&] {
      std::string read = read_text_file(s.lengths);
      corpus::read_pair_lengths(read, s.lengths.string());
      return read;
    });
    synthetic.lengths = corpus::read_pair_lengths(text, s.lengths.string());
  }
  synthetic.source_words = s.model.source_words;
  synthetic.target_words = s.model.target_words;
  synthetic.batch_sentences = s.train.batch_sentences;
  synthetic.pool_batches = s.train.pool_batches;
  synthetic.seed = s.train.seed;
  return Batches(corpus::synthetic_batches(synthetic, s.untimed_updates + s.updates,
                                           static_cast<std::size_t>(communicator.rank()),
                                           static_cast<std::size_t>(communicator.size()), run));
}

std::shared_ptr<const decode::Shortlist> shortlist_of(const BenchmarkSettings& s) {
  if (s.shortlist_frequent + s.shortlist_translations == 0) return nullptr;
  Random random(s.train.seed);
  Sentences translations;
  std::vector<WordId> words(s.shortlist_translations);
  for (std::size_t source = 0; source < s.model.source_words; ++source) {
    for (WordId& word : words) word = static_cast<WordId>(random.below(s.model.target_words));
    translations.add(words);
  }
  return std::make_shared<const decode::Shortlist>(std::move(translations), s.shortlist_frequent, s.model.target_words);
}

site::Latency latency_of(const BenchmarkSettings& s, Batches& batches, model::Model& model) {
  site::Latency latency;
  decode::SearchOptions search = endless(s.search);
  batches.rewind();
  const corpus::BatchSlice first = batches.next();
  corpus::BatchSlice slice = first;
  for (std::uint64_t batch = 0, i = 0; latency.seconds.size() < s.latency_sentences && !first.source.empty(); ++i) {
    if (i >= slice.source.size()) {
      if (++batch % (s.untimed_updates + s.updates) == 0) batches.rewind();  // no more were drawn
      slice = batches.next();
      i = 0;
      if (slice.source.empty()) continue;
    }
    Sentences one;
    one.add(slice.source[i]);
    set_lengths(search, static_cast<double>(slice.target.length(i)),
                static_cast<double>(model.options().source_length(slice.source.length(i))));
    const Stopwatch watch;
    decode::translate(model, one, search);
    latency.seconds.push_back(watch.seconds());
  }
  set_lengths(search, static_cast<double>(first.batch_target_words), site::source_lengths(model.options(), first));
  for (std::size_t together = 1;; together = std::min(2 * together, first.source.size())) {
    search.batch_sentences = together;
    const Stopwatch watch;
    double words = 0;
    for (const auto& best : decode::translate(model, first.source, search)) {
      words += static_cast<double>(best.front().words.size());
    }
    latency.rates.push_back({together, words / watch.seconds()});
    if (together >= first.source.size()) break;
  }
  batches.rewind();
  return latency;
}

std::function<site::Timed(const corpus::BatchSlice&)> work_of(const BenchmarkSettings& s,
                                                              const comm::Communicator& communicator,
                                                              model::Model& model) {
  if (s.decode) {
    return [timed = Translations(s, communicator, model)](const auto& batch) mutable { return timed.run(batch); };
  }
  return [timed = std::make_shared<Updates>(s, communicator, model)](const auto& batch) { return timed->run(batch); };
}

}  // namespace rnnsearch::cli
