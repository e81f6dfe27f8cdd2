#include "cli/text_lines.h"

#include <cerrno>
#include <cstring>

#include "rnnsearch/base/error.h"
#include "rnnsearch/corpus/text_stream.h"
#include "rnnsearch/text/unicode.h"

namespace rnnsearch::cli {

std::vector<std::string> LineSource::next(std::size_t count) {
  std::vector<std::string> lines;
  for (std::string line; lines.size() < count && std::getline(stream_, line);) {
    ++lines_;
    const auto refuse = [&](const char* what, std::size_t byte) {
      throw Error(text_of(name_, ", line ", lines_, ", byte ", byte + 1, ": ", what,
                          "; the text must be plain UTF-8, one sentence a line"));
    };
    if (const auto byte = text::first_invalid_utf8(line)) refuse("not valid UTF-8", *byte);
    if (const auto byte = line.find('\0'); byte != std::string::npos) refuse("a NUL byte", byte);
    lines.push_back(std::move(line));
  }
  if (stream_.bad()) throw Error(text_of(name_, ": cannot be read after line ", lines_, ": ", std::strerror(errno)));
  return lines;
}

std::vector<std::string> read_lines(const std::filesystem::path& path, corpus::TestSetPart part) {
  if (const auto test_set = corpus::test_set_name(path)) return corpus::read_test_set(*test_set, part).lines;
  const auto stream = corpus::open_text(path);
  auto lines = LineSource(*stream, path.string()).next(static_cast<std::size_t>(-1));
  if (lines.empty()) throw Error(text_of(path.string(), " is empty: it must hold one sentence a line"));
  return lines;
}

void check_same_lines(const CountedLines& a, const CountedLines& b) {
  const auto a_set = corpus::test_set_name(a.path), b_set = corpus::test_set_name(b.path);
  if (a.lines != b.lines) {
    throw Error(text_of(a.path.string(), " has ", a.lines, a_set ? " segments" : " lines", " but ", b.path.string(),
                        " has ", b.lines, b_set ? " segments" : " lines",
                        "; line i of one must belong to line i of the other"));
  }
  if (a_set && b_set) {
    corpus::check_same_segments(a_set->file, corpus::read_test_set(*a_set, a.part), b_set->file,
                                corpus::read_test_set(*b_set, b.part));
  }
}

}  // namespace rnnsearch::cli
