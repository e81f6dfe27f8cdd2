#include "rnnsearch/evaluate/metrics.h"

#include <unordered_map>

#include "rnnsearch/base/version.h"

namespace rnnsearch::evaluate {
namespace {

// N-grams that texts share are counted exactly, without hashes that could collide.

// An n-gram of one text (0: the hypothesis, k: the k-th reference).
template <class Key>
struct Ngram {
  Key key;
  std::uint32_t text;
  std::size_t position;
};

/// Assigns equal ids to equal n-grams (ids[text][position], less than the number of n-grams). Returns how many n-grams
/// of text 0 match other texts, where each n-gram counts at most as often as in the other text that has it most often.
/// Sorts `ngrams`.
template <class Key>
std::uint64_t identify(std::vector<Ngram<Key>>& ngrams, std::vector<std::vector<std::uint64_t>>& ids) {
  std::ranges::sort(ngrams, {}, &Ngram<Key>::key);
  std::vector<std::uint64_t> counts(ids.size());
  std::uint64_t matches = 0, id = 0;
  for (std::size_t i = 0; i < ngrams.size(); ++id) {
    std::ranges::fill(counts, 0);
    const Key key = ngrams[i].key;
    for (; i < ngrams.size() && ngrams[i].key == key; ++i) {
      ++counts[ngrams[i].text];
      ids[ngrams[i].text][ngrams[i].position] = id;
    }
    matches += std::min(counts[0], *std::max_element(counts.begin() + 1, counts.end()));
  }
  return matches;
}

std::uint64_t ngram_count(std::size_t length, std::size_t n) { return length >= n ? length - n + 1 : 0; }

/// The matches, as of `identify`, of the n-grams of texts (0: the hypothesis) for n = 1, 2, ... `orders`.
template <class Item>
std::vector<std::uint64_t> matches_of(const std::vector<std::span<const Item>>& texts, std::size_t orders) {
  std::vector<Ngram<Item>> items;
  std::vector<std::vector<std::uint64_t>> item_ids(texts.size());
  for (std::uint32_t t = 0; t < texts.size(); ++t) {
    item_ids[t].resize(texts[t].size());
    for (std::size_t i = 0; i < texts[t].size(); ++i) items.push_back({texts[t][i], t, i});
  }
  std::vector<std::uint64_t> matches{identify(items, item_ids)};
  // An n-gram is represented by the id of the (n-1)-gram at its position and its last item, both below 2^32.
  auto ids = item_ids;
  std::vector<Ngram<std::uint64_t>> ngrams;
  for (std::size_t n = 2; n <= orders; ++n) {
    ngrams.clear();
    for (std::uint32_t t = 0; t < texts.size(); ++t) {
      for (std::size_t i = 0; i + n <= item_ids[t].size(); ++i)
        ngrams.push_back({ids[t][i] << 32U | item_ids[t][i + n - 1], t, i});
    }
    matches.push_back(identify(ngrams, ids));
  }
  return matches;
}

// BLEU.

std::string tokenized(std::string_view line, const BleuOptions& options) {
  if (!options.lowercase) return text::tokenize_for_bleu(text::strip_right(line), options.tokenizer);
  return text::tokenize_for_bleu(text::strip_right(text::lowercase(line)), options.tokenizer);
}

double smooth_value(const BleuOptions& options) {
  return options.smooth_value.value_or(options.smoothing == Smoothing::kAddK ? 1.0 : 0.1);
}

double distance(std::uint64_t a, std::uint64_t b) { return std::abs(static_cast<double>(a) - static_cast<double>(b)); }

}  // namespace

BleuStatistics sentence_statistics(std::string_view hypothesis, std::span<const std::string_view> references,
                                   const BleuOptions& options) {
  assert(!references.empty());
  std::vector<std::string> lines{tokenized(hypothesis, options)};
  for (const std::string_view reference : references) lines.push_back(tokenized(reference, options));
  std::vector<std::vector<std::string_view>> words;
  std::vector<std::size_t> lengths;
  for (const std::string& line : lines) lengths.push_back(words.emplace_back(text::split_views(line)).size());

  BleuStatistics statistics;
  statistics.hypothesis_length = lengths[0];
  statistics.reference_length = *std::min_element(lengths.begin() + 1, lengths.end(), [&](auto a, auto b) {
    return std::pair(distance(a, lengths[0]), a) < std::pair(distance(b, lengths[0]), b);
  });
  std::ranges::copy(matches_of<std::string_view>({words.begin(), words.end()}, kBleuOrders),
                    statistics.correct.begin());
  for (std::size_t n = 1; n <= kBleuOrders; ++n) statistics.total[n - 1] = ngram_count(lengths[0], n);
  return statistics;
}

Bleu bleu_of(const BleuStatistics& statistics, const BleuOptions& options) {
  Bleu bleu;
  bleu.statistics = statistics;
  const auto hypothesis_length = static_cast<double>(statistics.hypothesis_length);
  const auto reference_length = static_cast<double>(statistics.reference_length);
  bleu.ratio = reference_length > 0 ? hypothesis_length / reference_length : 0;
  bleu.brevity_penalty = 1;
  if (hypothesis_length < reference_length)
    bleu.brevity_penalty = hypothesis_length > 0 ? std::exp(1 - reference_length / hypothesis_length) : 0;
  if (statistics.correct == decltype(statistics.correct){}) return bleu;

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
  if (options.smoothing == Smoothing::kFloor || options.smoothing == Smoothing::kAddK)
    smooth = fmt::format("{}[{:.2f}]", smooth, smooth_value(options));
  return fmt::format("{}|case:{}|eff:{}|tok:{}|smooth:{}|version:rnnsearch-{}", signature_head(references, bootstrap),
                     options.lowercase ? "lc" : "mixed", options.effective_order ? "yes" : "no",
                     name_of(options.tokenizer), smooth, kVersion);
}

// chrF.

namespace {

bool is_punctuation(char32_t c) {  // Python's string.punctuation
  return (c >= U'!' && c <= U'/') || (c >= U':' && c <= U'@') || (c >= U'[' && c <= U'`') || (c >= U'{' && c <= U'~');
}

/// A hypothesis or a reference: its characters without white space, and its words with one punctuation mark separated.
struct Text {
  std::string line;  // the words are views of it
  std::u32string characters;
  std::vector<std::string_view> words;

