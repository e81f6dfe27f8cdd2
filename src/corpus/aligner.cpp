#include "rnnsearch/corpus/aligner.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <limits>
#include <numeric>

#include "rnnsearch/base/parallel.h"
#include "rnnsearch/base/portable.h"

namespace rnnsearch::corpus {
namespace {

constexpr int kIterations = 5;
constexpr double kMostCells = 2e8;                // pairs of words to learn from
constexpr double kNull = 0.08, kSparsity = 0.01;  // p_0 and alpha of fast_align
constexpr double kLeastTension = 0.1, kMostTension = 14;
constexpr float kUnseen = 1e-9F;    // t of words that are no candidates for each other
constexpr float kSmallest = 1e-6F;  // smaller posteriors do not count
constexpr WordId kUnused = std::numeric_limits<WordId>::max();
constexpr std::size_t kPiece = 64;  // pairs that a thread computes at a time

std::uint64_t hash_of(WordId source, WordId target) {
  const std::uint64_t mixed = (std::uint64_t{source} << 32 | target) * 0x9e3779b97f4a7c15;
  return (mixed ^ mixed >> 32) * 0xd6e8feb86659fd93;
}
/// The first slot to look at, in a table whose size minus 1 is `last`. Its bits are not those that choose a partition.
std::size_t first_slot(std::uint64_t hash, std::size_t last) { return static_cast<std::size_t>(hash >> 8) & last; }

/// exp(digamma(x)) for x > 0, with an error below 1e-9 of it.
double exp_digamma(double x) {
  double digamma = 0;
  for (; x < 6; ++x) digamma -= 1 / x;  // digamma(x) = digamma(x + 1) - 1 / x
  const double y = 1 / (x * x);
  digamma += portable::log(x) - 0.5 / x - y * (1.0 / 12 - y * (1.0 / 120 - y / 252));  // asymptotic series
  return portable::exp(digamma);
}

Sentences with_distinct_words(const Sentences& sentences) {
  Sentences distinct;
  std::vector<WordId> words;
  for (std::size_t i = 0; i < sentences.size(); ++i) {
    words.assign(sentences[i].begin(), sentences[i].end());
    std::ranges::sort(words);
    words.erase(std::unique(words.begin(), words.end()), words.end());
    distinct.add(words);
  }
  return distinct;
}

/// In how many sentences each pair of words occurs.
class PairCounts {
 public:
  static constexpr std::uint64_t kNone = ~std::uint64_t{0};
  struct Count {
    std::uint64_t pair = kNone;  // the source word in the upper half
    std::uint64_t sentences = 0;
  };

  void add(WordId source, WordId target) {
    if (used_ * 4 >= counts_.size() * 3) grow();
    Count& count = counts_[slot_of(std::uint64_t{source} << 32 | target)];
    if (count.pair == kNone) ++used_;
    count.pair = std::uint64_t{source} << 32 | target;
    ++count.sentences;
  }
  const std::vector<Count>& counts() const { return counts_; }

 private:
  std::size_t slot_of(std::uint64_t pair) const {
    const std::size_t last = counts_.size() - 1;
    std::size_t slot = first_slot(hash_of(static_cast<WordId>(pair >> 32), static_cast<WordId>(pair)), last);
    while (counts_[slot].pair != kNone && counts_[slot].pair != pair) slot = (slot + 1) & last;
    return slot;
  }
  void grow() {
    const std::vector<Count> before = std::exchange(counts_, std::vector<Count>(counts_.size() * 2));
    for (const Count& count : before)
      if (count.pair != kNone) counts_[slot_of(count.pair)] = count;
  }

