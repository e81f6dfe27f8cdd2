#include "rnnsearch/corpus/aligner.h"

#include <algorithm>
#include <cmath>
#include <deque>
#include <limits>
#include <numeric>

#include "rnnsearch/base/parallel.h"
#include "rnnsearch/base/portable.h"

namespace rnnsearch::corpus {
namespace {

constexpr int kIterations = 5;
constexpr double kMostCells = 1.5e8;              // pairs of words to learn from
constexpr std::size_t kMostOfPair = 1 << 20;      // pairs of words of sentences that get links
constexpr std::size_t kMostTogether = 1 << 23;    // pairs of words whose expectations are in memory together
constexpr double kNull = 0.08, kSparsity = 0.01;  // p_0 and alpha of fast_align
constexpr double kLeastTension = 0.1, kMostTension = 14;
constexpr float kUnseen = 1e-9F;    // t of words that are no candidates for each other, and the least of those that are
constexpr float kSmallest = 1e-6F;  // smaller posteriors do not count
constexpr WordId kUnused = std::numeric_limits<WordId>::max();
constexpr std::uint32_t kNoSlot = std::numeric_limits<std::uint32_t>::max();
constexpr std::size_t kPiece = 64;  // pairs that a thread computes at a time

std::uint32_t hash_of(WordId word) { return word * 0x9e3779b9U; }  // multiplicative: Knuth, volume 3, section 6.4

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
  struct Count {
    WordId source = kUnused, target = kUnused;
    std::uint32_t sentences = 0;
  };

  void add(WordId source, WordId target) {
    if (used_ * 4 >= counts_.size() * 3) grow();
    Count& count = counts_[slot_of(source, target)];
    if (count.sentences == 0) ++used_;
    count = {source, target, count.sentences + 1};
  }
  const std::vector<Count>& counts() const { return counts_; }

 private:
  std::size_t slot_of(WordId source, WordId target) const {
    const std::size_t last = counts_.size() - 1;
    const std::uint64_t pair = std::uint64_t{source} << 32 | target;
    std::size_t slot = (pair ^ pair >> 32) * 0x9e3779b97f4a7c15 >> 32 & last;
    const auto is_other = [&](const Count& count) {
      return count.sentences > 0 && (count.source != source || count.target != target);
    };
    while (is_other(counts_[slot])) slot = (slot + 1) & last;
    return slot;
  }
  void grow() {
    const std::vector<Count> before = std::exchange(counts_, std::vector<Count>(counts_.size() * 2));
    for (const Count& count : before)
      if (count.sentences > 0) counts_[slot_of(count.source, count.target)] = count;
  }

  std::vector<Count> counts_ = std::vector<Count>(1 << 12);
  std::size_t used_ = 0;
};

/// exp(-tension h) for the words i of a sentence, where h = |i / m - j / n|.
class Prior {
 public:
  Prior(double tension, std::size_t m, std::size_t n)
      : m_(m),
        n_(n),
        of_words_(powers(tension / static_cast<double>(m), m + 1)),
        of_parts_(powers(tension / static_cast<double>(m * n), n)),
        sums_(m + 1) {
    for (std::size_t words = 0; words < m; ++words) {
      const auto k = static_cast<double>(words);
      for (const std::size_t power : {0, 1, 2})
        sums_[words + 1][power] = sums_[words][power] + of_words_[words] * std::array{1.0, k, k * k}[power];
    }
  }

  /// Over the words i.
  struct Sums {
    double prior = 0, distance = 0, square = 0;  // of the prior, and of it times h and h^2
    double likelihood = 0, likely_distance = 0;  // of the prior times t, and of this times h
  };
  /// For word j, from 1: multiplies t[i - 1] by the prior of word i.
  Sums multiply(std::size_t j, std::span<float> t) const {
    Sums sums;
    const auto m = static_cast<double>(m_);
    // On either side of j / n there are `words` words. The nearest one has h = nearest / m and this prior, and word(k) is
    // the t of the word that is k words farther.
    const auto side = [&](double nearest, double prior, std::size_t words, const auto& word) {
      const auto& [zeroth, first, second] = sums_[words];
      sums.prior += prior * zeroth;
      sums.distance += prior * (first + nearest * zeroth) / m;
      sums.square += prior * (second + nearest * (2 * first + nearest * zeroth)) / (m * m);
      double likelihood = 0, farther = 0;
      for (std::size_t k = 0; k < words; ++k) {
        const double p = prior * of_words_[k] * word(k);
        likelihood += p;
        farther += p * static_cast<double>(k);
        word(k) = static_cast<float>(p);
      }
      sums.likelihood += likelihood;
      sums.likely_distance += (farther + nearest * likelihood) / m;
    };
    const std::size_t below = j * m_ / n_, part = j * m_ % n_;  // below: at most m, as j <= n
    const double nearest = static_cast<double>(part) / static_cast<double>(n_);
    side(nearest, of_parts_[part], below, [&](std::size_t k) -> float& { return t[below - 1 - k]; });
    side(1 - nearest, of_words_[1] / of_parts_[part], m_ - below,
         [&](std::size_t k) -> float& { return t[below + k]; });
    return sums;
  }

