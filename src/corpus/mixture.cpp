#include "rnnsearch/corpus/mixture.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <tuple>

#include "rnnsearch/base/error.h"
#include "rnnsearch/base/option.h"

namespace rnnsearch::corpus {

std::string difference_of_words(const Corpus& a, const Corpus& b) {
  FirstDifference difference("in " + a.path().string(), "there");
  difference.compare(a.pipeline(), b.pipeline());
  difference.compare("joint-vocabulary", a.joint_vocabulary(), b.joint_vocabulary());
  for (const auto& [side, x, y] : {std::tuple{"source", &a.source_vocabulary(), &b.source_vocabulary()},
                                   {"target", &a.target_vocabulary(), &b.target_vocabulary()}}) {
    const auto [at, there] = std::mismatch(x->words().begin(), x->words().end(), y->words().begin(), y->words().end());
    if (at != x->words().end() && there != y->words().end())
      difference.compare(fmt::format("word {} of the {} vocabulary", at - x->words().begin(), side), *at, *there);
    difference.compare(fmt::format("the size of the {} vocabulary", side), x->size(), y->size());
  }
  return difference.text();
}

std::string other_libraries(const Corpus& a, const Corpus& b) {
  const std::string &in_a = a.pipeline().libraries.text, &in_b = b.pipeline().libraries.text;
  if (in_a == in_b) return "";
  return fmt::format(
      "the text of {} was split into words with {}, that of {} with {}: the same text may be split otherwise; prepare "
      "both with the same version",
      b.path(), in_b, a.path(), in_a);
}

void check_mixture(const Corpus& first, std::span<const MixedCorpus> others) {
  for (const auto& [corpus, weight] : others) {
    const std::string path = corpus->path().string();
    if (!(weight > 0)) throw Error("corpus: {} is mixed in with the weight {:g}, which must be above 0", path, weight);
    if (weight * static_cast<double>(first.train_pairs()) < 0.5)
      throw Error(
          "corpus: {} is mixed in with the weight {:g}, too small for a pair in an epoch of {} pairs of {}; choose a "
          "weight of at least {:g}",
          path, weight, first.train_pairs(), first.path(), 1 / static_cast<double>(first.train_pairs()));
    if (corpus->train_pairs() == 0)
      throw Error("corpus: {} has no training pairs; make it again with rnnsearch prepare", path);
    if (const std::string what = difference_of_words(first, *corpus); !what.empty())
      throw Error(
          "corpus: {0} cannot be mixed into {1}: {2}; prepare it again with the same options and --vocabulary-of {1}",
          path, first.path(), what);
  }
  const Shares counted(first, others);
}

std::string fingerprint_of(const Corpus& first, std::span<const MixedCorpus> others) {
  std::string all = first.fingerprint();
  for (const auto& [corpus, weight] : others) all += " + " + value::write(weight) + " * " + corpus->fingerprint();
  return all;
}

Shares::Shares(const Corpus& first, std::span<const MixedCorpus> others) : ends_{first.train_pairs()} {
  constexpr auto kMost = static_cast<double>(std::numeric_limits<std::uint32_t>::max());
  for (const auto& [corpus, weight] : others) {
    const double pairs = std::max(1.0, std::round(weight * static_cast<double>(first.train_pairs())));
    if (static_cast<double>(ends_.back()) + pairs > kMost)
      throw Error("corpus: an epoch of {} with {} of weight {:g} has more than {} pairs; choose a lower weight",
                  first.path(), corpus->path(), weight, std::numeric_limits<std::uint32_t>::max());
    ends_.push_back(ends_.back() + static_cast<std::uint64_t>(pairs));
  }
}

// The corpora up to k - 1 have floor(x e[k-1] / e[k]) of the first x pairs of those up to k, where e[k] are the pairs
// an epoch of the corpora up to k. This number grows by 0 or 1 with each pair, because e[k-1] <= e[k].
std::vector<std::uint64_t> Shares::among_first(std::uint64_t pairs) const {
  std::vector<std::uint64_t> counts(corpora());
  for (std::size_t k = corpora(); k-- > 1;) {
    const std::uint64_t rest = pairs * ends_[k - 1] / ends_[k];
    counts[k] = pairs - rest;
    pairs = rest;
  }
  counts[0] = pairs;
  return counts;
}

std::size_t Shares::corpus_of(std::uint64_t pair) const {
  for (std::size_t k = corpora(); k-- > 1;) {
    const std::uint64_t rest = pair * ends_[k - 1] / ends_[k];
    if ((pair + 1) * ends_[k - 1] / ends_[k] == rest) return k;
    pair = rest;
  }
  return 0;
}

void FirstDifference::compare(const TextPipeline& a, const TextPipeline& b) {
  compare("source-language", a.source_language, b.source_language);
  compare("target-language", a.target_language, b.target_language);
  compare("tokenizer", a.tokenizer, b.tokenizer);
  compare("normalization", a.normalization, b.normalization);
  compare("lowercase", a.lowercase, b.lowercase);
  compare(a.copies == b.copies, "its copy patterns differ from those " + in_a_);
  compare(a == b, "its subwords differ from those " + in_a_);
}

void FirstDifference::compare(const CleaningOptions& a, const CleaningOptions& b) {
  const auto quoted = [](const std::string& text) { return "'" + text + "'"; };
  compare("max-length", a.max_length, b.max_length);
  compare("max-ratio", a.max_ratio, b.max_ratio);
  compare("keep-empty-targets", a.keep_empty_targets, b.keep_empty_targets);
  compare("drop-copies", a.drop_copies, b.drop_copies);
  compare("drop-repeated", a.drop_repeated, b.drop_repeated);
  compare("drop-unlikely", a.drop_unlikely, b.drop_unlikely);
  compare("source-script", quoted(a.source_script), quoted(b.source_script));
  compare("target-script", quoted(a.target_script), quoted(b.target_script));
  compare("script-share", a.script_share, b.script_share);
}

}  // namespace rnnsearch::corpus