  std::vector<Count> counts_ = std::vector<Count>(1 << 12);
  std::size_t used_ = 0;
};

/// exp(-tension |i / m - j / n|) for the words i of a sentence.
class Prior {
 public:
  Prior(double tension, std::size_t m, std::size_t n)
      : tension_(tension), m_(static_cast<double>(m)), n_(static_cast<double>(n)), powers_(m + 1, 1) {
    const double ratio = portable::exp(-tension / m_);
    for (std::size_t i = 1; i <= m; ++i) powers_[i] = powers_[i - 1] * ratio;
  }
  /// For word j, from 1; weights[i - 1] is that of word i.
  void fill(std::size_t j, std::span<double> weights) const {
    const double centre = static_cast<double>(j) * m_ / n_;
    const auto below = static_cast<std::size_t>(centre);  // at most m, as j <= n
    const double at_below = portable::exp(-tension_ * (centre - static_cast<double>(below)) / m_);
    const double above = powers_[1] / at_below;
    for (std::size_t i = 1; i <= below; ++i) weights[i - 1] = at_below * powers_[below - i];
    for (std::size_t i = below + 1; i <= weights.size(); ++i) weights[i - 1] = above * powers_[i - below - 1];
  }

 private:
  double tension_, m_, n_;
  std::vector<double> powers_;  // of exp(-tension / m)
};

constexpr std::size_t kNoWord = ~std::size_t{0};

/// grow-diag-final-and of Och and Ney (2003), section 6, and Koehn et al. (2003): begins with the links of both
/// directions; adds neighbours of its links that one direction has, where one of the two words has no link; then links
/// of one direction between words of which neither has one. best: for each word its word on the other side, or kNoWord.
std::vector<std::uint32_t> symmetrised(const std::vector<std::size_t>& best_source,
                                       const std::vector<std::size_t>& best_target) {
  const std::size_t m = best_target.size(), n = best_source.size();
  const auto is_candidate = [&](std::size_t i, std::size_t j) { return best_source[j] == i || best_target[i] == j; };
  std::vector<std::pair<std::size_t, std::size_t>> links;
  std::vector<bool> linked(m * n), source_linked(m), target_linked(n);
  const auto add = [&](std::size_t i, std::size_t j) {
    linked[i * n + j] = source_linked[i] = target_linked[j] = true;
    links.emplace_back(i, j);
  };
  for (std::size_t j = 0; j < n; ++j)
    if (const std::size_t i = best_source[j]; i != kNoWord && best_target[i] == j) add(i, j);
  for (std::size_t k = 0; k < links.size(); ++k) {
    const auto [i, j] = links[k];
    for (std::size_t a = i - std::min<std::size_t>(i, 1); a < std::min(i + 2, m); ++a)
      for (std::size_t b = j - std::min<std::size_t>(j, 1); b < std::min(j + 2, n); ++b)
        if (is_candidate(a, b) && !linked[a * n + b] && !(source_linked[a] && target_linked[b])) add(a, b);
  }
  for (std::size_t i = 0; i < m; ++i)
    for (std::size_t j = 0; j < n; ++j)
      if (is_candidate(i, j) && !source_linked[i] && !target_linked[j]) add(i, j);
  std::ranges::sort(links);
  std::vector<std::uint32_t> positions;
  for (const auto& [i, j] : links)
    positions.insert(positions.end(), {static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(j)});
  return positions;
}

}  // namespace

/// The expectations of some pairs.
struct Aligner::Expectations {
  struct Count {
    std::uint32_t slot;
    std::array<float, 2> links;
  };
  std::vector<Count> counts;
  std::array<std::vector<std::pair<WordId, float>>, 2> null_counts;
  std::array<double, 2> slope{}, curvature{};
  // of one pair
  std::vector<std::uint32_t> slots;
  std::array<std::vector<float>, 2> posterior;
  std::vector<double> weights;