 private:
  /// exp(-step k) for k < count.
  static std::vector<double> powers(double step, std::size_t count) {
    std::vector<double> powers(count, 1);
    const double ratio = portable::exp(-step);
    for (std::size_t k = 1; k < count; ++k) powers[k] = powers[k - 1] * ratio;
    return powers;
  }

  std::size_t m_, n_;
  std::vector<double> of_words_, of_parts_;  // of_words_[k]: of h = k / m; of_parts_[k]: of h = k / m / n
  std::vector<std::array<double, 3>> sums_;  // [count][power]: of k^power of_words_[k] over k < count
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

const Aligner::Entry Aligner::kUnusedEntry{kUnused, {kUnseen, kUnseen}};

bool Aligner::has_links(std::span<const WordId> source, std::span<const WordId> target) {
  return !source.empty() && !target.empty() && source.size() <= kMostOfPair / target.size();
}

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
  Cells cells;
};

Aligner::Aligner(std::uint64_t pairs, double cells, const Read& read) {
  std::vector<std::uint64_t> blocks;
  for (std::uint64_t first = 0; first < pairs; first += kBlock) blocks.push_back(first);
  const auto most = static_cast<std::uint64_t>(std::ceil(std::min(1.0, kMostCells / cells) * double{kBlock}));
  const auto block = [&](std::uint64_t first) {
    const Pairs texts = read(first, std::min(most, pairs - first));
    Pairs linked;
    for (std::size_t i = 0; i < texts.source.size(); ++i) {
      if (!has_links(texts.source[i], texts.target[i])) continue;
      linked.source.add(texts.source[i]);
      linked.target.add(texts.target[i]);
    }
    return linked;
  };
  find_candidates(blocks, block);
  std::vector<Expectations> all;
  for (int iteration = 0; iteration < kIterations; ++iteration) {
    for (const std::uint64_t first : blocks) {
      const Pairs texts = block(first);
      for (std::size_t begin = 0, end = 0; begin < texts.source.size(); begin = end) {
        for (std::size_t together = 0; end < texts.source.size() && together < kMostTogether; ++end)
          together += texts.source.length(end) * texts.target.length(end);
        all.resize(ceil_div(end - begin, kPiece));
        parallel_for(all.size(), [&](std::size_t piece) {
          all[piece] = {};  // or the memory of long sentences would stay
          for (std::size_t i = begin + piece * kPiece; i < std::min(end, begin + (piece + 1) * kPiece); ++i)
            expect(texts.source[i], texts.target[i], all[piece]);
        });
        add(all);
      }
    }
    maximise();
  }
}

/// Words are candidates for a link if they occur in the same pairs at least as often as words that are independent of
/// each other, and more than once unless one of them occurs only once.
void Aligner::find_candidates(const std::vector<std::uint64_t>& blocks,
                              const std::function<Pairs(std::uint64_t)>& read) {
  constexpr std::size_t kPartitions = 16;        // by source word; only some are in memory at a time
  std::array<std::vector<double>, 2> sentences;  // that have a word
  double pairs = 0;
  std::deque<std::pair<WordId, WordId>> found;  // source and target words
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
          for (const WordId source : distinct[0][i]) {
            if (std::uint64_t{hash_of(source)} * kPartitions >> 32 != first + k) continue;
            for (const WordId target : distinct[1][i]) counts[k].add(source, target);
          }
      });
    }
    for (const PairCounts& partition : counts)
      for (const auto& [source, target, together_in] : partition.counts()) {
        const double count = together_in;
        if (count == 0) continue;
        const double of_source = sentences[0][source], of_target = sentences[1][target];
        if (count * pairs >= of_source * of_target && (count > 1 || std::min(of_source, of_target) == 1))
          found.emplace_back(source, target);
      }
  }
  for (std::size_t d = 0; d < 2; ++d) {
    frequency_[d] = std::move(sentences[1 - d]);
    const double words = std::accumulate(frequency_[d].begin(), frequency_[d].end(), 0.0);
    for (double& share : frequency_[d]) share /= words;
    null_[d].assign(frequency_[d].size(), 1);
    null_counts_[d].assign(null_[d].size(), 0);
    candidates_[1 - d].resize(null_[d].size());
  }
  rows_.assign(null_[1].size() + 1, {});
  for (const auto& [source, target] : found) {
    ++candidates_[0][source];
    ++candidates_[1][target];
    ++rows_[source].size;
  }
  std::uint32_t size = 0;
  for (Row& row : rows_) {
    row.first = size;
    row.size += row.size / 2 + 1;  // so that every row has an unused entry
    size += row.size;
  }
  table_.assign(size, kUnusedEntry);
  for (const auto& [source, target] : found) table_[find(rows_[source], target)] = {target, {1, 1}};
  counts_.assign(size, {});
}

