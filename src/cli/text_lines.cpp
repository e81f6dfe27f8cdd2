#include "cli/text_lines.h"

#include <algorithm>
#include <cstdint>
#include <span>

#include "rnnsearch/base/error.h"
#include "rnnsearch/base/signals.h"
#include "rnnsearch/comm/meet.h"
#include "rnnsearch/corpus/text_stream.h"
#include "rnnsearch/text/unicode.h"

namespace rnnsearch::cli {

bool LineSource::read(std::string& line) {
  line.clear();
  std::streambuf& buffer = *stream_.rdbuf();
  for (int c; (c = buffer.sbumpc()) != std::streambuf::traits_type::eof();) {
    if (c == '\n') return true;
    if (line.size() == corpus::kLineBytes)
      throw Error(text_of(name_, ", line ", lines_ + 1, ": longer than ", corpus::kLineBytes >> 20,
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

std::vector<std::string> read_lines(const std::filesystem::path& path, corpus::TestSetPart part) {
  if (const auto test_set = corpus::test_set_name(path)) return corpus::read_test_set(*test_set, part).lines;
  const auto stream = corpus::open_text(path, stop_if_signal_came);
  auto lines = LineSource(*stream, path.string()).next(static_cast<std::size_t>(-1));
  if (lines.empty()) throw Error(text_of(path.string(), " is empty: it must hold one sentence a line"));
  return lines;
}

PatienceForPipes::PatienceForPipes(const std::vector<std::filesystem::path>& texts, double stall_timeout,
                                   const comm::Communicator& world)
    : stall_timeout_(stall_timeout) {
  std::uint64_t waits = std::any_of(texts.begin(), texts.end(), [](const std::filesystem::path& text) {
    std::error_code ignored;
    const auto status = std::filesystem::status(corpus::file_named(text), ignored);
    return text.empty() || (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status));
  });
  world.broadcast(std::span(&waits, 1));
  if (waits != 0) comm::set_stall_timeout(0);
}

void share_lines(std::vector<std::string>& lines, const comm::Communicator& world) {
  if (world.size() == 1) return;
  std::string text;
  for (const std::string& line : lines) text.append(line).push_back('\n');
  world.broadcast(text);
  if (world.is_root()) return;
  for (std::string_view rest = text; !rest.empty();) {
    const std::size_t size = rest.find('\n');
    lines.emplace_back(rest.substr(0, size));
    rest.remove_prefix(size + 1);
  }
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
