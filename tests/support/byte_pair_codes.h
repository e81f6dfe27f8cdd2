// The codes of subword-nmt, and apply_bpe.py's encode, step by step.
#pragma once

#include <algorithm>
#include <map>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "rnnsearch/base/printable.h"

namespace rnnsearch::support {

struct BytePairCodes {
  bool joins_end = false;
  std::map<std::pair<std::string, std::string>, std::size_t> merges;

  explicit BytePairCodes(std::string_view file) {
    for (std::size_t number = 0; !file.empty(); ++number) {
      std::string_view line = file.substr(0, file.find('\n'));
      file.remove_prefix(std::min(line.size() + 1, file.size()));
      if (number == 0 && line.starts_with("#version:")) {
        joins_end = line.find("0.2") != line.npos;
        continue;
      }
      while (line.ends_with(' ')) line.remove_suffix(1);
      while (line.starts_with(' ')) line.remove_prefix(1);
      const std::size_t space = line.find(' ');
      if (space == line.npos) continue;
      merges.try_emplace({std::string(line.substr(0, space)), std::string(line.substr(space + 1))}, number);
    }
  }

  std::vector<std::string> split(std::string_view text) const {
    std::vector<std::string> word;
    for (std::string_view rest = text; !rest.empty(); rest.remove_prefix(word.back().size()))
      word.emplace_back(rest.substr(0, utf8_size(rest.front())));
    if (word.size() <= 1) return word;
    if (joins_end) {
      word.back() += "</w>";
    } else {
      word.push_back("</w>");
    }
    while (word.size() > 1) {
      auto best = merges.end();
      for (std::size_t i = 0; i + 1 < word.size(); ++i) {
        const auto merge = merges.find({word[i], word[i + 1]});
        if (merge != merges.end() && (best == merges.end() || merge->second < best->second)) best = merge;
      }
      if (best == merges.end()) break;
      std::vector<std::string> next;
      for (std::size_t i = 0; i < word.size(); ++i) {
        next.push_back(word[i]);
        if (i + 1 == word.size() || std::pair(word[i], word[i + 1]) != best->first) continue;
        next.back() += word[++i];
      }
      word = std::move(next);
    }
    word.back().resize(word.back().size() - 4);
    if (word.back().empty()) word.pop_back();
    for (std::size_t i = 0; i + 1 < word.size(); ++i) word[i] += "@@";
    return word;
  }
};

}  // namespace rnnsearch::support
