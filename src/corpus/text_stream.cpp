#include "rnnsearch/corpus/text_stream.h"

#include "corpus/byte_source.h"

namespace rnnsearch::corpus {

std::unique_ptr<ByteStream> open_text(const std::filesystem::path& path, const Poll& poll) {
  std::error_code ignored;
  const std::filesystem::file_status status = std::filesystem::status(path, ignored);
  const bool waits = std::filesystem::exists(status) && !is_regular_file(status) && !is_directory(status);
  // An empty file, which ByteSource rejects, is a text without lines here.
  if (waits || (is_regular_file(status) && std::filesystem::file_size(path, ignored) == 0))
    return std::make_unique<WaitingInput>(path, poll);
  return ByteSource::open(path, poll);
}

}  // namespace rnnsearch::corpus
