#include "rnnsearch/evaluate/chrf.h"

#include <algorithm>
#include <cassert>

#include "evaluate/ngrams.h"
#include "rnnsearch/base/version.h"
#include "rnnsearch/text/unicode.h"

namespace rnnsearch::evaluate {
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

/// Counts the n-grams of two sequences for the orders up to count_of_orders, into orders[0] and following.
template <class Item>
void count(const Item& hypothesis, const Item& reference, std::size_t count_of_orders, ChrfStatistics::Order* orders) {
  using Key = typename Item::value_type;
  std::vector<Ngram<Key>> items;
  std::vector<std::vector<std::uint64_t>> item_ids(2);
  for (std::uint32_t t = 0; t < 2; ++t) {
    const Item& of_text = t == 0 ? hypothesis : reference;
    item_ids[t].resize(of_text.size());
    for (std::size_t i = 0; i < of_text.size(); ++i) items.push_back({of_text[i], t, i});
  }
  auto ids = item_ids;
  // An n-gram is represented by the id of the (n-1)-gram at its position and its last item, both below 2^32.
  std::vector<Ngram<std::uint64_t>> ngrams;
  for (std::size_t n = 1; n <= count_of_orders; ++n) {
    auto& order = orders[n - 1];
    const auto number = [n](const Item& of_text) { return of_text.size() >= n ? of_text.size() - n + 1 : 0; };
    order.reference = number(reference);
    // As in sacreBLEU, the hypothesis has no n-grams of an order for which the reference has none.
    order.hypothesis = order.reference > 0 ? number(hypothesis) : 0;
    if (n == 1) {
      order.correct = identify(items, 2, item_ids);
      ids = item_ids;
      continue;
    }
    ngrams.clear();
    for (std::uint32_t t = 0; t < 2; ++t) {
      for (std::size_t i = 0; i + n <= item_ids[t].size(); ++i) {
        ngrams.push_back({ids[t][i] << 32U | item_ids[t][i + n - 1], t, i});
      }
    }
    order.correct = identify(ngrams, 2, ids);
  }
}

/// The same for characters, several times as fast. If the two texts have few enough different characters, six of them
/// fit into one number, the first one most significant. Sorting these numbers sorts the n-grams of every order, because
/// each is a prefix.
void count_characters(const std::u32string& hypothesis, const std::u32string& reference,
                      ChrfStatistics::Order* orders) {
  constexpr std::size_t kBits = 10;
  std::u32string alphabet = hypothesis + reference;
  std::sort(alphabet.begin(), alphabet.end());
  alphabet.erase(std::unique(alphabet.begin(), alphabet.end()), alphabet.end());
  if (alphabet.size() >= std::size_t{1} << kBits) return count(hypothesis, reference, kCharacterOrders, orders);

  const auto sorted = [&](const std::u32string& characters) {
    std::vector<std::uint64_t> keys(characters.size());
    std::uint64_t key = 0;  // built from the end of the text; 0 means no character
    for (std::size_t i = characters.size(); i-- > 0;) {
      const auto place = std::lower_bound(alphabet.begin(), alphabet.end(), characters[i]) - alphabet.begin();
      key = key >> kBits | static_cast<std::uint64_t>(place + 1) << kBits * (kCharacterOrders - 1);
      keys[i] = key;
    }
    std::sort(keys.begin(), keys.end());
    return keys;
  };
  const auto ours = sorted(hypothesis), theirs = sorted(reference);
  for (std::size_t n = 1; n <= kCharacterOrders; ++n) {
    const std::size_t shift = kBits * (kCharacterOrders - n);
    const auto ends_early = [&](std::uint64_t key) { return (key >> shift & ((1U << kBits) - 1)) == 0; };
    auto& order = orders[n - 1];
    const auto number = [n](const std::u32string& text) { return text.size() >= n ? text.size() - n + 1 : 0; };
    order.reference = number(reference);
    order.hypothesis = order.reference > 0 ? number(hypothesis) : 0;
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
    count(own.words, reference.words, options.word_orders, statistics.orders.data() + kCharacterOrders);
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

}  // namespace rnnsearch::evaluate
