// Word alignments: links in the Pharaoh format (Koehn 2004), the alignment error rate (Och and Ney 2003), and links
// from soft alignments. A link i-j connects source word i and target word j, both counted from 0; </s> has no links.
#pragma once

#include <compare>
#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rnnsearch/base/json.h"
#include "rnnsearch/evaluate/metrics.h"

namespace rnnsearch::evaluate {

struct Link {
  std::uint32_t source = 0, target = 0;

  friend auto operator<=>(const Link&, const Link&) = default;
};

/// The links of one sentence, sorted by source word, then target word, without duplicates. All functions return Links
/// in this form.
using Links = std::vector<Link>;

/// A gold alignment: sure links S and possible links P. Every sure link is also possible.
struct GoldLinks {
  Links sure, possible;

  friend bool operator==(const GoldLinks&, const GoldLinks&) = default;
};

/// Parses a line such as "0-0 1-2"; an empty line has no links. first_index: the number of the first word in the file,
/// 0, or 1 as in many gold files. Throws Error for an invalid line; the message begins with `location`, such as
/// "links.txt, line 3".
Links links_of(std::string_view line, const std::string& location, std::uint32_t first_index = 0);
/// Parses a line that may hold possible links, such as "0-0 1?2" or "0-0 1p2".
GoldLinks gold_links_of(std::string_view line, const std::string& location, std::uint32_t first_index = 0);
/// Parses every line of the file `name`.
std::vector<GoldLinks> read_gold_links(std::span<const std::string> lines, const std::string& name,
                                       std::uint32_t first_index = 0);
/// Throws Error if a link is outside of its sentence. For gold links, checking the possible links is enough, because
/// they include the sure ones.
void check_links(const Links& links, std::size_t source_words, std::size_t target_words, const std::string& location);
/// Formats links as a line such as "0-0 1-2", which links_of reads.
std::string pharaoh_line(const Links& links);

/// Counts of links, which are summed over sentences. A: the links to evaluate; S and P: the gold links.
struct AlignmentStatistics {
  static constexpr bool kAddsUp = true;
  std::uint64_t links = 0;             // |A|
  std::uint64_t sure = 0;              // |S|
  std::uint64_t correct_sure = 0;      // |A and S|
  std::uint64_t correct_possible = 0;  // |A and P|

  friend bool operator==(const AlignmentStatistics&, const AlignmentStatistics&) = default;
};

/// All values are from 0 to 1.
struct AlignmentScore {
  double error_rate = 0;  // 1 - (|A and S| + |A and P|) / (|A| + |S|); 0 if A and S are empty
  double precision = 0;   // |A and P| / |A|; 0 without links
  double recall = 0;      // |A and S| / |S|; 0 without sure links
  double f1 = 0;          // harmonic mean of precision and recall
  AlignmentStatistics statistics;
};

AlignmentStatistics sentence_statistics(const Links& links, const GoldLinks& gold);
AlignmentScore alignment_score_of(const AlignmentStatistics& statistics);
/// With the counts: for programs, and as lines for people.
Json json_of(const AlignmentScore& score);
std::string lines_of(const AlignmentScore& score);

/// The attention weights of one sentence. Row i holds the weights of target word i over the columns; float32,
/// row-major, owned by the caller.
struct SoftAlignment {
  std::span<const float> weights;  // [rows, columns]
  std::size_t columns = 0;
  std::size_t source_words = 0;  // at most `columns`; the columns after them (</s>) get no links
  std::size_t target_words = 0;  // at most the number of rows; the rows after them (</s>) get no links
};

/// Links each target word to the column of its largest weight (the first one if several are equal). A word whose
/// largest weight is 0 or belongs to </s> gets no link.
Links argmax_links(const SoftAlignment& alignment);
/// Links all pairs of words whose weight is at least `threshold`.
Links threshold_links(const SoftAlignment& alignment, float threshold);

}  // namespace rnnsearch::evaluate
