#include "rnnsearch/corpus/text_lines.h"

#include <algorithm>
#include <charconv>
#include <numeric>
#include <set>

#include "rnnsearch/base/error.h"
#include "rnnsearch/base/signals.h"
#include "rnnsearch/corpus/text_stream.h"

namespace rnnsearch::corpus {

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

}  // namespace rnnsearch::corpus
