// The tokenization of Moses's tokenizer.perl and detokenizer.perl (version 1.1), which most published results for
// English, French and German use. Unlike tokenize_words, it cannot be undone exactly.
//
// It corresponds to the options -no-escape and no -a of Moses: characters such as &, < and ' are not escaped, and
// hyphens stay inside words. The lists of abbreviations are our own. For English and French the words were those of
// tokenizer.perl on 122,000 lines; for German they differ behind abbreviations that only one of the lists has.
// Source: P. Koehn et al., Moses: Open Source Toolkit for Statistical Machine Translation, ACL 2007 (demonstrations),
// and the regular expressions of the scripts, whose order and single left-to-right passes are reproduced.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rnnsearch/text/word_list.h"

namespace rnnsearch::text {

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
std::vector<std::string> tokenize_moses(std::string_view line, MosesLanguage language);

/// Joins such words to text: closing punctuation is attached to the left, opening punctuation to the right, quotation
/// marks alternately, and contractions as usual in the language. French keeps a space before ? ! : ; and %.
std::string detokenize_moses(const std::vector<std::string>& words, MosesLanguage language);

}  // namespace rnnsearch::text
