#include "rnnsearch/corpus/text_lines.h"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <set>
#include <tuple>
#include <utility>

#include "corpus/byte_source.h"
#include "rnnsearch/base/error.h"
#include "rnnsearch/base/printable.h"
#include "rnnsearch/base/signals.h"

namespace rnnsearch::corpus {
namespace {

constexpr std::string_view kSpaces = " \t\r";

/// Reads "source-target" as a whole.
bool read_link(std::string_view text, std::uint32_t& source, std::uint32_t& target) {
  const char* const end = text.data() + text.size();
  const auto first = std::from_chars(text.data(), end, source);
  if (first.ec != std::errc() || first.ptr == end || *first.ptr != '-') return false;
  const auto second = std::from_chars(first.ptr + 1, end, target);
  return second.ec == std::errc() && second.ptr == end;
}

}  // namespace

std::vector<std::string> read_lines(const std::filesystem::path& path, const LineLimit& limit) {
  auto lines =
      LineSource(open_text(path, stop_if_signal_came), path.string(), limit).next(static_cast<std::size_t>(-1));
  if (lines.empty()) throw Error("{} is empty: it must hold one sentence a line", path);
  return lines;
}

std::vector<std::size_t> chosen_lines(const std::string& asked, std::size_t lines, const std::filesystem::path& text) {
  std::vector<std::size_t> all(lines);
  std::iota(all.begin(), all.end(), std::size_t{0});
  if (asked.empty()) return all;
  std::set<std::size_t> chosen;
  for (std::size_t begin = 0; begin <= asked.size();) {
    const std::size_t end = std::min(asked.find(',', begin), asked.size());
    const char *at = asked.data() + begin, *const stop = asked.data() + end;
    std::size_t first = 0, last = 0;
    const auto number = [&](std::size_t& value) {
      const auto [rest, error] = std::from_chars(at, stop, value);
      at = rest;
      return error == std::errc{};
    };
    bool good = number(first);
    last = first;
    if (good && at != stop && *at == '-') {
      ++at;
      good = number(last);
    }
    if (!good || at != stop || first == 0 || last < first) {
      throw UsageError("--lines: '{}' is neither a line nor a range of lines; expected 1,5,10-20, lines counted from 1",
                       asked.substr(begin, end - begin));
    }
    if (last > lines) throw Error("--lines: there is no line {} in {}, which has {}", last, text, lines);
    for (std::size_t line = first; line <= last; ++line) chosen.insert(line - 1);
    begin = end + 1;
  }
  return {chosen.begin(), chosen.end()};
}

void check_same_lines(const CountedLines& a, const CountedLines& b) {
  if (a.lines != b.lines) {
    throw Error("{} has {} lines but {} has {}; line i of one must belong to line i of the other", a.path, a.lines,
                b.path, b.lines);
  }
}

std::unique_ptr<ByteStream> open_text(const std::filesystem::path& path, const Poll& poll) {
  std::error_code ignored;
  const std::filesystem::file_status status = std::filesystem::status(path, ignored);
  const bool waits = std::filesystem::exists(status) && !is_regular_file(status) && !is_directory(status);
  // An empty file, which ByteSource rejects, is a text without lines here.
  if (waits || (is_regular_file(status) && std::filesystem::file_size(path, ignored) == 0))
    return std::make_unique<WaitingInput>(path, poll);
  return ByteSource::open(path, poll);
}

std::string read_links(std::string_view line, std::span<const WordPieces> source, std::span<const WordPieces> target,
                       std::vector<std::uint32_t>& links) {
  std::set<std::pair<std::uint32_t, std::uint32_t>> found;
  for (std::size_t begin = line.find_first_not_of(kSpaces); begin != std::string_view::npos;) {
    const std::size_t end = std::min(line.find_first_of(kSpaces, begin), line.size());
    const std::string_view link = line.substr(begin, end - begin);
    std::uint32_t s = 0, t = 0;
    if (!read_link(link, s, t)) return fmt::format("'{}' is not a link such as 0-0", printable(link));
    for (const auto& [position, words, side] : {std::tuple{s, source.size(), "source"}, {t, target.size(), "target"}}) {
      if (position >= words) {
        return fmt::format("the link {} is past the {} words of the {}, which are counted from 0", link, words, side);
      }
    }
    for (std::size_t j = source[s].first; j < source[s].end; ++j)
      for (std::size_t i = target[t].first; i < target[t].end; ++i) found.emplace(j, i);
    begin = line.find_first_not_of(kSpaces, end);
  }
  for (const auto& [j, i] : found) links.insert(links.end(), {j, i});
  return {};
}

std::vector<WordPieces> whole_words(std::size_t words) {
  std::vector<WordPieces> pieces;
  for (std::size_t i = 0; i < words; ++i) pieces.push_back({i, i + 1});
  return pieces;
}

}  // namespace rnnsearch::corpus
