#include "corpus/prepare/word_statistics.h"

#include <algorithm>
#include <string_view>
#include <utility>

#include "rnnsearch/base/error.h"

namespace rnnsearch::corpus {
namespace {

bool is_special(std::string_view word) {
  return word.starts_with('<') &&
         std::find(kSpecialSymbols.begin(), kSpecialSymbols.end(), word) != kSpecialSymbols.end();
}

std::size_t group_of(std::uint64_t hash) {
  static_assert(HashedWords::kGroups == 32);
  return hash >> 59;
}

/// Finds the most frequent words of a stream; ties are broken bytewise. Memory: twice the words that are kept.
class MostFrequent {
 public:
  struct Entry {
    std::uint64_t count;
    std::string word;
    friend bool operator<(const Entry& a, const Entry& b) {
      return a.count != b.count ? a.count > b.count : a.word < b.word;
    }
  };

  explicit MostFrequent(std::size_t kept) : kept_(kept) {}
  void add(std::string_view word, std::uint64_t count) {
    if (count < least_) return;
    entries_.push_back({count, std::string(word)});
    if (entries_.size() >= 2 * kept_ + 1024) prune();
  }
  std::vector<Entry> take() {
    prune();
    std::sort(entries_.begin(), entries_.end());
    return std::move(entries_);
  }

 private:
  void prune() {
    if (entries_.size() <= kept_) return;
    std::nth_element(entries_.begin(), entries_.begin() + static_cast<std::ptrdiff_t>(kept_), entries_.end());
    entries_.resize(kept_);
    least_ = std::max_element(entries_.begin(), entries_.end())->count;  // the last in sort order has the lowest count
  }

  std::size_t kept_;
  std::uint64_t least_ = 0;  // minimum count of a word that can still be kept
  std::vector<Entry> entries_;
};

}  // namespace

void HashedWords::group(const text::WordList& words) {
  hashes_.resize(words.size());
  order_.resize(words.size());
  std::array<std::size_t, kGroups> sizes{};
  constexpr std::uint64_t kLeftOut = 0;  // the hashes of words are at least 1
  for (std::size_t i = 0; i < words.size(); ++i) {
    const std::string_view word = words[i];
    hashes_[i] = is_special(word) ? kLeftOut : std::max<std::uint64_t>(WordCounter::hash_of(word), 1);
    if (hashes_[i] != kLeftOut) ++sizes[group_of(hashes_[i])];
  }
  std::size_t begin = 0;
  std::array<std::size_t, kGroups> next{};
  for (std::size_t g = 0; g < kGroups; ++g) {
    next[g] = begin;
    ends_[g] = begin += sizes[g];
  }
  for (std::size_t i = 0; i < words.size(); ++i) {
    if (hashes_[i] != kLeftOut) order_[next[group_of(hashes_[i])]++] = static_cast<std::uint32_t>(i);
  }
}

WordStatistics::WordStatistics(std::size_t memory, const std::filesystem::path& folder) {
  for (std::size_t g = 0; g < HashedWords::kGroups; ++g) groups_.emplace_back(memory / HashedWords::kGroups, folder);
}

void WordStatistics::add(const text::WordList& words, const HashedWords& hashed, std::size_t group) {
  for (std::size_t i = hashed.begin(group); i < hashed.end(group); ++i) {
    groups_[group].add(words[hashed.word(i)], hashed.hash(i));
  }
}

Vocabulary WordStatistics::cut(std::optional<std::size_t> wanted, std::uint64_t sentences, const char* option,
                               const std::string& text, PrepareReport::Side& report) {
  const std::size_t special = kSpecialSymbols.size();
  std::uint64_t distinct = 0;
  MostFrequent most(wanted.value_or(PrepareOptions::kDefaultWords) - special);
  for (WordCounter& group : groups_) {
    group.for_each([&](std::string_view word, std::uint64_t count) {
      ++distinct;
      most.add(word, count);
    });
  }
  const std::uint64_t all = distinct + special;
  if (wanted && *wanted > all)
    throw Error(
        "corpus: {0} is {1}, but {2} has only {3} distinct words, which makes {4} with {5}, {6} and {7}; give {0} {4} "
        "or less, or leave the option out",
        option, *wanted, text, distinct, all, kSpecialSymbols[0], kSpecialSymbols[1], kSpecialSymbols[2]);
  std::vector<std::string> words(kSpecialSymbols.begin(), kSpecialSymbols.end());
  std::vector<std::uint64_t> counts{running_, 0, sentences};
  for (auto& [count, word] : most.take()) {
    words.push_back(std::move(word));
    counts.push_back(count);
    counts[kUnknown] -= count;
  }
  report = {running_, distinct, words.size(), counts[kUnknown]};
  return Vocabulary(std::move(words), std::move(counts));
}

Vocabulary WordStatistics::count(const Vocabulary& given, std::uint64_t sentences, PrepareReport::Side& report) {
  std::vector<std::uint64_t> counts(given.size(), 0);
  counts[kUnknown] = running_;
  counts[kEnd] = sentences;
  std::uint64_t distinct = 0;
  for (WordCounter& group : groups_) {
    group.for_each([&](std::string_view word, std::uint64_t count) {
      ++distinct;
      const WordId id = given.id(word);
      if (id == kUnknown) return;
      counts[id] = count;
      counts[kUnknown] -= count;
    });
  }
  report = {running_, distinct, given.size(), counts[kUnknown]};
  return Vocabulary(given.words(), std::move(counts));
}

Vocabulary WordStatistics::rank(const Vocabulary& given, std::uint64_t sentences, PrepareReport::Side& report) {
  const Vocabulary counted = count(given, sentences, report);
  const std::size_t special = kSpecialSymbols.size();
  MostFrequent all(counted.size() - special);
  for (std::size_t i = special; i < counted.size(); ++i) all.add(counted.words()[i], counted.counts()[i]);
  std::vector<std::string> words(counted.words().begin(), counted.words().begin() + special);
  std::vector<std::uint64_t> counts(counted.counts().begin(), counted.counts().begin() + special);
  for (auto& [times, word] : all.take()) {
    words.push_back(std::move(word));
    counts.push_back(times);
  }
  return Vocabulary(std::move(words), std::move(counts));
}

}  // namespace rnnsearch::corpus
