#include "evaluate/resampling.h"

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <type_traits>

#include "rnnsearch/base/ceil_div.h"
#include "rnnsearch/base/parallel.h"
#include "rnnsearch/base/random.h"

namespace rnnsearch::evaluate {
namespace {

using Sums = std::array<std::uint64_t, Counts::kMaxWidth>;

// Calls act(width), where a usual width is a constant, so that the compiler can unroll the loops over a row.
template <std::size_t kWidth>
using Width = std::integral_constant<std::size_t, kWidth>;
void with_width(std::size_t width, const auto& act) {
  switch (width) {
    case 2:
      return act(Width<2>{});  // TER
    case 10:
      return act(Width<10>{});  // BLEU
    case 18:
      return act(Width<18>{});  // chrF
    case 24:
      return act(Width<24>{});  // chrF++
    default:
      return act(width);
  }
}
template <class T>
constexpr std::size_t kLargest = Counts::kMaxWidth;
template <std::size_t kWidth>
constexpr std::size_t kLargest<Width<kWidth>> = kWidth;

// sums = the sum of times[i] * row i
template <class W>
void sum_rows(W width, const std::uint32_t* rows, const std::vector<std::uint32_t>& times, std::uint64_t* into) {
  std::array<std::uint64_t, kLargest<W>> sums{};
  for (std::size_t i = 0; i < times.size(); ++i) {
    const std::uint64_t of_row = times[i];
    for (std::size_t v = 0; v < width; ++v) sums[v] += of_row * rows[i * width + v];
  }
  std::copy_n(sums.begin(), width, into);
}

// The sums of trials: sums[t] += every row whose bit is set in trial t. The sums of the 256 subsets of eight sentences
// are computed once for all trials; each trial then adds one subset instead of eight rows.
constexpr std::size_t kBlock = 8, kSubsets = 256, kBits = 64;

template <class W>
void add_subsets(W width, const std::vector<std::int64_t>& rows, std::vector<Random>& randoms,
                 std::vector<std::int64_t>& sums) {
  constexpr std::size_t kBlocks = kBits / kBlock;
  std::vector<std::array<std::int64_t, kLargest<W>>> subsets(kBlocks * kSubsets);
  const std::size_t count = rows.size() / width;
  for (std::size_t first = 0; first < count; first += kBits) {
    for (std::size_t block = 0; block < kBlocks; ++block) {
      auto* of_block = subsets.data() + block * kSubsets;
      of_block[0].fill(0);
      for (std::size_t bit = 0; bit < kBlock; ++bit) {
        const std::size_t row = first + block * kBlock + bit, without = std::size_t{1} << bit;
        for (std::size_t subset = without; subset < 2 * without; ++subset) {
          for (std::size_t v = 0; v < width; ++v) {
            of_block[subset][v] = of_block[subset - without][v] + (row < count ? rows[row * width + v] : 0);
          }
        }
      }
    }
    for (std::size_t trial = 0; trial < randoms.size(); ++trial) {
      std::uint64_t bits = randoms[trial].next();
      std::int64_t* sum = sums.data() + trial * width;
      for (std::size_t block = 0; block < kBlocks; ++block, bits >>= kBlock) {
        const auto& added = subsets[block * kSubsets + (bits & (kSubsets - 1))];
        for (std::size_t v = 0; v < width; ++v) sum[v] += added[v];
      }
    }
  }
}

std::vector<std::uint32_t> chosen(const Counts& counts, std::span<const std::size_t> sentences) {
  std::vector<std::uint32_t> rows;
  rows.reserve(sentences.size() * counts.width);
  for (const std::size_t i : sentences) {
    const auto row = counts.rows.begin() + static_cast<std::ptrdiff_t>(i * counts.width);
    rows.insert(rows.end(), row, row + static_cast<std::ptrdiff_t>(counts.width));
  }
  return rows;
}

Sums sums_of(const Counts& counts, std::span<const std::size_t> sentences) {
  Sums sums{};
  for (const std::size_t i : sentences) {
    for (std::size_t v = 0; v < counts.width; ++v) sums[v] += counts.rows[i * counts.width + v];
  }
  return sums;
}

}  // namespace

Counts counts_of(std::span<const BleuStatistics> sentences, const BleuOptions& options) {
  Counts counts{"BLEU", 2 * kBleuOrders + 2, {}, {}};
  counts.rows.reserve(sentences.size() * counts.width);
  const auto add = [&](std::uint64_t number) { counts.rows.push_back(static_cast<std::uint32_t>(number)); };
  for (const BleuStatistics& sentence : sentences) {
    std::for_each(sentence.correct.begin(), sentence.correct.end(), add);
    std::for_each(sentence.total.begin(), sentence.total.end(), add);
    add(sentence.hypothesis_length);
    add(sentence.reference_length);
  }
  counts.score = [options](const std::uint64_t* sums) {
    BleuStatistics statistics;
    std::copy_n(sums, kBleuOrders, statistics.correct.begin());
    std::copy_n(sums + kBleuOrders, kBleuOrders, statistics.total.begin());
    statistics.hypothesis_length = sums[2 * kBleuOrders];
    statistics.reference_length = sums[2 * kBleuOrders + 1];
    return bleu_of(statistics, options).score;
  };
  return counts;
}

Counts counts_of(std::span<const ChrfStatistics> sentences, const ChrfOptions& options) {
  const std::size_t orders = kCharacterOrders + options.word_orders;
  Counts counts{options.word_orders > 0 ? "chrF++" : "chrF", 3 * orders, {}, {}};
  counts.rows.reserve(sentences.size() * counts.width);
  for (const ChrfStatistics& sentence : sentences) {
    for (std::size_t n = 0; n < orders; ++n) {
      const auto& order = sentence.orders[n];
      for (const std::uint64_t number : {order.hypothesis, order.reference, order.correct}) {
        counts.rows.push_back(static_cast<std::uint32_t>(number));
      }
    }
  }
  counts.score = [options, orders](const std::uint64_t* sums) {
    ChrfStatistics statistics;
    for (std::size_t n = 0; n < orders; ++n) statistics.orders[n] = {sums[3 * n], sums[3 * n + 1], sums[3 * n + 2]};
    return chrf_of(statistics, options);
  };
  return counts;
}

Counts counts_of(std::span<const TerStatistics> sentences, std::size_t references) {
  // The mean length of the references may not be an integer, but their total length is.
  const auto count = static_cast<double>(references);
  Counts counts{"TER", 2, {}, {}};
  counts.rows.reserve(sentences.size() * counts.width);
  for (const TerStatistics& sentence : sentences) {
    counts.rows.push_back(static_cast<std::uint32_t>(sentence.edits));
    counts.rows.push_back(static_cast<std::uint32_t>(std::llround(sentence.reference_length * count)));
  }
  counts.score = [count](const std::uint64_t* sums) { return ter_of({sums[0], static_cast<double>(sums[1]) / count}); };
  return counts;
}

std::vector<Counts> counts_of(std::span<const SequenceAccuracy> sentences) {
  static constexpr double kUnits = 1e9;  // units of a measure, so that it can be stored as an integer
  // A row holds the measure and 1; the sum of the latter is the number of sequences.
  const auto counts_with = [&](const char* metric, double SequenceAccuracy::*measure) {
    Counts counts{metric, 2, {}, {}};
    counts.rows.reserve(sentences.size() * counts.width);
    for (const SequenceAccuracy& sentence : sentences) {
      counts.rows.push_back(static_cast<std::uint32_t>(std::llround(sentence.*measure * kUnits)));
      counts.rows.push_back(1);
    }
    counts.score = [](const std::uint64_t* sums) {
      if (sums[1] == 0) return 0.0;
      return 100 * (static_cast<double>(sums[0]) / (kUnits * static_cast<double>(sums[1])));
    };
    return counts;
  };
  return {counts_with("PSA", &SequenceAccuracy::psa), counts_with("LCSR", &SequenceAccuracy::lcsr),
          counts_with("GeoMean", &SequenceAccuracy::geometric_mean)};
}

double score_of(const Counts& counts, std::span<const std::size_t> sentences) {
  return counts.score(sums_of(counts, sentences).data());
}

std::vector<std::vector<double>> bootstrap_scores(std::span<const Counts* const> tables,
                                                  std::span<const std::size_t> sentences, std::size_t samples,
                                                  std::uint64_t seed) {
  std::vector<std::vector<std::uint32_t>> rows;
  for (const Counts* table : tables) rows.push_back(chosen(*table, sentences));
  std::vector<std::vector<double>> scores(tables.size(), std::vector<double>(samples));
  parallel_for(samples, [&](std::size_t sample) {
    // Counting the draws first and then reading the rows in their order is several times faster than reading the rows
    // in the order of the draws.
    std::vector<std::uint32_t> times(sentences.size());
    Random random(seed, sample);
    for (std::size_t i = 0; i < sentences.size(); ++i) {
      // A 64-bit fraction times n: its bias is less than n / 2^64, and it needs no division, unlike Random::below.
      using Wide = unsigned __int128;
      ++times[static_cast<std::size_t>(Wide{random.next()} * sentences.size() >> 64)];
    }
    Sums sums;
    for (std::size_t t = 0; t < tables.size(); ++t) {
      with_width(tables[t]->width, [&](auto width) { sum_rows(width, rows[t].data(), times, sums.data()); });
      scores[t][sample] = tables[t]->score(sums.data());
    }
  });
  return scores;
}

std::vector<double> randomized_differences(const Counts& a, const Counts& b, std::span<const std::size_t> sentences,
                                           std::size_t trials, std::uint64_t seed) {
  assert(a.width == b.width);
  const std::size_t width = a.width;
  std::vector<std::int64_t> changes;  // change of the sums of a if the sentence is swapped; those of b change inversely
  changes.reserve(sentences.size() * width);
  for (const std::size_t i : sentences) {
    for (std::size_t v = i * width; v < (i + 1) * width; ++v) {
      changes.push_back(std::int64_t{b.rows[v]} - std::int64_t{a.rows[v]});
    }
  }
  const Sums of_a = sums_of(a, sentences), of_b = sums_of(b, sentences);
  std::vector<double> differences(trials);
  constexpr std::size_t kTrialsPerPiece = 500;  // so many that computing the subsets costs little in comparison
  parallel_for(ceil_div(trials, kTrialsPerPiece), [&](std::size_t piece) {
    const std::size_t begin = piece * kTrialsPerPiece, end = std::min(trials, begin + kTrialsPerPiece);
    std::vector<Random> randoms;
    for (std::size_t trial = begin; trial < end; ++trial) randoms.emplace_back(seed, trial);
    std::vector<std::int64_t> sums((end - begin) * width);
    with_width(width, [&](auto constant) { add_subsets(constant, changes, randoms, sums); });
    for (std::size_t trial = begin; trial < end; ++trial) {
      Sums one{}, other{};
      for (std::size_t v = 0; v < width; ++v) {
        const auto change = static_cast<std::uint64_t>(sums[(trial - begin) * width + v]);  // modulo 2^64
        one[v] = of_a[v] + change;
        other[v] = of_b[v] - change;
      }
      differences[trial] = std::abs(a.score(one.data()) - b.score(other.data()));
    }
  });
  return differences;
}

}  // namespace rnnsearch::evaluate
