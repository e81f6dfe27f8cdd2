#include "corpus/prepare/repeated_pairs.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "rnnsearch/base/error.h"
#include "rnnsearch/base/file.h"

namespace rnnsearch::corpus {

/// A file of entries in ascending order.
struct RepeatedPairs::Run {
  TemporaryFile file;
  Entry entry;  // the entry that was read last

  explicit Run(const std::filesystem::path& folder) : file(folder) {}
  bool next() { return file.read(&entry, sizeof entry); }
  const Entry& key() const { return entry; }
};

RepeatedPairs::RepeatedPairs(std::size_t memory, std::filesystem::path folder)
    : most_(std::max<std::size_t>(memory / sizeof(Entry), 1 << 10)), folder_(std::move(folder)) {
  entries_.reserve(most_);  // untouched pages cost nothing, and a block that never grows is never copied
}
RepeatedPairs::~RepeatedPairs() = default;

storage::ShortDigest RepeatedPairs::digest_of(std::string_view source, std::string_view target) {
  thread_local std::string pair;
  const std::uint64_t size = source.size();
  pair.assign(reinterpret_cast<const char*>(&size), sizeof size);
  pair.append(source).append(target);
  return storage::short_digest(pair);
}

void RepeatedPairs::add(std::span<const storage::ShortDigest> digests) {
  for (const storage::ShortDigest& digest : digests) {
    if (entries_.size() == most_) spill();
    entries_.push_back({digest, pairs_++});
  }
}

void RepeatedPairs::spill() {
  std::sort(entries_.begin(), entries_.end());
  auto run = std::make_unique<Run>(folder_);
  run->file.write(entries_.data(), entries_.size() * sizeof(Entry));
  run->file.rewind();
  runs_.push_back(std::move(run));
  entries_.clear();
}

PairSet RepeatedPairs::take() {
  PairSet repeated;
  const Entry* before = nullptr;
  Entry last;
  const auto see = [&](const Entry& entry) {
    if (before && before->digest == entry.digest) repeated.insert(entry.pair);
    last = entry;
    before = &last;
  };
  if (runs_.empty()) {
    std::sort(entries_.begin(), entries_.end());
    for (const Entry& entry : entries_) see(entry);
  } else {
    if (!entries_.empty()) spill();
    merge_runs(runs_, [&](const Run& run) { see(run.entry); });
  }
  entries_ = {};
  runs_.clear();
  return repeated;
}

TemporaryFile::TemporaryFile(std::filesystem::path folder) : folder_(std::move(folder)) {
  const std::filesystem::path path = temporary_beside(folder_ / "words");
  file_.reset(std::fopen(path.c_str(), "wb+"));
  if (!file_) fail();
  std::error_code ignored;
  std::filesystem::remove(path, ignored);
}

void TemporaryFile::fail() const {
  throw Error(
      "corpus: cannot keep words or word alignments in a temporary file in {}: {}; free some space there (--memory "
      "decides how many words stay in memory)",
      folder_, std::strerror(errno));
}

void TemporaryFile::write(const void* bytes, std::size_t size) {
  if (std::fwrite(bytes, 1, size, file_.get()) != size) fail();
}

void TemporaryFile::rewind() {
  if (std::fflush(file_.get()) != 0) fail();
  std::rewind(file_.get());
}

bool TemporaryFile::read(void* bytes, std::size_t size) {
  if (std::fread(bytes, 1, size, file_.get()) == size) return true;
  if (std::ferror(file_.get())) fail();
  return false;
}

}  // namespace rnnsearch::corpus
