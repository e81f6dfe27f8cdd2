#include "rnnsearch/decode/parts.h"

#include <algorithm>
#include <string_view>

namespace rnnsearch::decode {
namespace {

using Marks = std::span<const std::string_view>;

// What ends sentences: Latin, Greek, Chinese and Japanese (wide and half-wide), Devanagari, Arabic, Urdu, Armenian,
// Ethiopic, Burmese, Khmer.
constexpr std::string_view kEndsSentence[] = {".",      "!",      "?",      "\u2026", "\u203d", "\u3002",
                                              "\uff0e", "\uff01", "\uff1f", "\uff61", "\u0964", "\u0965",
                                              "\u061f", "\u06d4", "\u0589", "\u1362", "\u104b", "\u17d4"};
constexpr std::string_view kCloses[] = {"\"", "'", "\u201d", "\u2019", "\u00bb", "\u203a", ")",
                                        "]",  "}", "\u300d", "\u300f", "\u3011", "\uff09", "''"};
// How text pipelines mark where words touch, or do not: the tokenizer's joiner, SentencePiece's space.
constexpr std::string_view kJoiner = "\uffed", kSpace = "\u2581";
// The longest run of closing marks after a sentence that is looked at: no text has more.
constexpr std::size_t kClosing = 4;

bool remove_end(std::string_view& word, Marks marks) {
  for (const std::string_view mark : marks) {
    if (!word.ends_with(mark)) continue;
    word.remove_suffix(mark.size());
    return true;
  }
  return false;
}

std::string_view without_marks(std::string_view word) {
  if (word.starts_with(kJoiner)) word.remove_prefix(kJoiner.size());
  if (word.starts_with(kSpace)) word.remove_prefix(kSpace.size());
  if (word.ends_with(kJoiner)) word.remove_suffix(kJoiner.size());
  return word;
}

// A word of closing marks alone. One that is joined to the next word opens something.
bool closes(std::string_view word) {
  if (word.ends_with(kJoiner)) return false;
  word = without_marks(word);
  if (word.empty()) return false;
  while (remove_end(word, kCloses)) {
  }
  return word.empty();
}

bool ends_sentence(std::string_view word) {
  word = without_marks(word);
  while (remove_end(word, kCloses)) {
  }
  return remove_end(word, kEndsSentence);
}

// Whether a sentence ends with words[last], closing marks included.
bool sentence_ends_with(std::span<const std::string> words, std::size_t last) {
  if (last + 1 < words.size() && closes(words[last + 1])) return false;
  for (std::size_t run = 0; run < kClosing && last > 0 && closes(words[last]); ++run) --last;
  return ends_sentence(words[last]);
}

}  // namespace

std::vector<std::size_t> part_ends(std::span<const std::string> words, std::size_t longest) {
  std::vector<std::size_t> ends;
  std::size_t begin = 0;
  while (longest > 0 && words.size() - begin > longest) {
    std::size_t end = begin + longest;
    while (end > begin && !sentence_ends_with(words, end - 1)) --end;
    if (end == begin) end = begin + longest;
    ends.push_back(end);
    begin = end;
  }
  ends.push_back(words.size());
  return ends;
}

}  // namespace rnnsearch::decode
