#include "corpus/prepare/word_counter.h"

#include <algorithm>
#include <cstring>
#include <queue>
#include <string>
#include <utility>

#include "corpus/prepare/temporary_file.h"

namespace rnnsearch::corpus {
namespace {

constexpr std::size_t kFirstSlots = 1 << 8;
constexpr std::size_t kMostRuns = 8;  // files of each of about 100 tables: below the usual limit of 1,024 open files

bool is_crowded(std::size_t used, std::size_t slots) {
  return 4 * used >= 3 * slots;
}

}  // namespace

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
  const auto later = [](const Run* a, const Run* b) { return a->word > b->word; };
  std::priority_queue<Run*, std::vector<Run*>, decltype(later)> heads(later);
  for (const auto& run : runs_) {
    if (run->next()) heads.push(run.get());
  }
  while (!heads.empty()) {
    const std::string word = heads.top()->word;
    std::uint64_t count = 0;
    while (!heads.empty() && heads.top()->word == word) {
      Run* const run = heads.top();
      heads.pop();
      count += run->count;
      if (run->next()) heads.push(run);
    }
    take(word, count);
  }
  runs_.clear();
}

}  // namespace rnnsearch::corpus
