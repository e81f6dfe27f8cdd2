// The words of Moses's tokenizer.perl and detokenizer.perl (version 1.1), which most published results of English,
// French and German were computed on. Unlike tokenize_words it cannot be undone exactly.
//
// Moses's options -no-escape and no -a: &, <, ' and their like stay what they are, and hyphens inside words. Its lists
// of abbreviations are not taken over; the ones here are the usual ones of each language. Source: P. Koehn et al.,
// Moses: Open Source Toolkit for Statistical Machine Translation, ACL 2007 (demonstrations); the scripts' regular
// expressions, whose order and single left-to-right passes are followed.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "rnnsearch/text/word_list.h"

namespace rnnsearch::text {

enum class MosesLanguage { kEnglish, kFrench, kGerman };

/// Of the codes en, fr and de. Throws Error for others, naming these.
MosesLanguage moses_language(std::string_view code);

/// Adds the words of the line to `words`. Control characters are dropped. What is neither letter, digit, full stop,
/// apostrophe, grave accent, comma nor hyphen is a word of its own. Several full stops stay together; a comma stays
/// between digits. An apostrophe between letters begins a word in English (don 't), ends one in French (l' eau), and is
/// one in German. A full stop is split from a word unless the word is an abbreviation, holds another full stop beside
/// letters (e.g.), or the next word begins with a small letter; from the last word, always.
/// Of two commas before a digit Moses leaves the second at the digit; here both are words. Valid UTF-8; bytes that are
/// not are words of their own.
void tokenize_moses(std::string_view line, MosesLanguage language, WordList& words);
std::vector<std::string> tokenize_moses(std::string_view line, MosesLanguage language);

/// The text of such words: closing punctuation goes to the left, opening to the right, quotation marks by turns,
/// contractions as the language has them; before ? ! : ; and % French has a space.
std::string detokenize_moses(const std::vector<std::string>& words, MosesLanguage language);

}  // namespace rnnsearch::text