std::uint32_t Aligner::Row::first_slot(WordId target) const {
  return first + static_cast<std::uint32_t>(std::uint64_t{hash_of(target)} * size >> 32);
}

std::uint32_t Aligner::find(Row row, WordId target) const {
  std::uint32_t slot = row.first_slot(target);
  while (table_[slot].target != kUnused && table_[slot].target != target)
    if (++slot == row.first + row.size) slot = row.first;
  return slot;
}

void Aligner::look_up(std::span<const WordId> source, std::span<const WordId> target, Cells& cells) const {
  const std::size_t m = source.size(), n = target.size();
  cells.slots.resize(m * n);
  for (auto& t : cells.t) t.resize(m * n);
  const auto row_of = [&](std::size_t i) { return rows_[std::min<std::size_t>(source[i], rows_.size() - 1)]; };
  const auto fetch = [&](std::size_t i) {
    const Row row = row_of(i);
    for (const WordId word : target) __builtin_prefetch(&table_[row.first_slot(word)]);
  };
  fetch(0);
  for (std::size_t i = 0; i < m; ++i) {
    if (i + 1 < m) fetch(i + 1);
    const Row row = row_of(i);
    for (std::size_t j = 0; j < n; ++j) {
      const std::uint32_t slot = find(row, target[j]);
      const Entry& entry = table_[slot];
      cells.slots[i * n + j] = entry.target == kUnused ? kNoSlot : slot;
      cells.t[0][j * m + i] = entry.t[0];
      cells.t[1][i * n + j] = entry.t[1];
    }
  }
}

void Aligner::expect(std::span<const WordId> source, std::span<const WordId> target, Expectations& out) const {
  const std::size_t m = source.size(), n = target.size();
  look_up(source, target, out.cells);
  for (std::size_t d = 0; d < 2; ++d) {
    const auto generated = d == 0 ? target : source;
    const std::size_t others = d == 0 ? m : n;
    const Prior prior(tension_[d], others, generated.size());
    for (std::size_t j = 0; j < generated.size(); ++j) {
      const std::span t(out.cells.t[d].data() + j * others, others);  // becomes the posterior
      const Prior::Sums sums = prior.multiply(j + 1, t);
      const double scale = (1 - kNull) / sums.prior, null = kNull * null_[d][generated[j]];
      const double all = null + scale * sums.likelihood;
      for (float& posterior : t) posterior *= static_cast<float>(scale / all);
      out.null_counts[d].emplace_back(generated[j], static_cast<float>(null / all));
      const double linked = scale * sums.likelihood / all, mean = sums.distance / sums.prior;
      out.slope[d] += linked * mean - scale * sums.likely_distance / all;
      out.curvature[d] += linked * (sums.square / sums.prior - mean * mean);
    }
  }
  for (std::size_t i = 0; i < m; ++i) {
    const float* const to_target = out.cells.t[0].data() + i;
    const float* const to_source = out.cells.t[1].data() + i * n;
    const std::uint32_t* const slots = out.cells.slots.data() + i * n;
    for (std::size_t j = 0; j < n; ++j) {
      const std::array links{to_target[j * m], to_source[j]};
      if (links[0] + links[1] > kSmallest && slots[j] != kNoSlot) out.counts.push_back({slots[j], links});
    }
  }
}

