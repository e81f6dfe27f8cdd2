// The tokenizer of the training text: it splits raw text into words, reversibly.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rnnsearch/text/bleu_tokenizer.h"
#include "rnnsearch/text/unicode.h"
#include "rnnsearch/text/word_list.h"

namespace rnnsearch::text {

/// How to split a run of Chinese characters and kana, which are written without spaces: every character is a word, or
/// the words are those of ICU's dictionary (word breaks of the root locale). The text between the runs is split in the
/// same way in both cases. The words of the dictionary may differ between versions of ICU; joined, they give the same
/// text.
enum class Chinese { kCharacters, kDictionaryWords };

/// Marks words that touch a neighbour in the text, see tokenize_words.
inline constexpr std::string_view kJoinerMark = "\uFFED";

/// Splits at white space (as split_words does), and between white space similarly to mteval-13a, for all of Unicode and
/// any language:
/// - Every punctuation mark and symbol is a word of its own. Marks, format characters and characters bound by a
///   zero-width joiner stay with the preceding character, so an emoji sequence is one word. Other control characters
///   count as letters.
/// - Chinese characters and kana are words of their own, or words of a dictionary (see Chinese).
/// - A hyphen belongs to the word that it touches (libfoo-dev, --help), except between digits (1990 - 2000).
/// - A full stop, underscore, apostrophe or middle dot stays inside a word (foo.conf, x86_64, 2.0.1, aujourd'hui), and
///   a
///   comma between digits.
/// - However, an apostrophe, ' or U+2019, splits before 's 't 'm 'd 'll 're 've at the end of a word (don 't, it 's),
///   and
///   after at most two letters or letters that end in qu (l' d' j' s' qu' jusqu' lorsqu' puisqu' quoiqu').
/// Where two words touch in the text, exactly one of them has the joiner mark U+FFED: the left one at its end, or the
/// right one at its beginning. The mark goes to an opening bracket; otherwise to the punctuation on the right;
/// otherwise to that on the left; otherwise to an elided word (l'); otherwise to the word on the right. For example,
/// "(" has it at its end, "." at its beginning, and "/" in "and/or" at both. U+FFED in the text itself is written as
/// U+FFEE j, and U+FFEE is doubled. Bytes that are not valid UTF-8 count as letters. Throws Error if ICU has no word
/// breaks on this machine.
std::vector<std::string> tokenize_words(std::string_view line, Chinese chinese = Chinese::kCharacters);
/// The same, but appends to `words`.
void tokenize_words(std::string_view line, Chinese chinese, WordList& words);
/// The inverse of tokenize_words for every valid line, except that runs of white space become one space and white space
/// at the ends is removed. It accepts any words, also those that a model produced: a mark on either side joins two
/// neighbours.
std::string join_words(const std::vector<std::string>& words);

}  // namespace rnnsearch::text
