// Tokenizers: the reversible one of the training text, that of Moses, and those of BLEU.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rnnsearch/base/option.h"
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
///   a comma between digits.
/// - However, an apostrophe, ' or U+2019, splits before 's 't 'm 'd 'll 're 've at the end of a word (don 't, it 's),
///   and after at most two letters or letters that end in qu (l' d' j' s' qu' jusqu' lorsqu' puisqu' quoiqu').
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

// The tokenization of Moses's tokenizer.perl and detokenizer.perl (version 1.1), which most published results for
// English, French and German use. Unlike tokenize_words, it cannot be undone exactly.
//
// It corresponds to the options -no-escape and no -a of Moses: characters such as &, < and ' are not escaped, and
// hyphens stay inside words. The lists of abbreviations are our own. For English and French the words were those of
// tokenizer.perl on 122,000 lines; for German they differ behind abbreviations that only one of the lists has.
// Source: P. Koehn et al., Moses: Open Source Toolkit for Statistical Machine Translation, ACL 2007 (demonstrations),
// and the regular expressions of the scripts, whose order and single left-to-right passes are reproduced.

enum class MosesLanguage { kEnglish, kFrench, kGerman };
/// Parses the codes en, fr and de. Throws Error, naming these, for others.
MosesLanguage moses_language(std::string_view code);

/// Adds the words of the line to `words`. Control characters are dropped. Characters other than letters, digits, full
/// stops, apostrophes, grave accents, commas and hyphens are words of their own. Several full stops stay together, and
/// a comma between digits is not separated. An apostrophe between letters starts a word in English (don 't), ends one
/// in French (l' eau), and is a word of its own in German. A full stop is separated from a word unless the word is an
/// abbreviation, contains another full stop and letters (e.g.), or the next word begins with a small letter; it is
/// always separated from the last word. If two commas precede a digit, Moses leaves the second one at the digit; here
/// both are words. Bytes that are not valid UTF-8 are words of their own.
void tokenize_moses(std::string_view line, MosesLanguage language, WordList& words);

/// Joins such words to text: closing punctuation is attached to the left, opening punctuation to the right, quotation
/// marks alternately, and contractions as usual in the language. French keeps a space before ? ! : ; and %.
std::string detokenize_moses(const std::vector<std::string>& words, MosesLanguage language);

// The BLEU tokenizers of sacreBLEU 2.x (Post 2018), byte for byte.

/// 13a: mteval-v13a, which separates ASCII punctuation. intl: mteval-v14, which separates Unicode punctuation and
/// symbols. char: separates all code points. zh: separates Chinese characters and U+2001 to U+2A6D, the rest as 13a.
/// none: leaves the line unchanged.
enum class BleuTokenizer { k13a, kIntl, kChar, kZh, kNone };
constexpr auto names_of(BleuTokenizer) { return in_order<BleuTokenizer>({"13a", "intl", "char", "zh", "none"}); }

/// Tokenizes a line; split_words of the result gives the words. 13a, intl and zh separate words by single spaces; char
/// and none keep the white space of the line, as sacreBLEU does. sacreBLEU first strips white space from the end of the
/// line, so a caller that wants the same scores must call strip_right (text/unicode.h). Bytes that are not valid UTF-8
/// are copied.
std::string tokenize_for_bleu(std::string_view line, BleuTokenizer tokenizer);
/// The line as TER's tokenizer (tercom) normalizes it: the rules of 13a, and a final 's is a word. Words are separated
/// by single spaces.
std::string normalize_for_ter(std::string_view line);

}  // namespace rnnsearch::text
