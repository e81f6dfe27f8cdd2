#include "corpus/line_reader.h"

#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "rnnsearch/base/error.h"
#include "rnnsearch/text/unicode.h"

namespace rnnsearch::corpus {
namespace {
namespace fs = std::filesystem;
constexpr std::string_view kByteOrderMark = "\xef\xbb\xbf";
}  // namespace

LineReader::LineReader(fs::path path) : path_(std::move(path)), buffer_(1 << 18) {
  std::error_code reason;
  const fs::file_status status = fs::status(path_, reason);
  const auto refuse = [&](const auto&... why) {
    throw Error(text_of("corpus: cannot read ", path_.string(), ": ", why...));
  };
  if (status.type() == fs::file_type::not_found) refuse("there is no such file");
  if (fs::is_directory(status)) refuse("it is a folder, a text file was expected");
  if (reason) refuse(reason.message());
  if (!fs::is_regular_file(status))
    refuse("it is no regular file, and training text is read twice; write it to a file first");
  file_.reset(std::fopen(path_.c_str(), "rb"));
  if (!file_) refuse(std::strerror(errno));
  size_ = fs::file_size(path_);
  if (size_ == 0) refuse("it is empty");
}

bool LineReader::fill() {
  begin_ = 0;
  end_ = std::fread(buffer_.data(), 1, buffer_.size(), file_.get());
  if (std::ferror(file_.get()))
    throw Error(text_of("corpus: cannot read ", path_.string(), ": ", std::strerror(errno)));
  return end_ > 0;
}

bool LineReader::next(std::string& line) {
  line.clear();
  if (begin_ == end_ && !fill()) return false;
  ++lines_;
  bool complete = false;
  do {
    const char* start = buffer_.data() + begin_;
    const void* newline = std::memchr(start, '\n', end_ - begin_);
    complete = newline != nullptr;
    const std::size_t part =
        complete ? static_cast<std::size_t>(static_cast<const char*>(newline) - start) : end_ - begin_;
    line.append(start, part);
    begin_ += part + complete;
    bytes_ += part + complete;
    if (line.size() > kLineBytes)
      throw Error(text_of("corpus: ", path_.string(), " line ", lines_, " is longer than ", kLineBytes >> 20,
                          " MiB; is it a text with one sentence a line?"));
  } while (!complete && fill());
  if (lines_ == 1 && line.starts_with(kByteOrderMark)) line.erase(0, kByteOrderMark.size());
  check(line);
  return true;
}

void LineReader::check(const std::string& line) const {
  if (const auto nul = line.find('\0'); nul != std::string::npos)
    throw Error(text_of("corpus: ", path_.string(), " line ", lines_, " has a NUL byte (byte ", nul + 1,
                        " of the line); is it UTF-8 text? UTF-16 must be converted first"));
  if (const auto bad = text::first_invalid_utf8(line)) {
    std::array<char, 8> hex{};
    std::snprintf(hex.data(), hex.size(), "0x%02x", static_cast<unsigned>(static_cast<unsigned char>(line[*bad])));
    throw Error(text_of("corpus: ", path_.string(), " line ", lines_, " is not valid UTF-8 at byte ", *bad + 1,
                        " of the line (", hex.data(),
                        "); convert the file, for instance with iconv -f LATIN1 -t UTF-8"));
  }
}

std::uint64_t LineReader::skip_rest() {
  std::uint64_t rest = 0;
  bool inside = false;  // of a line without its end so far
  while (begin_ < end_ || fill()) {
    for (; begin_ < end_; ++begin_) {
      inside = buffer_[begin_] != '\n';
      rest += !inside;
    }
  }
  return rest + inside;
}

}  // namespace rnnsearch::corpus
