#include "rnnsearch/text/moses_tokenizer.h"

#include <unicode/uchar.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <unordered_set>

#include "rnnsearch/base/error.h"
#include "rnnsearch/base/replace.h"
#include "rnnsearch/text/unicode.h"
#include "text/code_points.h"

namespace rnnsearch::text {
namespace {

using Text = std::u32string;
using View = std::u32string_view;

enum Property : std::uint8_t { kAlphabetic = 1, kDigit = 2, kNumber = 4, kLowercase = 8, kWhite = 16 };

std::uint8_t properties_from_icu(char32_t code_point) {
  const auto c = static_cast<UChar32>(code_point);
  const int type = u_charType(c);
  std::uint8_t properties = 0;
  if (u_isUAlphabetic(c) || code_point == kUnknownCharacter) properties |= kAlphabetic;
  if (u_isULowercase(c)) properties |= kLowercase;
  if (u_isUWhiteSpace(c)) properties |= kWhite;
  if (type == U_DECIMAL_DIGIT_NUMBER) properties |= kDigit | kNumber;
  if (type == U_LETTER_NUMBER || type == U_OTHER_NUMBER) properties |= kNumber;
  return properties;
}

std::uint8_t properties_of(char32_t c) {
  static const auto kLatin = [] {
    std::array<std::uint8_t, 0x250> table{};
    for (std::size_t i = 0; i < table.size(); ++i) table[i] = properties_from_icu(static_cast<char32_t>(i));
    return table;
  }();
  return c < kLatin.size() ? kLatin[c] : properties_from_icu(c);
}

bool is_alphabetic(char32_t c) {
  return (properties_of(c) & kAlphabetic) != 0;
}
bool is_number(char32_t c) {
  return (properties_of(c) & kNumber) != 0;
}
bool is_alphanumeric(char32_t c) {
  return (properties_of(c) & (kAlphabetic | kDigit)) != 0;
}
bool is_ascii_digit(char32_t c) {
  return c >= U'0' && c <= U'9';
}

// --- abbreviations -------------------------------------------------------------------------------------------------

// Abbreviations with a full stop inside need no entry, because the inner one keeps the one at the end.
using Abbreviations = std::unordered_set<View>;

const Abbreviations& abbreviations(MosesLanguage language) {
  static const Abbreviations kEnglish = {
      // before names
      U"Mr", U"MR", U"Mrs", U"MRS", U"Ms", U"MS", U"Messrs", U"MM", U"Mme", U"Mlle", U"Msgr", U"Dr", U"DR", U"Drs",
      U"Prof", U"Rev", U"Hon", U"Rt", U"Ph", U"St", U"Sr", U"Hr", U"Bros", U"Bart", U"Rep", U"Reps", U"Sen", U"Sens",
      U"Gov", U"Supt", U"Insp", U"Asst", U"Surg", U"Ord", U"Ens", U"Adj", U"Adm", U"Brig", U"Capt", U"Cmdr", U"Comdr",
      U"Col", U"Con", U"Cpl", U"Gen", U"Lt", U"Maj", U"Pfc", U"Pvt", U"Sfc", U"Sgt", U"Adv", U"Op", U"Res", U"Rs",
      // of institutions and buildings
      U"Corp", U"Bldg", U"Hosp",
      // in sentences
      U"v", U"vs", U"rev", U"Nos", U"Nr",
      // months
      U"Jan", U"Feb", U"Mar", U"Apr", U"Jun", U"Jul", U"Aug", U"Sep", U"Oct", U"Nov", U"Dec"};
  static const Abbreviations kFrench = {
      U"art", U"ann", U"apr",  U"av",  U"auj",   U"lib",   U"boul", U"ca",  U"cf",  U"chap", U"contr", U"dir",
      U"éd",  U"env", U"al",   U"etc", U"ex",    U"fasc",  U"fém",  U"fig", U"Fig", U"fr",   U"hab",   U"ibid",
      U"id",  U"inf", U"masc", U"MM",  U"ms",    U"n/réf", U"pl",   U"pp",  U"sec", U"sect", U"sing",  U"SS",
      U"sq",  U"sqq", U"suiv", U"sup", U"suppl", U"tél",   U"vb",   U"vol", U"vs"};
  static const Abbreviations kGerman = {
      // before names
      U"Hr", U"Hrn", U"Fr", U"Frl", U"Dr", U"Drs", U"Prof", U"Mag", U"Dipl", U"Ing", U"Hon", U"St", U"Sr", U"Jr", U"Mr",
      U"Mrs", U"Ms", U"Messrs", U"Gebr", U"Adj", U"Adm", U"Adv", U"Asst", U"Brig", U"Capt", U"Cmdr", U"Co", U"Col",
      U"Corp", U"Cpl", U"Ens", U"Gen", U"Gov", U"Insp", U"Lt", U"Ltd", U"Maj", U"Op", U"Ord", U"Pfc", U"Ph", U"Pvt",
      U"Rep", U"Res", U"Rev", U"Rt", U"Sen", U"Sens", U"Sfc", U"Sgt", U"Supt", U"Surg",
      // in sentences
      U"bzw", U"ca", U"vgl", U"Vgl", U"usw", U"etc", U"evtl", U"ggf", U"inkl", U"exkl", U"bspw", U"Bsp", U"Abs", U"Abb",
      U"Anm", U"Art", U"Aufl", U"Bd", U"Bde", U"betr", U"Bst", U"Hrsg", U"Jh", U"Kap", U"Mio", U"Mrd", U"Mill", U"Nr",
      U"Nrn", U"Str", U"str", U"Tel", U"Verf", U"vs", U"v", U"Ziff", U"zit", U"sog", U"geb", U"gest", U"max", U"min",
      // numbers and months
      U"I", U"II", U"III", U"IV", U"VI", U"VII", U"VIII", U"IX", U"XI", U"XII", U"XIII", U"XIV", U"XV", U"XVI", U"XVII",
      U"XVIII", U"XIX", U"XX", U"Jan", U"Feb", U"Mär", U"Apr", U"Jun", U"Jul", U"Aug", U"Sep", U"Sept", U"Okt", U"Nov",
      U"Dez"};
  switch (language) {
    case MosesLanguage::kEnglish:
      return kEnglish;
    case MosesLanguage::kFrench:
      return kFrench;
    case MosesLanguage::kGerman:
      return kGerman;
  }
  return kEnglish;
}

bool is_abbreviation(View word, MosesLanguage language) {
  if (word.size() == 1 && word[0] < 0x80 &&
      is_alphabetic(word[0])) {  // initials; in French and German, small letters too
    const bool small = (properties_of(word[0]) & kLowercase) != 0;
    if (!small || language == MosesLanguage::kGerman) return true;
    if (language == MosesLanguage::kFrench && word[0] != U'a') return true;
  }
  // Ordinal numbers: am 3. Mai
  if (language == MosesLanguage::kGerman && word.size() <= 2 && std::all_of(word.begin(), word.end(), is_ascii_digit)) {
    return true;
  }
  return abbreviations(language).contains(word);
}

bool is_abbreviation_before_numbers(View word, MosesLanguage language) {
  return language == MosesLanguage::kEnglish && (word == U"No" || word == U"Art" || word == U"pp");
}

// --- words ---------------------------------------------------------------------------------------------------------

// Replaces runs of white space by one space, and removes white space at the ends and control characters.
Text cleaned(std::string_view line) {
  Text text;
  text.reserve(line.size());
  bool space = false;
  for (std::size_t i = 0; i < line.size();) {
    const auto c = static_cast<char32_t>(next_code_point(line, i));
    if ((properties_of(c) & kWhite) != 0) {
      space = true;
    } else if (c >= 0x20) {
      if (space && !text.empty()) text.push_back(U' ');
      space = false;
      text.push_back(c);
    }
  }
  return text;
}

// Whether the comma at `i` is part of a number and is not separated.
bool is_inside_number(const Text& text, std::size_t i) {
  const auto digit = [&](std::size_t at) { return is_number(text[at]) && is_alphanumeric(text[at]); };
  return (i == 0 || digit(i - 1)) && i + 1 < text.size() && digit(i + 1);
}

Text with_punctuation_apart(const Text& text) {
  Text apart;
  apart.reserve(text.size() * 3 / 2);
  const auto add = [&apart](View word) { apart.append(U" ").append(word).append(U" "); };
  for (std::size_t i = 0; i < text.size(); ++i) {
    const char32_t c = text[i];
    if (c == U'.') {
      const std::size_t end = std::min(text.find_first_not_of(U'.', i), text.size());
      if (end == i + 1) {
        apart.push_back(c);
      } else {
        add(View(text).substr(i, end - i));
        i = end - 1;
      }
    } else if (c == U',' ? is_inside_number(text, i)
                         : is_alphanumeric(c) || c == U' ' || c == U'\'' || c == U'`' || c == U'-') {
      apart.push_back(c);
    } else {
      add(View(text).substr(i, 1));
    }
  }
  return apart;
}

// Inserts spaces at an apostrophe between two such characters. Each character is examined once: in a'b'c the second
// apostrophe is not found, because b already belongs to the first match.
template <class Left, class Right>
void split_apostrophes(Text& text, const Left& left, const Right& right, bool before, bool after) {
  Text split;
  split.reserve(text.size() + 8);
  for (std::size_t i = 0; i < text.size(); ++i) {
    split.push_back(text[i]);
    if (i + 2 >= text.size() || text[i + 1] != U'\'' || !left(text[i]) || !right(text[i + 2])) continue;
    if (before) split.push_back(U' ');
    split.push_back(U'\'');
    if (after) split.push_back(U' ');
    split.push_back(text[i + 2]);
    i += 2;
  }
  text.swap(split);
}

void split_apostrophes(Text& text, MosesLanguage language) {
  const auto letter = [](char32_t c) { return is_alphabetic(c); };
  const auto other = [](char32_t c) { return !is_alphabetic(c); };
  switch (language) {
    case MosesLanguage::kEnglish:
      split_apostrophes(text, other, other, true, true);
      split_apostrophes(
          text, [](char32_t c) { return !is_alphabetic(c) && !is_number(c); }, letter, true, true);
      split_apostrophes(text, letter, other, true, true);
      split_apostrophes(text, letter, letter, true, false);
      split_apostrophes(
          text, [](char32_t c) { return is_number(c); }, [](char32_t c) { return c == U's'; }, true, false);
      return;
    case MosesLanguage::kFrench:
      split_apostrophes(text, other, other, true, true);
      split_apostrophes(text, other, letter, true, true);
      split_apostrophes(text, letter, other, true, true);
      split_apostrophes(text, letter, letter, false, true);
      return;
    case MosesLanguage::kGerman:
      replace_all(text, U"'", U" ' ");
      return;
  }
}

std::vector<View> split(const Text& text) {
  std::vector<View> words;
  for (std::size_t i = 0; i < text.size();) {
    const std::size_t end = std::min(text.find(U' ', i), text.size());
    if (end > i) words.push_back(View(text).substr(i, end - i));
    i = end + 1;
  }
  return words;
}

// Whether the full stop at the end of `word` belongs to the word. next: the following word, or empty.
bool keeps_full_stop(View word, View next, MosesLanguage language) {
  word.remove_suffix(1);
  if (word.empty() || word.find_first_not_of(U'.') == View::npos) return true;  // only full stops
  if (next.empty()) return false;
  if (word.find(U'.') != View::npos && std::any_of(word.begin(), word.end(), is_alphabetic)) return true;
  if (is_abbreviation(word, language) || (properties_of(next[0]) & kLowercase) != 0) return true;
  return is_abbreviation_before_numbers(word, language) && is_ascii_digit(next[0]);
}

void add_word(View word, WordList& words) {
  if (word.empty()) return;
  std::string bytes;
  for (const char32_t c : word) append_code_point(bytes, static_cast<UChar32>(c));
  words.add(bytes);
}

}  // namespace

MosesLanguage moses_language(std::string_view code) {
  if (code == "en") return MosesLanguage::kEnglish;
  if (code == "fr") return MosesLanguage::kFrench;
  if (code == "de") return MosesLanguage::kGerman;
  throw Error(
      "the tokenizer moses has rules only for the languages en, fr and de, not for '{}'; choose one of these, or the "
      "tokenizer words",
      code);
}

void tokenize_moses(std::string_view line, MosesLanguage language, WordList& words) {
  Text text = with_punctuation_apart(cleaned(line));
  if (text.find(U'\'') != Text::npos) split_apostrophes(text, language);
  const std::vector<View> found = split(text);
  for (std::size_t i = 0; i < found.size(); ++i) {
    View word = found[i];
    const View next = i + 1 < found.size() ? found[i + 1] : View();
    if (next.empty() && word.ends_with(U".'")) {
      add_word(word.substr(0, word.size() - 2), words);
      words.add(".");
      words.add("'");
    } else if (word.ends_with(U'.') && !keeps_full_stop(word, next, language)) {
      add_word(word.substr(0, word.size() - 1), words);
      words.add(".");
    } else {
      add_word(word, words);
    }
  }
}

std::vector<std::string> tokenize_moses(std::string_view line, MosesLanguage language) {
  WordList words;
  tokenize_moses(line, language, words);
  return words.strings();
}

// --- text ------------------------------------------------------------------------------------------------------------

namespace {

enum class Side { kNone, kLeft, kRight };  // the side on which a word has no space

bool consists_of(View word, View characters) {
  return !word.empty() && word.find_first_not_of(characters) == View::npos;
}

bool is_opening(View word) {
  return !word.empty() && std::all_of(word.begin(), word.end(), [](char32_t c) {
    return View(U"([{¿¡").find(c) != View::npos || u_charType(static_cast<UChar32>(c)) == U_CURRENCY_SYMBOL;
  });
}

class Detokenizer {
 public:
  explicit Detokenizer(MosesLanguage language) : language_(language) {}

