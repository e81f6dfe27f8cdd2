#include "rnnsearch/evaluate/alignment.h"

#include <nlohmann/json.hpp>
#include <system_error>

namespace rnnsearch::evaluate {
namespace {

/// A link and whether it is sure; nothing if `text` is not a link.
std::optional<std::pair<Link, bool>> parse(std::string_view text, std::uint32_t first_index) {
  const char* const end = text.data() + text.size();
  const auto number = [&](const char* from, std::uint32_t& value) {
    const auto [rest, error] = std::from_chars(from, end, value);
    if (error != std::errc{} || value < first_index) return static_cast<const char*>(nullptr);
    value -= first_index;
    return rest;
  };
  Link link;
  const char* const mark = number(text.data(), link.source);
  if (mark == nullptr || mark == end || (*mark != '-' && *mark != '?' && *mark != 'p')) return std::nullopt;
  if (number(mark + 1, link.target) != end) return std::nullopt;
  return std::pair(link, *mark == '-');
}

/// A short, printable quotation for an error, whatever the file contains.
std::string shown(std::string_view text) {
  constexpr std::size_t kShown = 24;
  std::string copy(text.substr(0, kShown));
  for (char& c : copy) {
    if (c < ' ' || c > '~') c = '?';
  }
  return text.size() > kShown ? copy + "..." : copy;
}

void sort_once(Links& links) {
  std::ranges::sort(links);
  links.erase(std::unique(links.begin(), links.end()), links.end());
}

/// gold: links may be possible only; otherwise all are sure.
GoldLinks read_links(std::string_view line, const std::string& location, std::uint32_t first_index, bool gold) {
  GoldLinks links;
  std::size_t count = 0;
  for (const std::string_view text : text::split_views(line)) {
    ++count;
    const auto link = parse(text, first_index);
    if (!link)
      throw Error(
          "{0}, link {1}: '{2}' is not a link; expected SOURCE-TARGET, such as {3}-{4}{5}, words counted from {3}",
          location, count, shown(text), first_index, first_index + 1,
          gold ? fmt::format(" (or {0}?{1}, {0}p{1} where it is only possible)", first_index, first_index + 1) : "");
    const auto& [place, sure] = *link;
    if (!sure && !gold)
      throw Error(
          "{}, link {}: '{}' is a possible link, which only a gold alignment has; expected SOURCE-TARGET, such as "
          "{}-{}",
          location, count, shown(text), first_index, first_index + 1);
    links.possible.push_back(place);
    if (sure) links.sure.push_back(place);
  }
  sort_once(links.sure);
  sort_once(links.possible);
  return links;
}

std::uint64_t common(const Links& a, const Links& b) {
  Links both;
  std::ranges::set_intersection(a, b, std::back_inserter(both));
  return both.size();
}

double ratio(double part, double whole) { return whole > 0 ? part / whole : 0; }

std::size_t checked_rows(const SoftAlignment& alignment) {
  assert(alignment.source_words <= alignment.columns);
  assert(alignment.target_words * alignment.columns <= alignment.weights.size());
  assert(alignment.columns <= std::numeric_limits<std::uint32_t>::max());
  return alignment.target_words;
}

Link link(std::size_t source, std::size_t target) {
  return {static_cast<std::uint32_t>(source), static_cast<std::uint32_t>(target)};
}

}  // namespace

Links links_of(std::string_view line, const std::string& location, std::uint32_t first_index) {
  return read_links(line, location, first_index, false).sure;
}

GoldLinks gold_links_of(std::string_view line, const std::string& location, std::uint32_t first_index) {
  return read_links(line, location, first_index, true);
}

std::vector<GoldLinks> read_gold_links(std::span<const std::string> lines, const std::string& name,
                                       std::uint32_t first_index) {
  std::vector<GoldLinks> links;
  for (const std::string& line : lines)
    links.push_back(gold_links_of(line, fmt::format("{}, line {}", name, links.size() + 1), first_index));
  return links;
}

void check_links(const Links& links, std::size_t source_words, std::size_t target_words, const std::string& location) {
  for (const Link& l : links) {
    const bool beyond_source = l.source >= source_words;
    if (!beyond_source && l.target < target_words) continue;
    throw Error(
        "{}: link {}-{} (words counted from 0) goes beyond the {} sentence, which has {} words; the links must belong "
        "to these sentences and their tokenization, with the source word first",
        location, l.source, l.target, beyond_source ? "source" : "target", beyond_source ? source_words : target_words);
  }
}

std::string pharaoh_line(const Links& links) {
  std::string line;
  for (const Link& l : links) line += fmt::format("{}{}-{}", line.empty() ? "" : " ", l.source, l.target);
  return line;
}

AlignmentStatistics sentence_statistics(const Links& links, const GoldLinks& gold) {
  return {links.size(), gold.sure.size(), common(links, gold.sure), common(links, gold.possible)};
}

AlignmentScore alignment_score_of(const AlignmentStatistics& statistics) {
  const auto given = static_cast<double>(statistics.links), sure = static_cast<double>(statistics.sure);
  const auto in_sure = static_cast<double>(statistics.correct_sure);
  const auto in_possible = static_cast<double>(statistics.correct_possible);
  AlignmentScore score;
  score.error_rate = given + sure > 0 ? 1 - (in_sure + in_possible) / (given + sure) : 0;
  score.precision = ratio(in_possible, given);
  score.recall = ratio(in_sure, sure);
  score.f1 = ratio(2 * score.precision * score.recall, score.precision + score.recall);
  score.statistics = statistics;
  return score;
}

Links argmax_links(const SoftAlignment& alignment) {
  Links links;
  for (std::size_t i = 0; i < checked_rows(alignment); ++i) {
    const auto row = alignment.weights.subspan(i * alignment.columns, alignment.columns);
    const auto j = static_cast<std::size_t>(std::ranges::max_element(row) - row.begin());
    const bool is_word = j < alignment.source_words;  // not </s>
    if (is_word && row[j] > 0) links.push_back(link(j, i));
  }
  std::ranges::sort(links);
  return links;
}

Links threshold_links(const SoftAlignment& alignment, float threshold) {
  Links links;
  const std::size_t rows = checked_rows(alignment);
  for (std::size_t j = 0; j < alignment.source_words; ++j) {
    for (std::size_t i = 0; i < rows; ++i) {
      if (alignment.weights[i * alignment.columns + j] >= threshold) links.push_back(link(j, i));
    }
  }
  return links;
}

Json json_of(const AlignmentScore& score) {
  return Json::object({{"alignment_error_rate", score.error_rate},
                       {"precision", score.precision},
                       {"recall", score.recall},
                       {"f1", score.f1},
                       {"links", score.statistics.links},
                       {"sure", score.statistics.sure},
                       {"correct_sure", score.statistics.correct_sure},
                       {"correct_possible", score.statistics.correct_possible}});
}

std::string lines_of(const AlignmentScore& score) {
  const auto& counts = score.statistics;
  return fmt::format(
      "alignment error rate  {:.4f}\nprecision             {:.4f}\nrecall                {:.4f}\n"
      "F1                    {:.4f}\nlinks                 {}, of which {} are possible and {} are sure\n"
      "sure links of gold    {}\n",
      score.error_rate, score.precision, score.recall, score.f1, counts.links, counts.correct_possible,
      counts.correct_sure, counts.sure);
}

}  // namespace rnnsearch::evaluate
