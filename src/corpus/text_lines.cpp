#include "rnnsearch/corpus/text_lines.h"

#include "rnnsearch/base/error.h"
#include "rnnsearch/base/signals.h"
#include "rnnsearch/corpus/text_stream.h"
#include "rnnsearch/text/unicode.h"

namespace rnnsearch::corpus {

bool LineSource::read(std::string& line) {
  line.clear();
  std::streambuf& buffer = *stream_.rdbuf();
  for (int c; (c = buffer.sbumpc()) != std::streambuf::traits_type::eof();) {
    if (c == '\n') return true;
    if (line.size() == kLineBytes)
      throw Error(text_of(name_, ", line ", lines_ + 1, ": longer than ", kLineBytes >> 20,
                          " MiB; the text must have one sentence a line"));
    line += static_cast<char>(c);
  }
  return !line.empty();
}

std::vector<std::string> LineSource::next(std::size_t count) {
  std::vector<std::string> lines;
  for (std::string line; lines.size() < count && read(line);) {
    ++lines_;
    const auto refuse = [&](const char* what, std::size_t byte) {
      throw Error(text_of(name_, ", line ", lines_, ", byte ", byte + 1, ": ", what,
                          "; the text must be plain UTF-8, one sentence a line"));
    };
    if (const auto byte = text::first_invalid_utf8(line)) refuse("not valid UTF-8", *byte);
    if (const auto byte = line.find('\0'); byte != std::string::npos) refuse("a NUL byte", byte);
    lines.push_back(std::move(line));
  }
  return lines;
}

std::vector<std::string> read_lines(const std::filesystem::path& path, TestSetPart part) {
  if (const auto test_set = test_set_name(path)) return read_test_set(*test_set, part).lines;
  const auto stream = open_text(path, stop_if_signal_came);
  auto lines = LineSource(*stream, path.string()).next(static_cast<std::size_t>(-1));
  if (lines.empty()) throw Error(text_of(path.string(), " is empty: it must hold one sentence a line"));
  return lines;
}

void check_same_lines(const CountedLines& a, const CountedLines& b) {
  const auto a_set = test_set_name(a.path), b_set = test_set_name(b.path);
  if (a.lines != b.lines) {
    throw Error(text_of(a.path.string(), " has ", a.lines, a_set ? " segments" : " lines", " but ", b.path.string(),
                        " has ", b.lines, b_set ? " segments" : " lines",
                        "; line i of one must belong to line i of the other"));
  }
  if (a_set && b_set) {
    check_same_segments(a_set->file, read_test_set(*a_set, a.part), b_set->file, read_test_set(*b_set, b.part));
  }
}

}  // namespace rnnsearch::corpus
