// Shortlists: the words among which the translation of a sentence is searched, from a lexical table.
#pragma once

#include <cstdint>
#include <functional>
#include <map>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "rnnsearch/base/line_source.h"
#include "rnnsearch/base/sentences.h"
#include "rnnsearch/corpus/vocabulary.h"

namespace rnnsearch::decode {

/// What a lexical table says about the words of a model.
struct LexicalTable {
  /// translations[s]: of source word s, the most probable first; of equally probable ones the lower number first.
  Sentences translations{};
  std::size_t lines = 0, used = 0;  // of the file; those whose two words are in the vocabularies
};

/// Reads lines of a target word, a source word and the probability of the first as a translation of the second, with
/// spaces or tabs between them: the format of Moses's lex.f2e, which Marian's --shortlist reads. Keeps the `most` most
/// probable translations of each source word, or fewer: none has the probability 0. A pair that is there again has its
/// largest probability. <unk> is the unknown word of a side; other words that are in no vocabulary, such as NULL, are
/// left out. Throws Error, naming `name` and the line, for a line of another form, and for a table of which no line can
/// be used.
LexicalTable read_lexical_table(LineSource& lines, const std::string& name, const corpus::Vocabulary& source_vocabulary,
                                const corpus::Vocabulary& target_vocabulary, std::size_t most);

/// Counts linked words, of which a lexical table is made: p(t | s) is the share of target word t among the links of
/// source word s (Koehn, Och and Marcu 2003, Statistical phrase-based translation, section on lexical weighting).
class LexicalCounts {
 public:
  void add(WordId source, WordId target) { ++counts_[{source, target}]; }
  /// Calls line("target source probability") for each pair that was linked: by source word in the order of the
  /// vocabulary, the most probable target words first.
  void for_each_line(const corpus::Vocabulary& source_vocabulary, const corpus::Vocabulary& target_vocabulary,
                     const std::function<void(const std::string& line)>& line) const;

 private:
  std::map<std::pair<WordId, WordId>, std::uint64_t> counts_;
};

/// The words for a sentence: the most frequent ones of the target's vocabulary and the translations of its words (Jean,
/// Cho, Memisevic and Bengio 2015, section 3.3). Immutable and thread-safe.
class Shortlist {
 public:
  /// frequent: the number of words that every sentence has, the first of the vocabulary behind the special symbols. All
  /// words of `translations` are below target_words.
  Shortlist(Sentences translations, std::size_t frequent, std::size_t target_words);

  /// Ascending, each once; <unk> and </s> are always there, and so are the words that are `given`.
  std::vector<WordId> words_for(std::span<const WordId> source, std::span<const WordId> given = {}) const;

 private:
  Sentences translations_;
  std::size_t frequent_;  // special symbols included
};

}  // namespace rnnsearch::decode
