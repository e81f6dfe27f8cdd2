#include "corpus/line_reader.h"

#include <cstring>

#include "rnnsearch/base/error.h"

namespace rnnsearch::corpus {

LineReader::LineReader(const std::filesystem::path& path, const LineLimit& limit)
    : source_(ByteSource::open(path)), limit_(limit), buffer_(1 << 18) {}

bool LineReader::fill() {
  begin_ = 0;
  end_ = source_->read(buffer_);
  return end_ > 0;
}

bool LineReader::at_end() {
  const bool more = begin_ < end_ || fill();
  if (lines_ == 0 && begin_ == 0 && std::string_view(buffer_.data(), end_).starts_with(kByteOrderMark)) {
    begin_ = kByteOrderMark.size();
    return at_end();
  }
  if (more) return false;
  if (lines_ == 0) throw Error(text_of("corpus: cannot read ", path().string(), ": it is empty"));
  return true;
}

bool LineReader::append(std::string& text) {
  if (at_end()) return false;
  ++lines_;
  const std::size_t first = text.size();
  std::string_view line;
  bool complete = false;
  do {
    const char* start = buffer_.data() + begin_;
    const void* newline = std::memchr(start, '\n', end_ - begin_);
    complete = newline != nullptr;
    const std::size_t part =
        complete ? static_cast<std::size_t>(static_cast<const char*>(newline) - start) : end_ - begin_;
    text.append(start, part);
    begin_ += part + complete;
    line = without_return(std::string_view(text).substr(first));
    if (line.size() > limit_.max_line_bytes) {
      limit_.refuse(text_of("corpus: ", path().string(), " line ", lines_, " is "), line);
    }
  } while (!complete && fill());
  text.resize(first + line.size());
  return true;
}

bool LineReader::next(std::string& line) {
  line.clear();
  if (!append(line)) return false;
  check_text(path().native(), lines_, line);
  return true;
}

std::uint64_t LineReader::skip_rest() {
  std::uint64_t skipped = 0;
  bool inside = false;  // in a line whose end has not been found yet
  while (begin_ < end_ || fill()) {
    const char* const start = buffer_.data() + begin_;
    const void* const newline = std::memchr(start, '\n', end_ - begin_);
    inside = newline == nullptr;
    skipped += !inside;
    begin_ = inside ? end_ : begin_ + static_cast<std::size_t>(static_cast<const char*>(newline) - start) + 1;
  }
  return skipped + inside;
}

}  // namespace rnnsearch::corpus
