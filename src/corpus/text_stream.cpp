#include "rnnsearch/corpus/text_stream.h"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <streambuf>
#include <utility>
#include <vector>

#include "corpus/byte_source.h"
#include "rnnsearch/base/error.h"

namespace rnnsearch::corpus {
namespace {

class SourceBuffer : public std::streambuf {
 public:
  explicit SourceBuffer(std::unique_ptr<ByteSource> source) : source_(std::move(source)), bytes_(1 << 18) {}

 protected:
  int_type underflow() override {
    const std::size_t count = source_->read(bytes_);
    setg(bytes_.data(), bytes_.data(), bytes_.data() + count);
    return count == 0 ? traits_type::eof() : traits_type::to_int_type(bytes_[0]);
  }

 private:
  std::unique_ptr<ByteSource> source_;
  std::vector<char> bytes_;
};

/// With its buffer.
class SourceStream : public std::istream {
 public:
  explicit SourceStream(std::unique_ptr<ByteSource> source) : std::istream(nullptr), buffer_(std::move(source)) {
    rdbuf(&buffer_);
    exceptions(badbit);  // what underflow() throws reaches the caller
  }

 private:
  SourceBuffer buffer_;
};

}  // namespace

std::unique_ptr<std::istream> open_text(const std::filesystem::path& path) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    throw Error(text_of(path.string(), " is a folder, not a text file"));
  }
  // An empty file is a text without lines.
  if (std::filesystem::is_regular_file(path, ignored) && std::filesystem::file_size(path, ignored) > 0) {
    return std::make_unique<SourceStream>(ByteSource::open(path));
  }
  auto stream = std::make_unique<std::ifstream>(path, std::ios::binary);
  if (!*stream) throw Error(text_of("cannot read ", path.string(), ": ", std::strerror(errno)));
  return stream;
}

}  // namespace rnnsearch::corpus
