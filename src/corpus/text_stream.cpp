#include "rnnsearch/corpus/text_stream.h"

#include <string_view>
#include <utility>
#include <vector>

#include "corpus/byte_source.h"
#include "rnnsearch/base/error.h"

namespace rnnsearch::corpus {
namespace {

class SourceStream : public ByteStream {
 public:
  SourceStream(std::unique_ptr<ByteSource> source, Poll poll)
      : source_(std::move(source)), poll_(std::move(poll)), bytes_(1 << 18) {}

  std::string_view take() override {
    if (poll_) poll_();
    return {bytes_.data(), source_->read(bytes_)};
  }

 private:
  std::unique_ptr<ByteSource> source_;
  Poll poll_;
  std::vector<char> bytes_;
};

}  // namespace

std::unique_ptr<ByteStream> open_text(const std::filesystem::path& path, const Poll& poll) {
  std::error_code ignored;
  if (std::filesystem::is_directory(path, ignored)) {
    throw Error(text_of(path.string(), " is a folder, not a text file"));
  }
  // An empty file, which ByteSource rejects, is a text without lines here.
  if (std::filesystem::is_regular_file(path, ignored) && std::filesystem::file_size(path, ignored) > 0) {
    return std::make_unique<SourceStream>(ByteSource::open(path), poll);
  }
  return std::make_unique<WaitingInput>(path, poll);
}

}  // namespace rnnsearch::corpus
