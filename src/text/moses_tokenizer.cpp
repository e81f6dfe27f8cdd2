#include "rnnsearch/text/tokenizer.h"

#include <unicode/uchar.h>

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <span>
#include "rnnsearch/base/error.h"
#include "rnnsearch/base/printable.h"
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

bool is_alphabetic(char32_t c) { return (properties_of(c) & kAlphabetic) != 0; }
bool is_number(char32_t c) { return (properties_of(c) & kNumber) != 0; }
bool is_alphanumeric(char32_t c) { return (properties_of(c) & (kAlphabetic | kDigit)) != 0; }
bool is_ascii_digit(char32_t c) { return c >= U'0' && c <= U'9'; }

// --- abbreviations -------------------------------------------------------------------------------------------------

// Abbreviations with a full stop inside need no entry, because the inner one keeps the one at the end. For each
// language, in the order of MosesLanguage, with a space on either side of each.
constexpr View kAbbreviations[] = {
    // before names
    U" Mr MR Mrs MRS Ms MS Messrs MM Mme Mlle Msgr Dr DR Drs Prof Rev Hon Rt Ph St Sr Hr Bros Bart Rep Reps Sen Sens "
    U"Gov Supt Insp Asst Surg Ord Ens Adj Adm Brig Capt Cmdr Comdr Col Con Cpl Gen Lt Maj Pfc Pvt Sfc Sgt Adv Op Res "
    U"Rs "
    // of institutions and buildings
    U"Corp Bldg Hosp "
    // in sentences
    U"v vs rev Nos Nr "
    // months
    U"Jan Feb Mar Apr Jun Jul Aug Sep Oct Nov Dec ",
    U" art ann apr av auj lib boul ca cf chap contr dir éd env al etc ex fasc fém fig Fig fr hab ibid id inf masc MM "
    U"ms n/réf pl pp sec sect sing SS sq sqq suiv sup suppl tél vb vol vs ",
    // before names
    U" Hr Hrn Fr Frl Dr Drs Prof Mag Dipl Ing Hon St Sr Jr Mr Mrs Ms Messrs Gebr Adj Adm Adv Asst Brig Capt Cmdr Co "
    U"Col Corp Cpl Ens Gen Gov Insp Lt Ltd Maj Op Ord Pfc Ph Pvt Rep Res Rev Rt Sen Sens Sfc Sgt Supt Surg "
    // in sentences
    U"bzw ca vgl Vgl usw etc evtl ggf inkl exkl bspw Bsp Abs Abb Anm Art Aufl Bd Bde betr Bst Hrsg Jh Kap Mio Mrd "
    U"Mill Nr Nrn Str str Tel Verf vs v Ziff zit sog geb gest max min "
    // numbers and months
    U"I II III IV VI VII VIII IX XI XII XIII XIV XV XVI XVII XVIII XIX XX Jan Feb Mär Apr Jun Jul Aug Sep Sept Okt "
    U"Nov Dez ",
};

bool is_abbreviation(View word, MosesLanguage language) {
  // Initials; in French and German, small letters too.
  if (word.size() == 1 && word[0] < 0x80 && is_alphabetic(word[0])) {
    const bool small = (properties_of(word[0]) & kLowercase) != 0;
    if (!small || language == MosesLanguage::kGerman) return true;
    if (language == MosesLanguage::kFrench && word[0] != U'a') return true;
  }
  // Ordinal numbers: am 3. Mai
  if (language == MosesLanguage::kGerman && word.size() <= 2 && std::ranges::all_of(word, is_ascii_digit)) return true;
  return kAbbreviations[static_cast<std::size_t>(language)].find(Text(U" ").append(word).append(U" ")) != View::npos;
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

// Inserts spaces at an apostrophe between two such characters.
struct ApostropheRule {
  bool (*left)(char32_t);
  bool (*right)(char32_t);
  bool before, after;
};
bool is_other(char32_t c) { return !is_alphabetic(c); }
constexpr ApostropheRule kEnglishRules[] = {
    {is_other, is_other, true, true},
    {[](char32_t c) { return is_other(c) && !is_number(c); }, is_alphabetic, true, true},
    {is_alphabetic, is_other, true, true},
    {is_alphabetic, is_alphabetic, true, false},
    {is_number, [](char32_t c) { return c == U's'; }, true, false},
};
constexpr ApostropheRule kFrenchRules[] = {
    {is_other, is_other, true, true},
    {is_other, is_alphabetic, true, true},
    {is_alphabetic, is_other, true, true},
    {is_alphabetic, is_alphabetic, false, true},
};

// Applies one rule after the other. Each character is examined once: in a'b'c the second apostrophe is not found,
// because b already belongs to the first match.
void split_apostrophes(Text& text, std::span<const ApostropheRule> rules) {
  for (const ApostropheRule& rule : rules) {
    Text split;
    split.reserve(text.size() + 8);
    for (std::size_t i = 0; i < text.size(); ++i) {
      split.push_back(text[i]);
      if (i + 2 >= text.size() || text[i + 1] != U'\'' || !rule.left(text[i]) || !rule.right(text[i + 2])) continue;
      split.append(rule.before ? U" '" : U"'").append(rule.after ? U" " : U"").push_back(text[i + 2]);
      i += 2;
    }
    text.swap(split);
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
  if (word.find(U'.') != View::npos && std::ranges::any_of(word, is_alphabetic)) return true;
  if (is_abbreviation(word, language) || (properties_of(next[0]) & kLowercase) != 0) return true;
  return is_abbreviation_before_numbers(word, language) && is_ascii_digit(next[0]);
}

void add_word(View word, WordList& words) {
  if (!word.empty()) words.add(utf8_of(word));
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
  if (text.find(U'\'') != Text::npos) {
    if (language == MosesLanguage::kEnglish) split_apostrophes(text, kEnglishRules);
    if (language == MosesLanguage::kFrench) split_apostrophes(text, kFrenchRules);
    if (language == MosesLanguage::kGerman) replace_all(text, U"'", U" ' ");
  }
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

// --- text ------------------------------------------------------------------------------------------------------------

namespace {

enum class Side { kNone, kLeft, kRight };  // the side on which a word has no space

bool consists_of(View word, View characters) {
  return !word.empty() && word.find_first_not_of(characters) == View::npos;
}

bool is_opening(View word) {
  return !word.empty() && std::ranges::all_of(word, [](char32_t c) {
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
    line += utf8_of(texts[i]);
    joined = side == Side::kRight;
  }
  return line;
}

}  // namespace rnnsearch::text
