#include "rnnsearch/decode/shortlist.h"

#include <algorithm>
#include <array>
#include <numeric>
#include <optional>
#include <string_view>

#include "rnnsearch/base/error.h"
#include "rnnsearch/base/option.h"
#include "rnnsearch/base/printable.h"

namespace rnnsearch::decode {
namespace {

struct Entry {
  double probability;
  WordId word;
};

/// The three fields of a line; none if there are fewer or more.
std::optional<std::array<std::string_view, 3>> fields_of(std::string_view line) {
  std::array<std::string_view, 3> fields;
  std::size_t count = 0;
  for (std::size_t begin = 0;; ++count) {
    begin = line.find_first_not_of(" \t\r", begin);
    if (begin == line.npos) break;
    if (count == fields.size()) return std::nullopt;
    const std::size_t end = std::min(line.find_first_of(" \t\r", begin), line.size());
    fields[count] = line.substr(begin, end - begin);
    begin = end;
  }
  return count == fields.size() ? std::optional(fields) : std::nullopt;
}

std::optional<WordId> word_of(std::string_view text, const corpus::Vocabulary& vocabulary) {
  const WordId id = vocabulary.id(text);
  if (id != kUnknown || text == corpus::kSpecialSymbols[kUnknown]) return id;
  return std::nullopt;
}

}  // namespace

LexicalTable read_lexical_table(LineSource& lines, const std::string& name, const corpus::Vocabulary& source_vocabulary,
                                const corpus::Vocabulary& target_vocabulary, std::size_t most) {
  constexpr std::size_t kLines = 4096;
  LexicalTable table;
  std::vector<std::vector<Entry>> entries(source_vocabulary.size());
  for (bool more = true; more;) {
    const auto portion = lines.next(kLines);
    more = portion.size() == kLines;
    for (const std::string& line : portion) {
      ++table.lines;
      const auto fields = fields_of(line);
      double probability = 0;
      if (!fields || !value::read(std::string((*fields)[2]), probability) || !(probability >= 0 && probability <= 1)) {
        throw Error(
            "{}, line {}: '{}' is not a target word, a source word and a probability from 0 to 1 with spaces between "
            "them; rnnsearch align --lexical-table writes such a table",
            name, table.lines, printable(line.substr(0, 80)));
      }
      const auto target = word_of((*fields)[0], target_vocabulary), source = word_of((*fields)[1], source_vocabulary);
      if (!target || !source) continue;
      ++table.used;
      if (probability > 0) entries[*source].push_back({probability, *target});
    }
  }
  if (table.used == 0) {
    throw Error(
        "{}: none of its {} lines has a target word and a source word of this model, in this order; its words must be "
        "split as the model splits text (rnnsearch align --lexical-table makes a table from a model)",
        name, table.lines);
  }
  for (auto& of_word : entries) {
    std::sort(of_word.begin(), of_word.end(), [](const Entry& a, const Entry& b) {
      return a.probability != b.probability ? a.probability > b.probability : a.word < b.word;
    });
    std::vector<WordId> best;
    for (const Entry& entry : of_word) {
      if (best.size() == most) break;
      if (std::find(best.begin(), best.end(), entry.word) == best.end()) best.push_back(entry.word);
    }
    table.translations.add(best);
  }
  return table;
}

void LexicalCounts::for_each_line(const corpus::Vocabulary& source_vocabulary,
                                  const corpus::Vocabulary& target_vocabulary,
                                  const std::function<void(const std::string& line)>& line) const {
  for (auto first = counts_.begin(); first != counts_.end();) {
    const WordId source = first->first.first;
    std::vector<std::pair<std::uint64_t, WordId>> targets;
    std::uint64_t sum = 0;
    for (; first != counts_.end() && first->first.first == source; ++first) {
      targets.emplace_back(first->second, first->first.second);
      sum += first->second;
    }
    std::stable_sort(targets.begin(), targets.end(), [](const auto& a, const auto& b) { return a.first > b.first; });
    for (const auto& [count, target] : targets) {
      const double probability = static_cast<double>(count) / static_cast<double>(sum);
      line(fmt::format("{} {} {:.7f}", target_vocabulary.word(target), source_vocabulary.word(source), probability));
    }
  }
}

Shortlist::Shortlist(Sentences translations, std::size_t frequent, std::size_t target_words)
    : translations_(std::move(translations)),
      frequent_(std::min(frequent + corpus::kSpecialSymbols.size(), target_words)) {}

std::vector<WordId> Shortlist::words_for(std::span<const WordId> source, std::span<const WordId> given) const {
  std::vector<WordId> words(frequent_);
  std::iota(words.begin(), words.end(), WordId{0});
  words.insert(words.end(), given.begin(), given.end());
  for (const WordId word : source) {
    const auto translations = translations_[word];
    words.insert(words.end(), translations.begin(), translations.end());
  }
  std::sort(words.begin(), words.end());
  words.erase(std::unique(words.begin(), words.end()), words.end());
  return words;
}

}  // namespace rnnsearch::decode
