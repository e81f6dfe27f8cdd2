// Unnamed temporary files for data that does not fit into memory. They disappear with the process at the latest.
#pragma once

#include <cstddef>
#include <cstdio>
#include <filesystem>
#include <memory>
#include <queue>
#include <vector>

namespace rnnsearch::corpus {

/// Is written first, then read. Not thread-safe, but several threads may each create one at the same time.
class TemporaryFile {
 public:
  /// The constructor and the members throw Error if the folder has no space left.
  explicit TemporaryFile(std::filesystem::path folder);

  void write(const void* bytes, std::size_t size);
  /// Ends the writing; the next `read` starts at the beginning.
  void rewind();
  /// Reads `size` bytes. Returns false if fewer are left.
  bool read(void* bytes, std::size_t size);

 private:
  [[noreturn]] void fail() const;

  struct Close {
    void operator()(std::FILE* file) const { std::fclose(file); }
  };
  std::filesystem::path folder_;
  std::unique_ptr<std::FILE, Close> file_;
};

/// Merges files, `runs`, each of which is sorted: calls take(run) for the run whose present entry is the least, as
/// key() orders them, until all have been read. run.next() reads the next entry, and returns whether there is one.
template <class Run, class Take>
void merge_runs(const std::vector<std::unique_ptr<Run>>& runs, const Take& take) {
  const auto later = [](const Run* a, const Run* b) { return a->key() > b->key(); };
  std::priority_queue<Run*, std::vector<Run*>, decltype(later)> heads(later);
  for (const auto& run : runs) {
    if (run->next()) heads.push(run.get());
  }
  while (!heads.empty()) {
    Run* const run = heads.top();
    heads.pop();
    take(*run);
    if (run->next()) heads.push(run);
  }
}

}  // namespace rnnsearch::corpus
