#include "corpus/prepare/temporary_file.h"

#include <atomic>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <utility>

#include "rnnsearch/base/error.h"
#include "rnnsearch/base/file.h"

namespace rnnsearch::corpus {

TemporaryFile::TemporaryFile(std::filesystem::path folder) : folder_(std::move(folder)) {
  static std::atomic<std::uint64_t> made = 0;  // atomic, because several threads create files at the same time
  const std::filesystem::path path = temporary_beside(folder_ / fmt::format("words-{}", made++));
  file_.reset(std::fopen(path.c_str(), "wb+"));
  if (!file_) fail();
  std::error_code ignored;
  std::filesystem::remove(path, ignored);
}

void TemporaryFile::fail() const {
  throw Error(
      "corpus: cannot keep what does not fit into --memory in a temporary file in {}: {}; free some space there, or "
      "raise --memory",
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
