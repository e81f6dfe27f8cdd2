#include "corpus/line_reader.h"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <limits>

#include "rnnsearch/base/error.h"
#include "rnnsearch/text/unicode.h"

namespace rnnsearch::corpus {

LineReader::LineReader(const std::filesystem::path& path, const LineLimit& limit, std::optional<TestSetPart> part)
    : limit_(limit) {
  const auto name = part ? test_set_name(path) : std::nullopt;
  source_ = ByteSource::open(name ? name->file : path);
  if (name) {
    test_set_ = read_test_set(*name, *part, limit);
  } else {
    buffer_.resize(1 << 18);
  }
}

bool LineReader::fill() {
  begin_ = 0;
  end_ = source_->read(buffer_);
  return end_ > 0;
}

bool LineReader::at_end() {
  if (test_set_) return lines_ == test_set_->lines.size();
  if (begin_ < end_ || fill()) return false;
  if (lines_ == 0) throw Error(text_of("corpus: cannot read ", path().string(), ": it is empty after unpacking"));
  return true;
}

bool LineReader::append(std::string& text) {
  if (at_end()) return false;
  if (test_set_) {
    text += test_set_->lines[lines_++];
    return true;
  }
  ++lines_;
  const std::size_t first = text.size();
  bool complete = false;
  do {
    const char* start = buffer_.data() + begin_;
    const void* newline = std::memchr(start, '\n', end_ - begin_);
    complete = newline != nullptr;
    const std::size_t part =
        complete ? static_cast<std::size_t>(static_cast<const char*>(newline) - start) : end_ - begin_;
    text.append(start, part);
    begin_ += part + complete;
    if (text.size() - first > limit_.max_line_bytes)
      limit_.refuse(text_of("corpus: ", path().string(), " line ", lines_, " is "),
                    std::string_view(text).substr(first));
  } while (!complete && fill());
  if (lines_ == 1 && std::string_view(text).substr(first).starts_with(kByteOrderMark)) {
    text.erase(first, kByteOrderMark.size());
  }
  return true;
}

bool LineReader::next(std::string& line) {
  line.clear();
  if (!append(line)) return false;
  check_line(path(), lines_, line);
  return true;
}

void check_line(const std::filesystem::path& path, std::uint64_t number, std::string_view line, std::size_t before) {
  if (const auto nul = line.find('\0'); nul != std::string_view::npos)
    throw Error(text_of("corpus: ", path.string(), " line ", number, " has a NUL byte (byte ", before + nul + 1,
                        " of the line); is it UTF-8 text? UTF-16 must be converted first"));
  if (const auto bad = text::first_invalid_utf8(line)) {
    std::array<char, 8> hex{};
    std::snprintf(hex.data(), hex.size(), "0x%02x", static_cast<unsigned>(static_cast<unsigned char>(line[*bad])));
    throw Error(text_of("corpus: ", path.string(), " line ", number, " is not valid UTF-8 at byte ", before + *bad + 1,
                        " of the line (", hex.data(),
                        "); convert the file, for instance with iconv -f LATIN1 -t UTF-8"));
  }
}

void LineReader::skip_to(std::uint64_t line, const LineIndex* index) {
  if (index) {
    const auto [marked, offset] = index->before(line);
    if (marked > lines_) {
      source_->seek(offset - 1);  // read the preceding line end again, to check that it is still there
      begin_ = end_ = 0;
      if (!fill() || buffer_[begin_++] != '\n')
        throw Error(text_of("corpus: ", path().string(),
                            " changed while it was read; prepare again when no other process writes to it"));
      lines_ = marked;
    }
  }
  if (line > lines_) lines_ += skip(line - lines_);
}

std::uint64_t LineReader::skip(std::uint64_t lines) {
  if (test_set_) return std::min<std::uint64_t>(lines, test_set_->lines.size() - lines_);
  std::uint64_t skipped = 0;
  bool inside = false;  // in a line whose end has not been found yet
  while (skipped < lines && (begin_ < end_ || fill())) {
    const char* const start = buffer_.data() + begin_;
    const void* const newline = std::memchr(start, '\n', end_ - begin_);
    inside = newline == nullptr;
    skipped += !inside;
    begin_ = inside ? end_ : begin_ + static_cast<std::size_t>(static_cast<const char*>(newline) - start) + 1;
  }
  return skipped + inside;
}

std::uint64_t LineReader::skip_rest() {
  return skip(std::numeric_limits<std::uint64_t>::max());
}

}  // namespace rnnsearch::corpus
