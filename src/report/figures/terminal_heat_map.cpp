#include "rnnsearch/report/heat_map.h"

#include <algorithm>

#include "rnnsearch/base/printable.h"

namespace rnnsearch::report {
namespace {

constexpr std::size_t kLongestWord = 16;  // in columns of the terminal, and as many lines for the source words

std::vector<std::string> characters_of(const std::string& word) {
  std::vector<std::string> characters;
  for (std::size_t at = 0; at < word.size(); at += utf8_size(word[at]))
    characters.push_back(word.substr(at, utf8_size(word[at])));
  return characters;
}

/// Two columns, darker for larger weights as on paper.
const char* cell_of(double weight) {
  return weight < 0.05 ? "· " : weight < 0.25 ? "░░" : weight < 0.5 ? "▒▒" : weight < 0.75 ? "▓▓" : "██";
}

}  // namespace

std::string terminal_heat_map(const AttentionMatrix& alignment) {
  std::vector<std::string> target;
  std::vector<std::vector<std::string>> source;
  std::size_t margin = 0, height = 0;
  for (const std::string& word : alignment.target) {
    target.push_back(cut(printable(word), kLongestWord));
    margin = std::max(margin, columns_of(target.back()));
  }
  for (const std::string& word : alignment.source) {
    source.push_back(characters_of(cut(printable(word), kLongestWord)));
    height = std::max(height, source.back().size());
  }
  std::string text;
  for (std::size_t line = height; line > 0; --line) {  // the words stand on the matrix
    text += std::string(margin + 1, ' ');
    for (const auto& word : source) text += line > word.size() ? "  " : left(word[word.size() - line], 2);
    text.erase(text.find_last_not_of(' ') + 1);
    text += '\n';
  }
  for (std::size_t i = 0; i < target.size(); ++i) {
    text += right(target[i], margin) + ' ';
    for (std::size_t j = 0; j < source.size(); ++j) text += cell_of(alignment.weights[i * source.size() + j]);
    text += '\n';
  }
  return text;
}

}  // namespace rnnsearch::report
