// Word alignments: links in Pharaoh's format (Koehn 2004), the alignment error rate (Och and Ney 2003), and links from
// soft alignments. A link i-j joins source word i and target word j, both from 0, the source first; </s> has no links.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rnnsearch/base/waiting_input.h"

namespace rnnsearch::evaluate {

struct Link {
  std::uint32_t source = 0, target = 0;

  friend auto operator<=>(const Link&, const Link&) = default;
};

/// Of one sentence: in order, source words first, and each link once. Whatever returns Links returns them so.
using Links = std::vector<Link>;

/// What people drew: sure links S and possible links P. Every sure link is possible as well.
struct GoldLinks {
  Links sure, possible;

  friend bool operator==(const GoldLinks&, const GoldLinks&) = default;
};

/// One line, "0-0 1-2"; an empty one has no links. `first_index` is what the file calls the first word: 0, or 1 as in
/// many gold files. `place` ("links.txt, line 3") begins the Error thrown for anything else.
Links links_of(std::string_view line, const std::string& place, std::uint32_t first_index = 0);
/// The same with possible links, "0-0 1?2" or "0-0 1p2".
GoldLinks gold_links_of(std::string_view line, const std::string& place, std::uint32_t first_index = 0);
/// Every line of a file. Throws Error (file, line, link) as above, and for a file that is missing, a folder, or empty.
std::vector<Links> read_links(const std::filesystem::path& path, std::uint32_t first_index = 0);
std::vector<GoldLinks> read_gold_links(const std::filesystem::path& path, std::uint32_t first_index = 0,
                                       const Poll& poll = {});
/// Throws Error when a link goes beyond its sentence. Of gold links, check the possible ones: they are all.
void check_links(const Links& links, std::size_t source_words, std::size_t target_words, const std::string& place);
/// "0-0 1-2": the line that links_of reads.
std::string pharaoh_line(const Links& links);

/// Counts of links; they add up over sentences. A: the links given, S and P: the gold ones.
struct AlignmentStatistics {
  std::uint64_t links = 0;             // |A|
  std::uint64_t sure = 0;              // |S|
  std::uint64_t correct_sure = 0;      // |A and S|
  std::uint64_t correct_possible = 0;  // |A and P|

  AlignmentStatistics& operator+=(const AlignmentStatistics& other);
  friend bool operator==(const AlignmentStatistics&, const AlignmentStatistics&) = default;
};

/// All from 0 to 1.
struct AlignmentScore {
  double error_rate = 0;  // 1 - (|A and S| + |A and P|) / (|A| + |S|); 0 when there is neither a link nor a sure one
  double precision = 0;   // |A and P| / |A|; 0 without links
  double recall = 0;      // |A and S| / |S|; 0 without sure links
  double f1 = 0;          // harmonic mean of the two
  AlignmentStatistics statistics;
};

AlignmentStatistics sentence_statistics(const Links& links, const GoldLinks& gold);
AlignmentScore alignment_score_of(const AlignmentStatistics& statistics);
/// Throws Error when the numbers of sentences differ or there is none.
AlignmentScore corpus_alignment(std::span<const Links> links, std::span<const GoldLinks> gold);

/// What attention gives for one sentence. Row i: the weights of target word i over the columns; float32, row-major,
/// owned by the caller.
struct SoftAlignment {
  std::span<const float> weights;  // [rows, columns]
  std::size_t columns = 0;
  std::size_t source_words = 0;  // at most `columns`; the columns behind them (</s>) get no links
  std::size_t target_words = 0;  // at most the rows; the rows behind them (</s>) get no links
};

/// Each target word and the column of its largest weight, of equals the first. A word whose largest weight is that of
/// </s>, or 0, stays without a link.
Links argmax_links(const SoftAlignment& alignment);
/// All pairs of words whose weight is at least `threshold`.
Links threshold_links(const SoftAlignment& alignment, float threshold);

}  // namespace rnnsearch::evaluate
