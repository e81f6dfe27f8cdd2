// Raw text to words and back: the tokeniser of the training text.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rnnsearch/text/bleu_tokenizer.h"
#include "rnnsearch/text/unicode.h"
#include "rnnsearch/text/word_list.h"

namespace rnnsearch::text {

/// What becomes of a run of Chinese characters and kana, which are written without spaces: each a word of its own, or
/// the words of ICU's dictionary (its word breaks, root locale), whatever stands between the runs being split alike.
/// Those words may differ from one version of ICU to the next; joined, they are the same text.
enum class Chinese { kCharacters, kDictionaryWords };

/// Splits at white space (as split_words), and inside it much as mteval-13a does, over all of Unicode and any language:
/// - punctuation and symbols are words of their own, one each; marks, format characters and what a zero-width joiner
/// binds
///   stay with the character before them, so an emoji sequence is one word; other control characters count as letters;
/// - Chinese characters and kana are words of their own, or of a dictionary's (see Chinese);
/// - a hyphen belongs to the word it touches (libfoo-dev, --help), except between digits (1990 - 2000);
/// - a full stop, underscore, apostrophe or middle dot stays inside a word (foo.conf, x86_64, 2.0.1, aujourd'hui),
///   a comma between digits;
/// - but an apostrophe, ' or U+2019, splits before 's 't 'm 'd 'll 're 've at the end of a word (don 't, it 's), and
/// after at
///   most two letters or letters that end in qu (l' d' j' s' qu' jusqu' lorsqu' puisqu' quoiqu').
/// Where two words touch, exactly one of them bears the mark U+FFED, the left one at its end or the right one at its
/// beginning: an opening bracket, else the punctuation on the right, else that on the left, else an elided word (l'),
/// else the word on the right. So "(" bears it at its end, "." at its beginning, "/" in "and/or" at both. U+FFED in the
/// text itself is written U+FFEE j, and U+FFEE twice. Valid UTF-8; bytes that are not count as letters.
/// Throws Error if ICU has no word breaks on this machine.
std::vector<std::string> tokenize_words(std::string_view line, Chinese chinese = Chinese::kCharacters);
/// The same, added to `words`.
void tokenize_words(std::string_view line, Chinese chinese, WordList& words);
/// join_words(tokenize_words(x, any)) == x with every run of white space made one space and the ends trimmed, for every
/// valid x. Takes any words, also those that a model made up: where two meet, a mark on either side joins them.
std::string join_words(const std::vector<std::string>& words);

}  // namespace rnnsearch::text
