#include "rnnsearch/evaluate/bleu.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <utility>

#include "evaluate/ngrams.h"
#include "rnnsearch/base/error.h"
#include "rnnsearch/base/version.h"
#include "rnnsearch/text/unicode.h"

namespace rnnsearch::evaluate {
namespace {

std::string tokenized(std::string_view line, const BleuOptions& options) {
  if (!options.lowercase) return text::tokenize_for_bleu(text::strip_right(line), options.tokenizer);
  return text::tokenize_for_bleu(text::strip_right(text::lowercase(line)), options.tokenizer);
}

double smooth_value(const BleuOptions& options) {
  return options.smooth_value.value_or(options.smoothing == Smoothing::kAddK ? 1.0 : 0.1);
}

double distance(std::uint64_t a, std::uint64_t b) {
  return std::abs(static_cast<double>(a) - static_cast<double>(b));
}

}  // namespace

BleuStatistics sentence_statistics(std::string_view hypothesis, std::span<const std::string_view> references,
                                   const BleuOptions& options) {
  assert(!references.empty());
  const std::size_t texts = 1 + references.size();
  std::vector<std::string> lines;
  lines.push_back(tokenized(hypothesis, options));
  for (const std::string_view reference : references) lines.push_back(tokenized(reference, options));

  const auto [word_ids, matches] = identify_words(lines);
  std::vector<std::size_t> lengths;
  for (const auto& of_text : word_ids) lengths.push_back(of_text.size());

  BleuStatistics statistics;
  statistics.hypothesis_length = lengths[0];
  statistics.reference_length = *std::min_element(lengths.begin() + 1, lengths.end(), [&](auto a, auto b) {
    return std::pair(distance(a, lengths[0]), a) < std::pair(distance(b, lengths[0]), b);
  });
  statistics.correct[0] = matches;
  statistics.total[0] = lengths[0];

  // An n-gram is represented by the id of the (n-1)-gram at its position and its last word. This is exact, unlike a
  // hash.
  std::vector<std::vector<std::uint64_t>> ids = word_ids;
  std::vector<Ngram<std::pair<std::uint64_t, std::uint64_t>>> ngrams;
  for (std::size_t n = 2; n <= kBleuOrders; ++n) {
    ngrams.clear();
    for (std::uint32_t t = 0; t < texts; ++t) {
      for (std::size_t i = 0; i + n <= lengths[t]; ++i) ngrams.push_back({{ids[t][i], word_ids[t][i + n - 1]}, t, i});
    }
    statistics.correct[n - 1] = identify(ngrams, texts, ids);
    statistics.total[n - 1] = lengths[0] >= n ? lengths[0] - n + 1 : 0;
  }
  return statistics;
}

Bleu bleu_of(const BleuStatistics& statistics, const BleuOptions& options) {
  Bleu bleu;
  bleu.statistics = statistics;
  const auto hypothesis_length = static_cast<double>(statistics.hypothesis_length);
  const auto reference_length = static_cast<double>(statistics.reference_length);
  bleu.ratio = reference_length > 0 ? hypothesis_length / reference_length : 0;
  bleu.brevity_penalty = 1;
  if (hypothesis_length < reference_length) {
    bleu.brevity_penalty = hypothesis_length > 0 ? std::exp(1 - reference_length / hypothesis_length) : 0;
  }
  if (std::all_of(statistics.correct.begin(), statistics.correct.end(), [](auto c) { return c == 0; })) return bleu;

  double unmatched = 1;  // 2^k after k orders without a match
  std::size_t orders = kBleuOrders;
  for (std::size_t n = 0; n < kBleuOrders; ++n) {
    const double added = options.smoothing == Smoothing::kAddK && n > 0 ? smooth_value(options) : 0;
    const double correct = static_cast<double>(statistics.correct[n]) + added;
    const double total = static_cast<double>(statistics.total[n]) + added;
    if (total == 0) break;
    if (options.effective_order) orders = n + 1;
    if (correct != 0) {
      bleu.precisions[n] = 100 * correct / total;
    } else if (options.smoothing == Smoothing::kExp) {
      unmatched *= 2;
      bleu.precisions[n] = 100 / (unmatched * total);
    } else if (options.smoothing == Smoothing::kFloor) {
      bleu.precisions[n] = 100 * smooth_value(options) / total;
    }
  }
  double log_sum = 0;
  for (std::size_t n = 0; n < orders; ++n)
    log_sum += std::log(bleu.precisions[n]);  // log 0: -infinity, so a score of 0
  bleu.score = bleu.brevity_penalty * std::exp(log_sum / static_cast<double>(orders));
  return bleu;
}

std::size_t word_count(std::string_view line, const BleuOptions& options) {
  return text::split_views(tokenized(line, options)).size();
}

std::string signature_head(std::size_t references, const std::optional<Bootstrap>& bootstrap) {
  return fmt::format("nrefs:{}{}", references,
                     bootstrap ? fmt::format("|bs:{}|seed:{}", bootstrap->samples, bootstrap->seed) : "");
}

std::string signature(const BleuOptions& options, std::size_t references, const std::optional<Bootstrap>& bootstrap) {
  std::string smooth = name_of(options.smoothing);
  if (options.smoothing == Smoothing::kFloor || options.smoothing == Smoothing::kAddK) {
    smooth = fmt::format("{}[{:.2f}]", smooth, smooth_value(options));
  }
  return fmt::format("{}|case:{}|eff:{}|tok:{}|smooth:{}|version:rnnsearch-{}", signature_head(references, bootstrap),
                     options.lowercase ? "lc" : "mixed", options.effective_order ? "yes" : "no",
                     text::name_of(options.tokenizer), smooth, kVersion);
}

}  // namespace rnnsearch::evaluate