  Side side_of(View before, View word, View after) {
    if (is_opening(word)) return Side::kRight;
    if (consists_of(word, U",.?!:;\\%}])")) {
      const bool spaced = language_ == MosesLanguage::kFrench && word.size() == 1 && consists_of(word, U"?!:;\\%");
      return spaced ? Side::kNone : Side::kLeft;
    }
    if (language_ == MosesLanguage::kEnglish && word.size() >= 2 && word[0] == U'\'' && is_alphabetic(word[1]) &&
        !before.empty() && is_alphanumeric(before.back())) {
      return Side::kLeft;
    }
    if (language_ == MosesLanguage::kFrench && word.size() >= 2 && word.back() == U'\'' &&
        is_alphabetic(word[word.size() - 2]) && !after.empty() && is_alphabetic(after[0])) {
      return Side::kRight;
    }
    return consists_of(word, U"'\"„“`") ? side_of_quote(before, word) : Side::kNone;
  }

 private:
  Side side_of_quote(View before, View word) {
    bool& open = open_[Text(consists_of(word, U"„“”") ? View(U"\"") : word)];
    if (!open && language_ == MosesLanguage::kEnglish && word == U"'" && before.ends_with(U's')) {
      return Side::kLeft;  // as in "the Joneses' house"
    }
    open = !open;
    return open ? Side::kRight : Side::kLeft;
  }

  MosesLanguage language_;
  std::map<Text, bool> open_;  // for each quotation mark: whether a quotation is open
};

}  // namespace

std::string detokenize_moses(const std::vector<std::string>& words, MosesLanguage language) {
  Detokenizer detokenizer(language);
  std::vector<Text> texts;
  for (const std::string& word : words) {
    if (!word.empty()) texts.push_back(code_points(word));
  }
  std::string line;
  bool joined = true;
  for (std::size_t i = 0; i < texts.size(); ++i) {
    const View before = i > 0 ? View(texts[i - 1]) : View(), after = i + 1 < texts.size() ? View(texts[i + 1]) : View();
    const Side side = detokenizer.side_of(before, texts[i], after);
    if (!joined && side != Side::kLeft) line.push_back(' ');
    for (const char32_t c : texts[i]) append_code_point(line, static_cast<UChar32>(c));
    joined = side == Side::kRight;
  }
  return line;
}

}  // namespace rnnsearch::text
