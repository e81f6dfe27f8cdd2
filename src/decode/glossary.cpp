#include "rnnsearch/decode/glossary.h"

#include <algorithm>

#include "rnnsearch/base/error.h"
#include "rnnsearch/base/number_text.h"
#include "rnnsearch/base/printable.h"
#include "rnnsearch/corpus/spelling.h"

namespace rnnsearch::decode {

using corpus::Side;
using corpus::Spelling;

Glossary::Glossary(const std::vector<std::string>& lines, const std::string& name, const corpus::TextPipeline& pipeline)
    : pipeline_(pipeline) {
  for (std::size_t i = 0; i < lines.size(); ++i) {
    const std::string& line = lines[i];
    if (line.find_first_not_of(" \t") == line.npos) continue;
    const auto refuse = [&](const std::string& why) {
      throw Error("{}, line {}: '{}' {}", name, i + 1, printable(line.substr(0, 80)), why);
    };
    const std::size_t tab = line.find('\t');
    if (tab == line.npos || line.find('\t', tab + 1) != line.npos) {
      refuse("is not a source term, a tab and a target term");
    }
    std::vector<std::string> copied;
    if (pipeline.copies) pipeline.source_line(line.substr(0, tab), text::kMostPlaceholders, copied);
    if (!copied.empty()) refuse("has text in its source term that --copy-pattern copies, so no line would match it");
    const auto term =
        Spelling::words_of_pieces(pipeline.to_words(line.substr(0, tab), Side::kSource), pipeline, Side::kSource);
    const std::string translation = line.substr(tab + 1);
    if (term.empty() || pipeline.to_words(translation, Side::kTarget).empty())
      refuse("has no words on one side of the tab");
    const auto [entry, is_new] = terms_.try_emplace(term, translation);
    if (!is_new && pipeline.to_words(entry->second, Side::kTarget) != pipeline.to_words(translation, Side::kTarget))
      refuse(fmt::format("translates a source term for which an earlier line has '{}'", printable(entry->second)));
    std::size_t& longest = longest_from_[term.front()];
    longest = std::max(longest, term.size());
  }
}

std::vector<std::string> Glossary::terms(const std::vector<std::string>& words) const {
  const auto whole = Spelling::words_of_pieces(words, pipeline_, Side::kSource);
  std::vector<std::string> found;
  for (auto begin = whole.begin(); begin != whole.end();) {
    const auto longest = longest_from_.find(*begin);
    auto end = begin;
    if (longest != longest_from_.end()) {
      end += std::min(static_cast<std::ptrdiff_t>(longest->second), whole.end() - begin);
    }
    auto term = terms_.end();
    for (; end != begin && (term = terms_.find({begin, end})) == terms_.end(); --end) {
    }
    if (end == begin) {
      ++begin;
      continue;
    }
    if (std::find(found.begin(), found.end(), term->second) == found.end()) found.push_back(term->second);
    begin = end;
  }
  return found;
}

}  // namespace rnnsearch::decode
