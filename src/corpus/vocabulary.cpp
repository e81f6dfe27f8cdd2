#include "rnnsearch/corpus/vocabulary.h"

#include <algorithm>
#include <utility>

#include "rnnsearch/base/error.h"
#include "rnnsearch/text/unicode.h"

namespace rnnsearch::corpus {

Vocabulary::Vocabulary(std::vector<std::string> words, std::vector<std::uint64_t> counts)
    : words_(std::move(words)), counts_(std::move(counts)) {
  if (counts_.empty()) counts_.assign(words_.size(), 0);
  if (counts_.size() != words_.size())
    throw Error(text_of("the vocabulary has ", words_.size(), " words but ", counts_.size(), " counts"));
  for (std::size_t i = 0; i < kSpecialSymbols.size(); ++i) {
    if (i >= words_.size() || words_[i] != kSpecialSymbols[i])
      throw Error(text_of("the vocabulary has '", i < words_.size() ? words_[i] : "", "' as word ", i, " where ",
                          kSpecialSymbols[i], " was expected"));
  }
  ids_.reserve(words_.size());
  for (std::size_t i = kSpecialSymbols.size(); i < words_.size(); ++i) {
    if (words_[i].empty() || words_[i].find_first_of(std::string_view("\n\0", 2)) != std::string::npos ||
        text::first_invalid_utf8(words_[i]))
      throw Error(
          text_of("word ", i, " of the vocabulary is ", words_[i].empty() ? "empty" : "not a line of valid UTF-8"));
    const auto special = std::find(kSpecialSymbols.begin(), kSpecialSymbols.end(), words_[i]);
    if (special != kSpecialSymbols.end())
      throw Error(text_of("the vocabulary has '", words_[i], "' twice, as words ", special - kSpecialSymbols.begin(),
                          " and ", i));
    const auto [entry, inserted] = ids_.emplace(words_[i], static_cast<WordId>(i));
    if (!inserted)
      throw Error(text_of("the vocabulary has '", words_[i], "' twice, as words ", entry->second, " and ", i));
  }
}

WordId Vocabulary::id(std::string_view word) const {
  const auto entry = ids_.find(word);
  return entry == ids_.end() ? kUnknown : entry->second;
}

}  // namespace rnnsearch::corpus