  Text(std::string_view raw, const ChrfOptions& options)
      : line(options.lowercase ? text::lowercase(raw) : std::string(raw)) {
    for (const std::string_view word : text::split_views(line)) {
      const std::u32string letters = text::code_points(word);
      characters += letters;
      if (options.word_orders == 0) continue;
      // A mark at the end is separated, otherwise one at the beginning, but never both (mjpost/sacrebleu#124).
      if (letters.size() > 1 && is_punctuation(letters.back())) {
        words.push_back(word.substr(0, word.size() - 1));
        words.push_back(word.substr(word.size() - 1));
      } else if (letters.size() > 1 && is_punctuation(letters.front())) {
        words.push_back(word.substr(0, 1));
        words.push_back(word.substr(1));
      } else {
        words.push_back(word);
      }
    }
  }
};

/// The n-grams of both sides. As in sacreBLEU, the hypothesis has none of an order for which the reference has none.
ChrfStatistics::Order counted(std::size_t hypothesis_length, std::size_t reference_length, std::size_t n) {
  const std::uint64_t reference = ngram_count(reference_length, n);
  return {reference > 0 ? ngram_count(hypothesis_length, n) : 0, reference, 0};
}

/// Counts the n-grams of two sequences for the orders up to count_of_orders, into orders[0] and following.
template <class Item>
void count(std::span<const Item> hypothesis, std::span<const Item> reference, std::size_t count_of_orders,
           ChrfStatistics::Order* orders) {
  const auto matches = matches_of<Item>({hypothesis, reference}, count_of_orders);
  for (std::size_t n = 1; n <= count_of_orders; ++n) {
    orders[n - 1] = counted(hypothesis.size(), reference.size(), n);
    orders[n - 1].correct = matches[n - 1];
  }
}

/// The same for characters, several times as fast. If the two texts have few enough different characters, six of them
/// fit into one number, the first one most significant. Sorting these numbers sorts the n-grams of every order, because
/// each is a prefix.
void count_characters(const std::u32string& hypothesis, const std::u32string& reference,
                      ChrfStatistics::Order* orders) {
  constexpr std::size_t kBits = 10;
  std::u32string alphabet = hypothesis + reference;
  std::ranges::sort(alphabet);
  alphabet.erase(std::unique(alphabet.begin(), alphabet.end()), alphabet.end());
  if (alphabet.size() >= std::size_t{1} << kBits)
    return count<char32_t>(hypothesis, reference, kCharacterOrders, orders);

  const auto sorted = [&](const std::u32string& characters) {
    std::vector<std::uint64_t> keys(characters.size());
    std::uint64_t key = 0;  // built from the end of the text; 0 means no character
    for (std::size_t i = characters.size(); i-- > 0;) {
      const auto place = std::ranges::lower_bound(alphabet, characters[i]) - alphabet.begin();
      key = key >> kBits | static_cast<std::uint64_t>(place + 1) << kBits * (kCharacterOrders - 1);
      keys[i] = key;
    }
    std::ranges::sort(keys);
    return keys;
  };
  const auto ours = sorted(hypothesis), theirs = sorted(reference);
  for (std::size_t n = 1; n <= kCharacterOrders; ++n) {
    const std::size_t shift = kBits * (kCharacterOrders - n);
    const auto ends_early = [&](std::uint64_t key) { return (key >> shift & ((1U << kBits) - 1)) == 0; };
    auto& order = orders[n - 1] = counted(hypothesis.size(), reference.size(), n);
    for (std::size_t i = 0, j = 0; i < ours.size() && j < theirs.size();) {
      const std::uint64_t a = ours[i] >> shift, b = theirs[j] >> shift;
      if (a == b && !ends_early(ours[i])) ++order.correct;
      if (a <= b) ++i;
      if (b <= a) ++j;
    }
  }
}

}  // namespace

ChrfStatistics sentence_statistics(std::string_view hypothesis, std::span<const std::string_view> references,
                                   const ChrfOptions& options) {
  assert(options.word_orders <= kWordOrders);
  assert(!references.empty());
  const Text own(hypothesis, options);
  ChrfStatistics best;
  double best_score = -1;
  for (const std::string_view raw : references) {
    const Text reference(raw, options);
    ChrfStatistics statistics;
    count_characters(own.characters, reference.characters, statistics.orders.data());
    count<std::string_view>(own.words, reference.words, options.word_orders,
                            statistics.orders.data() + kCharacterOrders);
    const double score = chrf_of(statistics, options);
    if (score > best_score) {
      best_score = score;
      best = statistics;
    }
  }
  return best;
}

double chrf_of(const ChrfStatistics& statistics, const ChrfOptions& options) {
  double precision = 0, recall = 0, orders = 0;
  for (std::size_t n = 0; n < kCharacterOrders + options.word_orders; ++n) {
    const auto& order = statistics.orders[n];
    if (order.hypothesis == 0 || order.reference == 0) continue;
    precision += static_cast<double>(order.correct) / static_cast<double>(order.hypothesis);
    recall += static_cast<double>(order.correct) / static_cast<double>(order.reference);
    ++orders;
  }
  if (precision + recall == 0) return 0;
  precision /= orders;
  recall /= orders;
  constexpr double kBeta = 2, factor = kBeta * kBeta;  // recall counts beta times as much as precision
  return 100 * ((1 + factor) * precision * recall / (factor * precision + recall));
}

std::string signature(const ChrfOptions& options, std::size_t references, const std::optional<Bootstrap>& bootstrap) {
  return fmt::format("{}|case:{}|eff:yes|nc:{}|nw:{}|space:no|version:rnnsearch-{}",
                     signature_head(references, bootstrap), options.lowercase ? "lc" : "mixed", kCharacterOrders,
                     options.word_orders, kVersion);
}

namespace {

using Words = std::span<const std::string_view>;

constexpr std::size_t kBits = 64;

// A reference without words gives 0, as in calculate_metrics of the replication.
double share(std::size_t part, std::size_t reference) {
  return reference == 0 ? 0 : static_cast<double>(part) / static_cast<double>(reference);
}

std::size_t same_positions(Words a, Words b) {
  std::size_t same = 0;
  for (std::size_t i = 0; i < std::min(a.size(), b.size()); ++i) same += a[i] == b[i];
  return same;
}

}  // namespace

std::string legend_of(SequenceAccuracyMode mode) {
  if (mode == SequenceAccuracyMode::kNone) return {};
  return fmt::format("PSA, LCSR and GeoMean are means over sequences; {}",
                     mode == SequenceAccuracyMode::kCut ? "outputs were cut to the reference's length"
                                                        : "LCSR and GeoMean are of the whole output");
}

std::size_t longest_common_subsequence(Words a, Words b) {
  if (a.empty() || b.empty()) return 0;
  const std::size_t blocks = ceil_div(a.size(), kBits);
  // For each word of a, a bit set of its positions.
  std::unordered_map<std::string_view, std::size_t> number;
  std::vector<std::uint64_t> positions;
  for (std::size_t i = 0; i < a.size(); ++i) {
    const auto [at, first] = number.emplace(a[i], number.size());
    if (first) positions.resize(positions.size() + blocks);
    positions[at->second * blocks + i / kBits] |= std::uint64_t{1} << i % kBits;
  }
  // Bit i is 0 if the longest common subsequence of the first i + 1 words of a is longer than that of the first i
  // words. This represents a row of the table of lengths by its steps. The next row is V = (V + (V & M)) | (V & ~M).
  std::vector<std::uint64_t> steps(blocks, ~std::uint64_t{0});
  for (const std::string_view word : b) {
    const auto at = number.find(word);
    if (at == number.end()) continue;
    const std::uint64_t* const matches = positions.data() + at->second * blocks;
    std::uint64_t carry = 0;
    for (std::size_t block = 0; block < blocks; ++block) {
      const std::uint64_t v = steps[block], matched = v & matches[block];
      const std::uint64_t partial = v + matched, sum = partial + carry;
      carry = static_cast<std::uint64_t>(partial < v) | static_cast<std::uint64_t>(sum < partial);
      steps[block] = sum | (v & ~matched);
    }
  }
  // Bits past the end of a never match and stay 1.
  std::size_t length = 0;
  for (const std::uint64_t v : steps) length += static_cast<std::size_t>(std::popcount(~v));
  return length;
}

SequenceAccuracy sentence_statistics(std::string_view hypothesis, std::span<const std::string_view> references,
                                     const SequenceAccuracyOptions& options) {
  assert(!references.empty());
  const auto line_of = [&](std::string_view raw) {
    return options.lowercase ? text::lowercase(raw) : std::string(raw);
  };
  const std::string own_line = line_of(hypothesis);
  const auto own = text::split_views(own_line);
  SequenceAccuracy best;
  for (const std::string_view raw : references) {
    const std::string line = line_of(raw);
    const auto reference = text::split_views(line);
    const std::size_t kept = options.cut_output ? std::min(own.size(), reference.size()) : own.size();
    const Words output = Words(own).first(kept);
    const double psa = share(same_positions(output, reference), reference.size());
    const double lcsr = share(longest_common_subsequence(reference, output), reference.size());
    best.psa = std::max(best.psa, psa);
    best.lcsr = std::max(best.lcsr, lcsr);
    best.geometric_mean = std::max(best.geometric_mean, std::sqrt(psa * lcsr));
  }
  return best;
}

std::string signature(const SequenceAccuracyOptions& options, std::size_t references,
                      const std::optional<Bootstrap>& bootstrap) {
  return fmt::format("{}|case:{}|tok:none|output:{}|mean:sentences|version:rnnsearch-{}",
                     signature_head(references, bootstrap), options.lowercase ? "lc" : "mixed",
                     options.cut_output ? "cut" : "whole", kVersion);
}

}  // namespace rnnsearch::evaluate