  void clear() {
    counts.clear();
    for (auto& words : null_counts) words.clear();
    slope = curvature = {};
  }
};

Aligner::Aligner(std::uint64_t pairs, double cells, const Read& read) {
  const auto step = static_cast<std::uint64_t>(std::max(1.0, std::ceil(cells / kMostCells)));
  std::vector<std::uint64_t> blocks;
  for (std::uint64_t first = 0; first < pairs; first += step * kBlock) blocks.push_back(first);
  const auto block = [&](std::uint64_t first) { return read(first, std::min<std::uint64_t>(kBlock, pairs - first)); };
  find_candidates(blocks, block);
  std::vector<Expectations> all;
  for (int iteration = 0; iteration < kIterations; ++iteration) {
    for (const std::uint64_t first : blocks) {
      const Pairs texts = block(first);
      const std::size_t size = texts.source.size();
      all.resize((size + kPiece - 1) / kPiece);
      parallel_for(all.size(), [&](std::size_t piece) {
        all[piece].clear();
        for (std::size_t i = piece * kPiece; i < std::min(size, (piece + 1) * kPiece); ++i)
          expect(texts.source[i], texts.target[i], all[piece]);
      });
      add(all);
    }
    maximise();
  }
}

/// Words are candidates for a link if they occur in the same pairs at least as often as words that are independent of
/// each other, and more than once unless one of them occurs only once.
void Aligner::find_candidates(const std::vector<std::uint64_t>& blocks,
                              const std::function<Pairs(std::uint64_t)>& read) {
  constexpr std::size_t kPartitions = 16;        // by hash; only some are in memory at a time
  std::array<std::vector<double>, 2> sentences;  // that have a word
  double pairs = 0;
  std::vector<std::uint64_t> found;
  const std::size_t together = std::min(kPartitions, thread_count());
  for (std::size_t first = 0; first < kPartitions; first += together) {
    std::vector<PairCounts> counts(std::min(together, kPartitions - first));
    for (const std::uint64_t begin : blocks) {
      const Pairs block = read(begin);
      const std::array distinct{with_distinct_words(block.source), with_distinct_words(block.target)};
      if (first == 0) pairs += static_cast<double>(distinct[0].size());
      for (std::size_t side = 0; side < 2 && first == 0; ++side)
        for (const WordId word : distinct[side].words) {
          if (word >= sentences[side].size()) sentences[side].resize(word + 1);
          ++sentences[side][word];
        }
      parallel_for(counts.size(), [&](std::size_t k) {
        for (std::size_t i = 0; i < distinct[0].size(); ++i)
          for (const WordId source : distinct[0][i])
            for (const WordId target : distinct[1][i])
              if (hash_of(source, target) % kPartitions == first + k) counts[k].add(source, target);
      });
    }
    for (const PairCounts& partition : counts)
      for (const auto& [pair, together_in] : partition.counts()) {
        if (pair == PairCounts::kNone) continue;
        const double source = sentences[0][pair >> 32], target = sentences[1][static_cast<WordId>(pair)];
        const auto count = static_cast<double>(together_in);
        if (count * pairs >= source * target && (count > 1 || std::min(source, target) == 1)) found.push_back(pair);
      }
  }
  const std::size_t size = std::bit_ceil(found.size() * 4 / 3 + 1);
  table_.assign(size, {kUnused, kUnused, {kUnseen, kUnseen}});
  for (const std::uint64_t pair : found) {
    const auto source = static_cast<WordId>(pair >> 32), target = static_cast<WordId>(pair);
    std::size_t slot = first_slot(hash_of(source, target), size - 1);
    while (table_[slot].source != kUnused) slot = (slot + 1) & (size - 1);
    table_[slot] = {source, target, {1, 1}};
  }
  counts_.resize(size);
  for (std::size_t d = 0; d < 2; ++d) {
    frequency_[d] = std::move(sentences[1 - d]);
    const double words = std::accumulate(frequency_[d].begin(), frequency_[d].end(), 0.0);
    for (double& share : frequency_[d]) share /= words;
    null_[d].assign(frequency_[d].size(), 1);
    null_counts_[d].assign(null_[d].size(), 0);
  }
}

/// slots[i * n + j]: the entry of source word i and target word j, or an unused one.
void Aligner::look_up(std::span<const WordId> source, std::span<const WordId> target,
                      std::vector<std::uint32_t>& slots) const {
  const Entry* const table = table_.data();
  const std::size_t last = table_.size() - 1;
  slots.clear();
  for (const WordId s : source)
    for (const WordId t : target) {
      slots.push_back(static_cast<std::uint32_t>(first_slot(hash_of(s, t), last)));
      __builtin_prefetch(table + slots.back());
    }
  auto slot = slots.begin();
  for (const WordId s : source)
    for (const WordId t : target) {
      while (table[*slot].source != kUnused && (table[*slot].source != s || table[*slot].target != t))
        *slot = static_cast<std::uint32_t>((*slot + 1) & last);
      ++slot;
    }
}

void Aligner::expect(std::span<const WordId> source, std::span<const WordId> target, Expectations& out) const {
  const Entry* const table = table_.data();
  const std::size_t m = source.size(), n = target.size();
  if (m == 0 || n == 0) return;
  look_up(source, target, out.slots);
  for (std::size_t d = 0; d < 2; ++d) {
    const auto generated = d == 0 ? target : source;
    const std::size_t others = d == 0 ? m : n, other_step = d == 0 ? n : 1, own_step = d == 0 ? 1 : n;
    const Prior prior(tension_[d], others, generated.size());
    out.weights.resize(others);
    out.posterior[d].resize(m * n);
    for (std::size_t j = 0; j < generated.size(); ++j) {
      prior.fill(j + 1, out.weights);
      const std::uint32_t* const slots = out.slots.data() + j * own_step;
      float* const posterior = out.posterior[d].data() + j * own_step;
      const double place = static_cast<double>(j + 1) / static_cast<double>(generated.size());
      double normaliser = 0, distance = 0, square = 0;  // sums of the prior, and of it times |i / m - j / n|
      double likelihood = 0, likely_distance = 0;       // the same with t
      for (std::size_t i = 0; i < others; ++i) {
        const double weight = out.weights[i], p = weight * table[slots[i * other_step]].t[d];
        const double h = std::abs(static_cast<double>(i + 1) / static_cast<double>(others) - place);
        normaliser += weight;
        distance += weight * h;
        square += weight * h * h;
        likelihood += p;
        likely_distance += p * h;
        posterior[i * other_step] = static_cast<float>(p);
      }
      const double scale = (1 - kNull) / normaliser, null = kNull * null_[d][generated[j]];
      const double all = null + scale * likelihood;
      for (std::size_t i = 0; i < others; ++i) posterior[i * other_step] *= static_cast<float>(scale / all);
      out.null_counts[d].emplace_back(generated[j], static_cast<float>(null / all));
      const double linked = scale * likelihood / all, mean = distance / normaliser;
      out.slope[d] += linked * mean - scale * likely_distance / all;
      out.curvature[d] += linked * (square / normaliser - mean * mean);
    }
  }
  for (std::size_t k = 0; k < m * n; ++k) {
    const std::array links{out.posterior[0][k], out.posterior[1][k]};
    if (links[0] + links[1] > kSmallest && table[out.slots[k]].source != kUnused)
      out.counts.push_back({out.slots[k], links});
  }
}

/// Each thread adds to its share of the table, always in the order of the text.
void Aligner::add(const std::vector<Expectations>& all) {
  const std::size_t shares = thread_count(), size = table_.size();
  parallel_for(shares + 1, [&](std::size_t share) {
    const std::size_t first = size * share / shares, last = size * (share + 1) / shares;
    for (const Expectations& one : all) {
      if (share < shares) {
        for (const auto& [slot, links] : one.counts) {
          if (slot < first || slot >= last) continue;
          for (std::size_t d = 0; d < 2; ++d) counts_[slot][d] += links[d];
        }
        continue;
      }
      for (std::size_t d = 0; d < 2; ++d) {
        for (const auto& [word, count] : one.null_counts[d]) null_counts_[d][word] += count;
        slope_[d] += one.slope[d];
        curvature_[d] += one.curvature[d];
      }
    }
  });
}

/// t by variational Bayes (section 3 of Dyer et al.), and a step of Newton's for the tension.
void Aligner::maximise() {
  const std::size_t size = table_.size();
  struct Total {
    double count = 0, words = 0;
    /// What exp_digamma of a count is divided by.
    double divisor() const { return exp_digamma(count + kSparsity * std::max(words, 1.0)); }
  };
  for (std::size_t d = 0; d < 2; ++d) {
    std::vector<Total> totals(null_[1 - d].size());
    const auto given = [&](std::size_t slot) { return d == 0 ? table_[slot].source : table_[slot].target; };
    for (std::size_t slot = 0; slot < size; ++slot) {
      if (table_[slot].source == kUnused) continue;
      totals[given(slot)].count += counts_[slot][d];
      ++totals[given(slot)].words;
    }
    std::vector<double> divisors;
    for (const Total& total : totals) divisors.push_back(total.divisor());
    constexpr std::size_t kPieces = 256;
    parallel_for(kPieces, [&](std::size_t piece) {
      for (std::size_t slot = size * piece / kPieces; slot < size * (piece + 1) / kPieces; ++slot) {
        if (table_[slot].source == kUnused) continue;
        table_[slot].t[d] = static_cast<float>(exp_digamma(counts_[slot][d] + kSparsity) / divisors[given(slot)]);
        counts_[slot][d] = 0;
      }
    });
    Total null{.words = static_cast<double>(null_[d].size())};
    for (const float count : null_counts_[d]) null.count += count;
    const double divisor = null.divisor();
    for (std::size_t word = 0; word < null_[d].size(); ++word) {
      null_[d][word] = static_cast<float>(exp_digamma(null_counts_[d][word] + kSparsity) / divisor);
      null_counts_[d][word] = 0;
    }
    if (curvature_[d] > 0)
      tension_[d] = std::clamp(tension_[d] + slope_[d] / curvature_[d], kLeastTension, kMostTension);
    slope_[d] = curvature_[d] = 0;
  }
}

Aligner::Links Aligner::links(std::span<const WordId> source, std::span<const WordId> target) const {
  const Entry* const table = table_.data();
  const std::size_t n = target.size();
  if (source.empty() || n == 0) return {};
  std::vector<std::uint32_t> slots;
  look_up(source, target, slots);
  std::array<std::vector<std::size_t>, 2> best;
  std::vector<double> weights;
  double logarithm = 0;
  for (std::size_t d = 0; d < 2; ++d) {
    const auto generated = d == 0 ? target : source;
    weights.resize(d == 0 ? source.size() : n);
    const Prior prior(tension_[d], weights.size(), generated.size());
    for (std::size_t j = 0; j < generated.size(); ++j) {
      prior.fill(j + 1, weights);
      double normaliser = 0;
      for (const double weight : weights) normaliser += weight;
      const bool known = generated[j] < null_[d].size();
      const double null = kNull / (1 - kNull) * normaliser * (known ? null_[d][generated[j]] : kUnseen);
      double most = null, all = null;
      std::size_t& word = best[d].emplace_back(kNoWord);
      for (std::size_t i = 0; i < weights.size(); ++i) {
        const double p = weights[i] * table[slots[d == 0 ? i * n + j : j * n + i]].t[d];
        all += p;
        if (p <= most) continue;
        most = p;
        word = i;
      }
      const double share = known ? frequency_[d][generated[j]] : 0;
      if (share > 0) logarithm += portable::log(all * (1 - kNull) / (normaliser * share));
    }
  }
  return {symmetrised(best[0], best[1]), portable::exp(logarithm / static_cast<double>(source.size() + n))};
}

}  // namespace rnnsearch::corpus
