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

std::string read_links(std::string_view line, std::size_t source_words, std::size_t target_words,
                       std::vector<std::uint32_t>& links) {
  std::set<std::pair<std::uint32_t, std::uint32_t>> found;
  for (std::size_t begin = line.find_first_not_of(kSpaces); begin != std::string_view::npos;) {
    const std::size_t end = std::min(line.find_first_of(kSpaces, begin), line.size());
    const std::string_view link = line.substr(begin, end - begin);
    std::uint32_t source = 0, target = 0;
    if (!read_link(link, source, target)) return fmt::format("'{}' is not a link such as 0-0", printable(link));
    for (const auto& [position, words, side] :
         {std::tuple{source, source_words, "source"}, {target, target_words, "target"}}) {
      if (position >= words) {
        return fmt::format("the link {} is past the {} words of the {}, which are counted from 0", link, words, side);
      }
    }
    found.emplace(source, target);
    begin = line.find_first_not_of(kSpaces, end);
  }
  for (const auto& [source, target] : found) links.insert(links.end(), {source, target});
  return {};
}

}  // namespace rnnsearch::corpus
