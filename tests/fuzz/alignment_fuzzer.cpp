// Files of links, as `align --gold` and `evaluate` read them: the first byte says which kind, and what counts as the
// first word. What is accepted is in order, comes back from the file that it is written to, and has a score.
#include "rnnsearch/evaluate/alignment.h"

#include <algorithm>

#include "rnnsearch/base/file.h"
#include "rnnsearch/base/line_source.h"
#include "tests/fuzz/fuzz.h"

namespace rnnsearch::fuzz {
namespace {

using evaluate::GoldLinks;
using evaluate::Links;

void require_in_order(const Links& links) {
  require(std::adjacent_find(links.begin(), links.end(), std::greater_equal<>()) == links.end(),
          "links out of order, or twice");
}

std::string line_of(const GoldLinks& gold, std::uint32_t first_index) {
  std::string line;
  for (const evaluate::Link& link : gold.possible) {
    const bool sure = std::binary_search(gold.sure.begin(), gold.sure.end(), link);
    line += fmt::format("{}{}{}{}", line.empty() ? "" : " ", std::uint64_t{link.source} + first_index, sure ? "-" : "?",
                        std::uint64_t{link.target} + first_index);
  }
  return line + "\n";
}

/// What align does with a file.
std::vector<GoldLinks> read_gold(const std::filesystem::path& path, std::uint32_t first_index) {
  LineSource lines(std::make_unique<WaitingInput>(path, Poll()), "links", {});
  return evaluate::read_gold_links(lines.next(static_cast<std::size_t>(-1)), "links", first_index);
}

void check_gold(const std::filesystem::path& path, std::uint32_t first_index) {
  std::vector<GoldLinks> gold;
  if (!accepted([&] { gold = read_gold(path, first_index); })) return;
  std::string again;
  std::vector<Links> possible, none(gold.size());
  for (const GoldLinks& links : gold) {
    require_in_order(links.sure);
    require_in_order(links.possible);
    require(std::includes(links.possible.begin(), links.possible.end(), links.sure.begin(), links.sure.end()),
            "a sure link that is not possible");
    again += line_of(links, first_index);
    possible.push_back(links.possible);
    const bool small = std::all_of(links.possible.begin(), links.possible.end(),
                                   [](evaluate::Link link) { return link.source < 100 && link.target < 50; });
    require(small == accepted([&] { evaluate::check_links(links.possible, 100, 50, "a place"); }),
            "links are taken to be within their sentence, or beyond it, and are not");
  }
  require(read_gold(written("again", again), first_index) == gold, "links come back as others");
  for (const std::vector<Links>& links : {possible, none}) {
    evaluate::AlignmentStatistics sum;
    for (std::size_t i = 0; i < gold.size(); ++i) sum += evaluate::sentence_statistics(links[i], gold[i]);
    const evaluate::AlignmentScore score = evaluate::alignment_score_of(sum);
    for (const double part : {score.error_rate, score.precision, score.recall, score.f1})
      require(part >= 0 && part <= 1, "a score that is not from 0 to 1");
    require(&links != &possible || score.error_rate == 0, "the possible links have errors");
  }
}

void check_links(const std::filesystem::path& path, std::uint32_t first_index) {
  const std::string line = read_file(path);
  Links links;
  if (!accepted([&] { links = evaluate::links_of(line, "links", first_index); })) return;
  require_in_order(links);
  require(evaluate::links_of(evaluate::pharaoh_line(links), "links") == links, "links come back as others");
  const GoldLinks gold = evaluate::gold_links_of(line, "links", first_index);
  require(gold.sure == links && gold.possible == links, "links are others as gold links");
}

}  // namespace
}  // namespace rnnsearch::fuzz

void rnnsearch::fuzz::run(Input input) {
  const std::uint8_t how = input.byte();
  const auto path = written("links", input.rest());
  (how & 1 ? check_gold : check_links)(path, how >> 1 & 1);
}
