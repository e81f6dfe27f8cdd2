#include "rnnsearch/base/line_source.h"

#include <algorithm>

#include "rnnsearch/base/error.h"
#include "rnnsearch/base/printable.h"

namespace rnnsearch {
namespace {

constexpr std::size_t kQuoted = 32;  // bytes of a line that is too long in the error

/// Bytes in memory.
class Content : public ByteStream {
 public:
  explicit Content(std::string_view bytes) : bytes_(bytes) {}
  std::string_view take() override { return std::exchange(bytes_, {}); }

 private:
  std::string_view bytes_;
};

[[noreturn]] void refuse_text(const std::string& name, std::uint64_t number, const std::string& problem) {
  throw Error(
      "{}, line {}, {}; the text must be plain UTF-8, so convert it, for instance with iconv -f LATIN1 -t UTF-8", name,
      number, problem);
}

}  // namespace

void declare(OptionList& options, LineLimit& o) {
  // The upper bound: with NFKC a character of three bytes becomes one of 18 UTF-16 units, and ICU counts them in 31
  // bits.
  options.add("max-line-bytes", o.max_line_bytes, within(1, 256u << 20),
              "longest line of text in bytes, without its line end; a longer one is rejected, so that a file without "
              "line ends cannot fill the memory. Raise it for texts with whole documents on a line");
}

std::string LineLimit::problem(std::string_view line) const {
  return fmt::format("longer than the {} bytes of --max-line-bytes, beginning with '{}'", max_line_bytes,
                     printable(whole_characters(line.substr(0, kQuoted))));
}

void LineLimit::refuse(const std::string& location, std::string_view line) const {
  throw Error("{}{}; the text must have one sentence a line; if it has, give a larger --max-line-bytes", location,
              problem(line));
}

std::string_view unpacker_of(std::string_view begin) {
  if (begin.starts_with("\x1f\x8b")) return "gzip";
  const bool skippable = begin.size() >= 4 && (begin[0] & '\xf0') == '\x50' && begin.substr(1, 3) == "\x2a\x4d\x18";
  if (skippable || begin.starts_with("\x28\xb5\x2f\xfd")) return "zstd";
  if (begin.starts_with(std::string_view("\xfd\x37zXZ\0", 6))) return "xz";
  return begin.starts_with("BZh") && begin.size() > 3 && begin[3] >= '1' && begin[3] <= '9' ? "bzip2" : "";
}

std::string problem_of_text(std::string_view line, std::size_t before) {
  const auto invalid = first_invalid_utf8(line);
  const std::size_t nul = line.find('\0');
  if (nul < invalid.value_or(line.size())) return fmt::format("byte {}: a NUL byte", before + nul + 1);
  if (!invalid) return "";
  const std::string_view unpacker = before == 0 ? unpacker_of(line) : "";
  return fmt::format(
      "byte {}: not valid UTF-8{}", before + *invalid + 1,
      unpacker.empty()
          ? ""
          : fmt::format(" (the text is compressed: unpack it on its way, as in {} -dc FILE | rnnsearch ...)",
                        unpacker));
}

void check_text(const std::string& name, std::uint64_t number, std::string_view line, std::size_t before) {
  const std::string problem = problem_of_text(line, before);
  if (!problem.empty()) refuse_text(name, number, problem);
}

std::string checked_text(std::string_view content, const std::string& name) {
  std::string text;
  text.reserve(content.size());
  LineSource lines(std::make_unique<Content>(content), name, {.max_line_bytes = std::string::npos - 1});
  for (Line line; lines.next(line);) {
    if (!line.problem.empty()) lines.refuse(line);
    text += line.text;
    text += '\n';
  }
  return text;
}

std::string read_text_file(const std::filesystem::path& path, const Poll& poll) {
  return checked_text(read_file(path, poll), path.string());
}

// Reads until `begun_` is the next line; returns false if there is none.
bool LineSource::complete(bool wait) {
  for (;;) {
    if (rest_.empty() && !ended_) {
      if (!wait && !bytes_->ready()) return false;
      rest_ = bytes_->take();
      ended_ = rest_.empty();
    }
    const std::size_t end = std::min(rest_.find('\n'), rest_.size());
    const bool ends = end < rest_.size();
    const std::string_view part = rest_.substr(0, end);
    rest_.remove_prefix(ends ? end + 1 : end);
    if (skips_) {
      skips_ = !ends;
      if (ended_) return false;
      continue;
    }
    begun_ += part;
    if (begins_ && (ends || ended_ || begun_.size() >= kByteOrderMark.size())) {
      if (begun_.starts_with(kByteOrderMark)) begun_.erase(0, kByteOrderMark.size());
      begins_ = false;
    }
    if (ended_ && begun_.empty()) return false;
    if (!ends && !ended_ && begun_.size() <= limit_.max_line_bytes + 1) continue;  // one more for "\r"
    ++lines_;
    begun_.resize(without_return(begun_).size());
    too_long_ = begun_.size() > limit_.max_line_bytes;
    skips_ = too_long_ && !ends;
    return true;
  }
}

bool LineSource::next(Line& line, bool wait) {
  if (!complete(wait)) return false;
  line = {std::exchange(begun_, {}), lines_, "", too_long_};
  line.problem = line.too_long ? limit_.problem(line.text) : problem_of_text(line.text);
  return true;
}

bool LineSource::append(std::string& text) {
  if (!complete(true)) return false;
  if (too_long_) refuse({std::exchange(begun_, {}), lines_, "", true});
  text += begun_;
  begun_.clear();
  return true;
}

void LineSource::refuse(const Line& line) const {
  if (line.too_long) limit_.refuse(fmt::format("{}, line {}: ", name_, line.number), line.text);
  refuse_text(name_, line.number, line.problem);
}

std::vector<std::string> LineSource::next(std::size_t count) {
  std::vector<std::string> lines;
  for (Line line; lines.size() < count && next(line);) {
    if (!line.problem.empty()) refuse(line);
    lines.push_back(std::move(line.text));
  }
  return lines;
}

}  // namespace rnnsearch
