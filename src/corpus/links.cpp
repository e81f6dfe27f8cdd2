#include "rnnsearch/corpus/links.h"

#include <algorithm>
#include <charconv>
#include <set>
#include <tuple>
#include <utility>

#include "rnnsearch/base/error.h"
#include "rnnsearch/base/printable.h"

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
