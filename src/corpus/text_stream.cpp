#include "rnnsearch/corpus/text_stream.h"

#include <streambuf>
#include <utility>
#include <vector>

#include "corpus/byte_source.h"
#include "rnnsearch/base/error.h"

namespace rnnsearch::corpus {
namespace {

class SourceBuffer : public std::streambuf {
 public:
  SourceBuffer(std::unique_ptr<ByteSource> source, Poll poll)
      : source_(std::move(source)), poll_(std::move(poll)), bytes_(1 << 18) {}

 protected:
  int_type underflow() override {
    if (poll_) poll_();
    const std::size_t count = source_->read(bytes_);
    setg(bytes_.data(), bytes_.data(), bytes_.data() + count);
    return count == 0 ? traits_type::eof() : traits_type::to_int_type(bytes_[0]);
  }

 private:
  std::unique_ptr<ByteSource> source_;
  Poll poll_;
  std::vector<char> bytes_;
};

/// An input stream that owns its buffer.
class SourceStream : public std::istream {
 public:
  SourceStream(std::unique_ptr<ByteSource> source, const Poll& poll)
      : std::istream(nullptr), buffer_(std::move(source), poll) {
    rdbuf(&buffer_);
    exceptions(badbit);  // lets exceptions of underflow() reach the caller
  }

 private:
  SourceBuffer buffer_;
};

}  // namespace

std::unique_ptr<std::istream> open_text(const std::filesystem::path& path, const Poll& poll) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    throw Error(text_of(path.string(), " is a folder, not a text file"));
  }
  // An empty file, which ByteSource rejects, is a text without lines here.
  if (std::filesystem::is_regular_file(path, ignored) && std::filesystem::file_size(path, ignored) > 0) {
    return std::make_unique<SourceStream>(ByteSource::open(path), poll);
  }
  return std::make_unique<WaitingStream>(path, poll);
}

}  // namespace rnnsearch::corpus