/// Each thread adds to its share of the table, always in the order of the text. Shares are many ranges each, because
/// the first words of a vocabulary are the frequent ones.
void Aligner::add(const std::vector<Expectations>& all) {
  const std::size_t shares = thread_count();
  parallel_for(shares + 1, [&](std::size_t share) {
    for (const Expectations& one : all) {
      if (share < shares) {
        for (const auto& [slot, links] : one.counts) {
          if (slot / 1024 % shares != share) continue;
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

/// Drops the candidates whose links are all below kSmallest, which leaves some one in ten in the end, in place. The
/// counts of the others become their t.
void Aligner::drop_candidates() {
  std::vector<Entry> linked;
  std::uint32_t size = 0;
  for (Row& row : rows_) {
    linked.clear();
    for (std::uint32_t slot = row.first; slot < row.first + row.size; ++slot)
      if (const auto& count = counts_[slot]; count[0] + count[1] > 0) linked.push_back({table_[slot].target, count});
    // Half of the entries are unused where that needs no more memory: most words that are searched are not there.
    row = {size, std::min(row.size, static_cast<std::uint32_t>(2 * linked.size() + 1))};
    std::fill_n(table_.begin() + row.first, row.size, kUnusedEntry);
    for (const Entry& entry : linked) table_[find(row, entry.target)] = entry;
    size += row.size;
  }
  table_.resize(size);
  counts_.assign(size, {});
}

/// t by variational Bayes (section 3 of Dyer et al.), and a step of Newton's for the tension.
void Aligner::maximise() {
  drop_candidates();
  const auto for_entries = [&](std::size_t source, const auto& use) {
    for (std::uint32_t slot = rows_[source].first; slot < rows_[source].first + rows_[source].size; ++slot)
      if (Entry& entry = table_[slot]; entry.target != kUnused)
        for (std::size_t d = 0; d < 2; ++d) use(entry.t[d], d, d == 0 ? source : entry.target);
  };
  // Of a word with this count in all and this number of candidates: what exp_digamma of a count is divided by.
  const auto divisor = [](double count, double candidates) {
    return exp_digamma(count + kSparsity * std::max(candidates, 1.0));
  };
  std::array divisors{std::vector<double>(rows_.size()), std::vector<double>(candidates_[1].size())};
  for (std::size_t source = 0; source < rows_.size(); ++source)
    for_entries(source, [&](float count, std::size_t d, std::size_t given) { divisors[d][given] += count; });
  for (std::size_t d = 0; d < 2; ++d) {
    for (std::size_t word = 0; word < candidates_[d].size(); ++word)
      divisors[d][word] = divisor(divisors[d][word], candidates_[d][word]);
    const double null_divisor = divisor(std::accumulate(null_counts_[d].begin(), null_counts_[d].end(), 0.0),
                                        static_cast<double>(null_[d].size()));
    for (std::size_t word = 0; word < null_[d].size(); ++word) {
      null_[d][word] = static_cast<float>(exp_digamma(null_counts_[d][word] + kSparsity) / null_divisor);
      null_counts_[d][word] = 0;
    }
    if (curvature_[d] > 0)
      tension_[d] = std::clamp(tension_[d] + slope_[d] / curvature_[d], kLeastTension, kMostTension);
    slope_[d] = curvature_[d] = 0;
  }
  parallel_ranges(rows_.size(), 64, [&](std::size_t first, std::size_t last) {
    for (std::size_t source = first; source < last; ++source)
      for_entries(source, [&](float& t, std::size_t d, std::size_t given) {
        t = std::max(kUnseen, static_cast<float>(exp_digamma(t + kSparsity) / divisors[d][given]));
      });
  });
}

Aligner::Links Aligner::links(std::span<const WordId> source, std::span<const WordId> target) const {
  if (!has_links(source, target)) return {};
  Cells cells;
  look_up(source, target, cells);
  std::array<std::vector<std::size_t>, 2> best;
  double logarithm = 0;
  for (std::size_t d = 0; d < 2; ++d) {
    const auto generated = d == 0 ? target : source;
    const std::size_t others = d == 0 ? source.size() : target.size();
    const Prior prior(tension_[d], others, generated.size());
    for (std::size_t j = 0; j < generated.size(); ++j) {
      const std::span t(cells.t[d].data() + j * others, others);
      const Prior::Sums sums = prior.multiply(j + 1, t);
      const bool known = generated[j] < null_[d].size();
      const double null = kNull / (1 - kNull) * sums.prior * (known ? null_[d][generated[j]] : kUnseen);
      const auto most = std::ranges::max_element(t);
      best[d].push_back(*most > null ? static_cast<std::size_t>(most - t.begin()) : kNoWord);
      const double all = null + sums.likelihood;
      const double share = known ? frequency_[d][generated[j]] : 0;
      if (share > 0) logarithm += portable::log(std::max(kNull, all * (1 - kNull) / (sums.prior * share)));
    }
  }
  return {symmetrised(best[0], best[1]), portable::exp(logarithm / static_cast<double>(source.size() + target.size()))};
}

}  // namespace rnnsearch::corpus
