#include "cli/validation.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <numeric>
#include <sstream>
#include <utility>
#include <vector>

#include "rnnsearch/base/error.h"
#include "rnnsearch/decode/translate.h"
#include "rnnsearch/evaluate/bleu.h"
#include "rnnsearch/evaluate/chrf.h"
#include "rnnsearch/evaluate/ter.h"

namespace rnnsearch::cli {
namespace {

class DevSet {
 public:
  DevSet(const corpus::Corpus& corpus, const comm::Communicator& world, const ValidationOptions& options)
      : corpus_(corpus), world_(world), options_(options), set_(corpus.read_set("dev")) {
    if (set_.source.empty())
      throw Error("the dev set holds no sentence pairs; prepare the corpus again with a dev set");
    std::vector<std::uint32_t> order(set_.source.size());
    std::iota(order.begin(), order.end(), 0U);
    std::stable_sort(order.begin(), order.end(),
                     [&](auto a, auto b) { return set_.source.length(a) < set_.source.length(b); });
    const auto ranks = static_cast<std::size_t>(world.size());
    shares_.resize(ranks);
    for (std::size_t i = 0; i < order.size(); ++i) shares_[i % ranks].push_back(order[i]);
  }

  train::ValidationResult validate(model::Model<float>& model, const std::function<bool()>& should_stop,
                                   std::string& translations) const {
    const auto& share = shares_[static_cast<std::size_t>(world_.rank())];
    const std::size_t chunk = options_.validate_sentences;
    double sums[] = {0, 0, 0};  // negative log-likelihood, words, sentences whose translation is NaN
    std::string lines;
    // Rank 0 has the largest share; all ranks make as many turns, for should_stop asks all of them.
    for (std::size_t first = 0; first < shares_.front().size(); first += chunk) {
      if (should_stop()) return {0, 0, true};
      Sentences source, target;
      for (std::size_t i = first; i < std::min(first + chunk, share.size()); ++i) {
        source.add(set_.source[share[i]]);
        target.add(set_.target[share[i]]);
      }
      const model::Loss part = model.loss(source, target);
      sums[0] += part.negative_log_likelihood;
      sums[1] += static_cast<double>(part.words);
      if (options_.validate_bleu) lines += translated(model, source, sums[2]);
    }
    world_.all_reduce(std::span<double>(sums));
    const bool scored = options_.validate_bleu && sums[2] == 0;
    train::ValidationResult result{sums[0] / sums[1], std::nan("")};
    if (scored) score(world_.gather(lines), translations, result);
    return result;
  }

 private:
  /// One line a sentence; adds to `nan` those for which the model computes NaN.
  std::string translated(model::Model<float>& model, const Sentences& source, double& nan) const {
    decode::SearchOptions search;
    search.beam = options_.validate_beam;
    search.retry_below = 0;  // early in a training hardly any hypothesis ends, and retries would take most of its time
    search.batch_sentences = options_.validate_sentences;
    std::string lines;
    for (const auto& best : decode::translate(model, source, search)) {
      if (best.front().is_nan()) ++nan;
      std::vector<std::string> words;
      for (const WordId id : best.front().words) words.push_back(corpus_.target_vocabulary().word_in_text(id));
      lines += corpus_.pipeline().to_text(words) + '\n';
    }
    return lines;
  }

  /// At the root: the scores, and all translations in the order of the dev set.
  void score(const std::vector<std::string>& of_ranks, std::string& translations,
             train::ValidationResult& result) const {
    if (!world_.is_root()) return;
    std::vector<std::string> hypotheses(set_.source.size());
    for (std::size_t rank = 0; rank < of_ranks.size(); ++rank) {
      std::istringstream lines(of_ranks[rank]);
      for (const std::uint32_t sentence : shares_[rank]) std::getline(lines, hypotheses[sentence]);
    }
    for (const auto& line : hypotheses) translations += line + '\n';
    result.bleu = evaluate::corpus_bleu(hypotheses, set_.references, {}).score;
    result.chrf = evaluate::corpus_chrf(hypotheses, set_.references, {});
    if (options_.ter) result.ter = evaluate::corpus_ter(hypotheses, set_.references, {});
  }

  const corpus::Corpus& corpus_;
  const comm::Communicator& world_;
  ValidationOptions options_;
  corpus::EvaluationSet set_;
  std::vector<std::vector<std::uint32_t>> shares_;  // of each rank: sentences of the set
};

}  // namespace

train::Validator make_validator(const corpus::Corpus& corpus, const comm::Communicator& world,
                                const ValidationOptions& options,
                                std::function<void(std::uint64_t update, const std::string& translations)> keep) {
  return [dev = std::make_shared<const DevSet>(corpus, world, options), keep = std::move(keep)](
             model::Model<float>& model, std::uint64_t update, const std::function<bool()>& should_stop) {
    std::string translations;
    const auto result = dev->validate(model, should_stop, translations);
    if (!translations.empty()) keep(update, translations);
    return result;
  };
}

}  // namespace rnnsearch::cli
