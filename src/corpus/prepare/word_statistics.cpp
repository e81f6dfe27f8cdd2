#include "corpus/prepare/word_statistics.h"

#include <algorithm>
#include <cstring>
#include <utility>

#include "corpus/prepare/repeated_pairs.h"
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

constexpr std::size_t kFirstSlots = 1 << 8;
constexpr std::size_t kMostRuns = 8;  // files of each of about 100 tables: below the usual limit of 1,024 open files

bool is_crowded(std::size_t used, std::size_t slots) { return 4 * used >= 3 * slots; }

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

/// A file of words as (count, size, bytes), sorted bytewise.
struct WordCounter::Run {
  struct Head {
    std::uint64_t count;
    std::uint32_t size;
  };
  TemporaryFile file;
  std::string word;  // the word that was read last
  std::uint64_t count = 0;

  explicit Run(const std::filesystem::path& folder) : file(folder) {}
  void write(std::string_view written, std::uint64_t its_count) {
    const Head head{its_count, static_cast<std::uint32_t>(written.size())};
    file.write(&head, sizeof head);
    file.write(written.data(), written.size());
  }
  bool next() {
    Head head{};
    if (!file.read(&head, sizeof head)) return false;
    word.resize(head.size);
    count = head.count;
    return file.read(word.data(), word.size());
  }
  const std::string& key() const { return word; }
};

WordCounter::WordCounter(std::size_t memory, std::filesystem::path folder)
    : memory_(std::max(memory, kLeastMemory)), folder_(std::move(folder)), slots_(kFirstSlots) {
  bytes_.reserve(bytes_memory());  // untouched pages cost nothing, and a block that never grows is never copied
}
WordCounter::~WordCounter() = default;
WordCounter::WordCounter(WordCounter&&) noexcept = default;
WordCounter& WordCounter::operator=(WordCounter&&) noexcept = default;

void WordCounter::add(std::string_view word, std::uint64_t hash, std::uint64_t count) {
  for (std::size_t i = hash & (slots_.size() - 1);; i = (i + 1) & (slots_.size() - 1)) {
    Slot& slot = slots_[i];
    if (slot.count == 0) break;
    if (slot.hash == hash && word_of(slot) == word) {
      slot.count += count;
      return;
    }
  }
  // While the table grows, the smaller and the larger one exist at the same time: 3 times the present slots.
  const bool grows = is_crowded(used_ + 1, slots_.size());
  const bool fits = bytes_.size() + word.size() <= bytes_memory() &&
                    (!grows || 3 * slots_.size() * sizeof(Slot) <= memory_ - bytes_memory());
  if (used_ > 0 && !fits) {
    spill();
  } else if (grows) {
    grow();
  }
  std::size_t i = hash & (slots_.size() - 1);
  while (slots_[i].count != 0) i = (i + 1) & (slots_.size() - 1);
  slots_[i] = {hash, count, bytes_.size(), static_cast<std::uint32_t>(word.size())};
  bytes_.insert(bytes_.end(), word.begin(), word.end());
  ++used_;
}

void WordCounter::grow() {
  std::vector<Slot> former(slots_.size() * 2);
  former.swap(slots_);
  for (const Slot& slot : former) {
    if (slot.count == 0) continue;
    std::size_t i = slot.hash & (slots_.size() - 1);
    while (slots_[i].count != 0) i = (i + 1) & (slots_.size() - 1);
    slots_[i] = slot;
  }
}

std::vector<WordCounter::Slot> WordCounter::sorted() {
  std::vector<Slot> all;
  all.swap(slots_);
  std::erase_if(all, [](const Slot& slot) { return slot.count == 0; });
  std::sort(all.begin(), all.end(), [&](const Slot& a, const Slot& b) { return word_of(a) < word_of(b); });
  slots_.assign(kFirstSlots, {});
  used_ = 0;
  return all;
}

void WordCounter::spill() {
  auto run = std::make_unique<Run>(folder_);
  for (const Slot& slot : sorted()) run->write(word_of(slot), slot.count);
  bytes_.clear();
  run->file.rewind();
  runs_.push_back(std::move(run));
  if (runs_.size() < kMostRuns) return;
  auto whole = std::make_unique<Run>(folder_);
  merge([&](std::string_view word, std::uint64_t count) { whole->write(word, count); });
  whole->file.rewind();
  runs_.push_back(std::move(whole));
}

void WordCounter::for_each(const std::function<void(std::string_view word, std::uint64_t count)>& take) {
  if (runs_.empty()) {
    for (const Slot& slot : sorted()) take(word_of(slot), slot.count);
    bytes_.clear();
    return;
  }
  if (used_ > 0) spill();
  merge(take);
}

void WordCounter::merge(const std::function<void(std::string_view word, std::uint64_t count)>& take) {
  std::string word;
  std::uint64_t count = 0;
  merge_runs(runs_, [&](const Run& run) {
    if (run.word != word) {
      if (count > 0) take(word, std::exchange(count, 0));
      word = run.word;
    }
    count += run.count;
  });
  if (count > 0) take(word, count);
  runs_.clear();
}

}  // namespace rnnsearch::corpus
