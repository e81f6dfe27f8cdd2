#include "evaluate/resampling.h"

#include <numbers>
#include <numeric>

#include "rnnsearch/base/parallel.h"
#include "rnnsearch/base/portable.h"

namespace rnnsearch::evaluate {
namespace {

using Sums = std::array<std::uint64_t, Counts::kMaxWidth>;

// Calls act(width), where a usual width is a constant, so that the compiler can unroll the loops over a row.
template <std::size_t kWidth>
using Width = std::integral_constant<std::size_t, kWidth>;
void with_width(std::size_t width, const auto& act) {
  const auto is = [&]<std::size_t kWidth>(Width<kWidth> usual) { return width == kWidth && (act(usual), true); };
  // TER, sequence accuracy, BLEU, chrF, chrF++
  if (is(Width<2>{}) || is(Width<4>{}) || is(Width<10>{}) || is(Width<18>{}) || is(Width<24>{})) return;
  act(width);
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
          for (std::size_t v = 0; v < width; ++v)
            of_block[subset][v] = of_block[subset - without][v] + (row < count ? rows[row * width + v] : 0);
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
  for (const std::size_t i : sentences) rows.insert(rows.end(), counts.row(i), counts.row(i) + counts.width);
  return rows;
}

}  // namespace

Sums sums_of(const Counts& counts, std::span<const std::size_t> sentences) {
  Sums sums{};
  for (const std::size_t i : sentences) {
    for (std::size_t v = 0; v < counts.width; ++v) sums[v] += counts.row(i)[v];
  }
  return sums;
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
    for (std::size_t v = 0; v < width; ++v) changes.push_back(std::int64_t{b.row(i)[v]} - std::int64_t{a.row(i)[v]});
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

namespace {

// P(|T| <= t): Abramowitz and Stegun 26.7.3 and 26.7.4, finite sums in theta = atan(t / sqrt(n)).
double within_of(double t, std::size_t n) {
  const double theta = std::atan(t / std::sqrt(static_cast<double>(n)));
  const double sine = std::sin(theta), cosine = std::cos(theta);
  double term = n % 2 == 1 ? cosine : 1, sum = 0;
  for (std::size_t k = n % 2 == 1 ? 1 : 0; k + 2 <= n; k += 2) {
    sum += term;
    const auto next = static_cast<double>(k);
    term *= cosine * cosine * (next + 1) / (next + 2);
  }
  return n % 2 == 1 ? 2 / std::numbers::pi * (theta + sine * sum) : sine * sum;
}

}  // namespace

std::string description_of(SignificanceTest test, std::size_t samples, std::uint64_t seed) {
  const bool bootstrap = test == SignificanceTest::kBootstrap;
  return fmt::format("{}{}{}, seed {}",
                     bootstrap ? "paired bootstrap resampling, " : "paired approximate randomization, ", samples,
                     bootstrap ? " samples" : " trials", seed);
}

double p_value(std::span<const double> values, double difference) {
  const auto reached = std::ranges::count_if(values, [&](double v) { return v >= std::abs(difference); });
  return (static_cast<double>(reached) + 1) / (static_cast<double>(values.size()) + 1);
}

double paired_bootstrap_p(std::span<const double> baseline, std::span<const double> system, double difference) {
  assert(baseline.size() == system.size());
  std::vector<double> values(system.size());
  for (std::size_t s = 0; s < values.size(); ++s) values[s] = std::abs(system[s] - baseline[s]);
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size());
  for (double& value : values) value -= mean;
  return p_value(values, difference);
}

double student_t(double within, std::size_t degrees_of_freedom) {
  assert(within > 0 && within < 1 && degrees_of_freedom >= 1);
  double low = 0, high = 1;
  while (within_of(high, degrees_of_freedom) < within) high *= 2;
  for (int i = 0; i < 200 && low < high; ++i) {
    const double middle = (low + high) / 2;
    (within_of(middle, degrees_of_freedom) < within ? low : high) = middle;
  }
  return (low + high) / 2;
}

RoundMean mean_over_rounds(std::span<const double> scores) {
  assert(!scores.empty());
  RoundMean result{scores.size(), 0, *std::ranges::min_element(scores), *std::ranges::max_element(scores),
                   std::numeric_limits<double>::infinity()};
  const auto n = static_cast<double>(scores.size());
  result.mean = std::accumulate(scores.begin(), scores.end(), 0.0) / n;
  if (scores.size() == 1) return result;
  double squares = 0;
  for (const double score : scores) squares += (score - result.mean) * (score - result.mean);
  result.half_width = student_t(0.95, scores.size() - 1) * std::sqrt(squares / (n - 1) / n);
  return result;
}

}  // namespace rnnsearch::evaluate
