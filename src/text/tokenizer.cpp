#include "rnnsearch/text/tokenizer.h"

#include <unicode/brkiter.h>
#include <unicode/uchar.h>
#include <unicode/utext.h>

#include <memory>

#include "text/code_points.h"

namespace rnnsearch::text {
namespace {

constexpr UChar32 kJoinerCharacter = 0xFFED;
constexpr UChar32 kEscapeMark = 0xFFEE;
constexpr std::string_view kEscapedJoiner = "\uFFEEj";
constexpr std::string_view kEscapedEscape = "\uFFEE\uFFEE";
constexpr UChar32 kZeroWidthJoiner = 0x200D;

enum class Kind : std::uint8_t {
  kSpace,
  kLetter,  // also control characters, and all other characters that are not listed
  kDigit,   // numbers of all kinds
  kExtend,  // belongs to the preceding character
  kIdeograph,
  kOpening,  // opening brackets and quotes
  kOther,    // any other punctuation, symbols
};

Kind kind_by_property(UChar32 c) {
  if (is_space(c)) return Kind::kSpace;
  if (c >= 0x1F3FB && c <= 0x1F3FF) return Kind::kExtend;  // skin tones modify the preceding emoji
  if (c == kUnknownCharacter) return Kind::kLetter;
  if (c >= 0x3041 && c <= 0x30FF && u_isalpha(c)) return Kind::kIdeograph;  // kana
  const std::uint32_t type = U_GET_GC_MASK(c);
  // Some characters, such as U+3007, are both a number and a Chinese character.
  if ((type & (U_GC_N_MASK | U_GC_LO_MASK)) != 0 && u_hasBinaryProperty(c, UCHAR_IDEOGRAPHIC)) return Kind::kIdeograph;
  if ((type & U_GC_N_MASK) != 0) return Kind::kDigit;
  if ((type & (U_GC_M_MASK | U_GC_CF_MASK)) != 0) return Kind::kExtend;
  if ((type & (U_GC_PS_MASK | U_GC_PI_MASK)) != 0) return Kind::kOpening;
  return (type & (U_GC_P_MASK | U_GC_S_MASK)) != 0 ? Kind::kOther : Kind::kLetter;
}

Kind kind_of(UChar32 c) {
  static const auto kAscii = [] {
    std::array<Kind, 128> kinds{};
    for (std::size_t i = 0; i < kinds.size(); ++i) kinds[i] = kind_by_property(static_cast<UChar32>(i));
    return kinds;
  }();
  return c < 128 ? kAscii[static_cast<std::size_t>(c)] : kind_by_property(c);
}

bool is_hyphen(UChar32 c) { return c == '-' || c == 0x2010 || c == 0x2011; }
bool is_apostrophe(UChar32 c) { return c == '\'' || c == 0x2019; }
bool is_word(Kind kind) { return kind == Kind::kLetter || kind == Kind::kDigit; }
bool is_word_or_extend(Kind kind) { return is_word(kind) || kind == Kind::kExtend; }

struct Character {
  UChar32 code_point;
  Kind kind;
  std::size_t begin;  // position of its first byte in the line
};

// ICU's word breaks in the root locale: ICU chooses the dictionary of Chinese and Japanese by script, not by language.
// Each thread has its own iterator, which is slow to create.
icu::BreakIterator& word_breaks() {
  thread_local const std::unique_ptr<icu::BreakIterator> breaks = [] {
    UErrorCode status = U_ZERO_ERROR;
    std::unique_ptr<icu::BreakIterator> made(icu::BreakIterator::createWordInstance(icu::Locale::getRoot(), status));
    if (U_FAILURE(status))
      throw Error(
          "text: ICU has no word breaks: {}; install its data, or choose the tokenizer words, whose Chinese words are "
          "characters",
          u_errorName(status));
    return made;
  }();
  return *breaks;
}

// The positions in `run` at which a word ends.
std::vector<std::size_t> word_ends(std::string_view run) {
  UErrorCode status = U_ZERO_ERROR;
  UText text = UTEXT_INITIALIZER;
  utext_openUTF8(&text, run.data(), static_cast<std::int64_t>(run.size()), &status);
  icu::BreakIterator& breaks = word_breaks();
  breaks.setText(&text, status);  // makes a shallow clone of the text
  std::vector<std::size_t> ends;
  if (U_SUCCESS(status)) {
    for (std::int32_t at = breaks.next(); at != icu::BreakIterator::DONE; at = breaks.next())
      ends.push_back(static_cast<std::size_t>(at));
  }
  utext_close(&text);
  if (U_FAILURE(status)) throw Error("text: ICU cannot break {} bytes into words: {}", run.size(), u_errorName(status));
  return ends;
}

// Splits one stretch without white space. `characters` ends with a sentinel of Kind::kSpace.
class Stretch {
 public:
  Stretch(std::string_view line, const std::vector<Character>& characters, Chinese chinese, WordList& words)
      : line_(line), characters_(characters), chinese_(chinese), words_(words) {}

  void split() {
    const std::size_t end = characters_.size() - 1;
    if (chinese_ == Chinese::kDictionaryWords) find_inner();
    Token token = token_at(0);
    for (bool mark_before = false;;) {
      if (token.end == end) return add(token, mark_before, false);
      const Token next = token_at(token.end);
      const bool mark_after = bears_mark(token.role, next.role);
      add(token, mark_before, mark_after);
      mark_before = !mark_after;
      token = next;
    }
  }

 private:
  enum class Role : std::uint8_t { kWord, kElided, kOpening, kOther };
  struct Token {
    std::size_t begin, end;
    Role role;
  };

  // Whether the left one of two touching tokens gets the joiner mark.
  static bool bears_mark(Role left, Role right) {
    if (left == Role::kOpening) return true;
    return left != Role::kWord && (right == Role::kWord || right == Role::kElided);
  }

  Token token_at(std::size_t i) const {
    const auto [c, kind, byte] = characters_[i];
    const bool after_word = i > 0 && is_word_or_extend(characters_[i - 1].kind);
    if (is_word_or_extend(kind) || (is_hyphen(c) && !after_word)) return word_at(i);
    if (kind == Kind::kIdeograph) {
      std::size_t end = skip_extensions(i + 1);
      while (is_inner(end)) end = skip_extensions(end + 1);
      return {i, end, Role::kWord};
    }
    if (is_apostrophe(c) && after_word) {
      if (const std::size_t letters = clitic_at(i + 1)) return {i, i + 1 + letters, Role::kWord};
    }
    return {i, skip_extensions(i + 1), kind == Kind::kOpening ? Role::kOpening : Role::kOther};
  }

  // Marks the Chinese characters and kana that are inside a word of ICU, except for its first character.
  void find_inner() {
    inner_.assign(characters_.size(), false);
    for (std::size_t i = 0; i < characters_.size();) {
      if (characters_[i].kind != Kind::kIdeograph) {
        ++i;
        continue;
      }
      std::size_t end = skip_extensions(i + 1);
      while (characters_[end].kind == Kind::kIdeograph) end = skip_extensions(end + 1);
      const std::size_t first = characters_[i].begin;
      const std::vector<std::size_t> ends = word_ends(line_.substr(first, characters_[end].begin - first));
      auto next = ends.begin();
      for (std::size_t k = i + 1; k < end; ++k) {
        const std::size_t byte = characters_[k].begin - first;
        while (next != ends.end() && *next < byte) ++next;
        inner_[k] = characters_[k].kind == Kind::kIdeograph && (next == ends.end() || *next != byte);
      }
      i = end;
    }
  }
  bool is_inner(std::size_t i) const { return chinese_ == Chinese::kDictionaryWords && inner_[i]; }

  // The unknown word beside a hyphen stands for a number: the hyphen of other words is a part of them.
  bool may_be_digit(std::size_t i) const {
    return characters_[i].kind == Kind::kDigit || characters_[i].code_point == kUnknownCharacter;
  }

  // The position after the characters that belong to the one before `i`.
  std::size_t skip_extensions(std::size_t i) const {
    while (characters_[i].kind == Kind::kExtend) {
      const bool binds = characters_[i].code_point == kZeroWidthJoiner;
      ++i;
      if (binds && (characters_[i].kind == Kind::kOther || characters_[i].kind == Kind::kOpening)) ++i;
    }
    return i;
  }

  Token word_at(std::size_t begin) const {
    std::size_t i = begin;
    for (;; ++i) {
      while (is_word_or_extend(characters_[i].kind)) i = skip_extensions(i + 1);
      const auto [c, kind, byte] = characters_[i];
      if (kind == Kind::kSpace) break;
      const Kind previous = i > begin ? characters_[i - 1].kind : Kind::kSpace;
      const Kind next = characters_[i + 1].kind;
      if (is_hyphen(c)) {
        if (i > begin && may_be_digit(i - 1) && may_be_digit(i + 1)) break;
      } else if (!is_word_or_extend(previous) || !is_word(next)) {
        break;
      } else if (is_apostrophe(c)) {
        if (clitic_at(i + 1) > 0) break;
        if (is_elided(begin, i)) return {begin, i + 1, Role::kElided};
      } else if (c == ',') {
        if (previous != Kind::kDigit || next != Kind::kDigit) break;
      } else if (c != '.' && c != '_' && c != 0xB7) {
        break;
      }
    }
    return {begin, i, Role::kWord};
  }

  // If the rest of the word is s, t, m, d, ll, re or ve, the number of its letters; otherwise 0.
  std::size_t clitic_at(std::size_t i) const {
    const auto small = [&](std::size_t at) {
      const UChar32 c = characters_[at].code_point;
      return c >= 'A' && c <= 'Z' ? c + ('a' - 'A') : c;
    };
    for (const std::string_view clitic : {"s", "t", "m", "d", "ll", "re", "ve"}) {
      std::size_t letters = 0;
      while (letters < clitic.size() && small(i + letters) == clitic[letters]) ++letters;
      if (letters == clitic.size() && !is_word_or_extend(characters_[i + letters].kind)) return letters;
    }
    return 0;
  }

  // Whether one or two letters, or any letters that end in qu, are between the start of the word (or a hyphen) and the
  // apostrophe.
  bool is_elided(std::size_t begin, std::size_t apostrophe) const {
    std::size_t first = apostrophe, letters = 0;
    for (; first > begin &&
           (characters_[first - 1].kind == Kind::kLetter || characters_[first - 1].kind == Kind::kExtend);
         --first) {
      letters += characters_[first - 1].kind == Kind::kLetter;
    }
    const bool whole = first == begin || is_hyphen(characters_[first - 1].code_point);
    if (letters <= 2) return whole && letters > 0;
    const auto is = [&](std::size_t i, char small) { return (characters_[i].code_point | 0x20) == small; };
    return is(apostrophe - 2, 'q') && is(apostrophe - 1, 'u');
  }

  void add(const Token& token, bool mark_before, bool mark_after) {
    if (mark_before) words_.append(kJoinerMark);
    for (std::size_t i = token.begin, copied = i; i < token.end;) {
      while (i < token.end && characters_[i].code_point != kJoinerCharacter && characters_[i].code_point != kEscapeMark)
        ++i;
      words_.append(line_.substr(characters_[copied].begin, characters_[i].begin - characters_[copied].begin));
      if (i == token.end) break;
      words_.append(characters_[i].code_point == kJoinerCharacter ? kEscapedJoiner : kEscapedEscape);
      copied = ++i;
    }
    if (mark_after) words_.append(kJoinerMark);
    words_.end_word();
  }

  std::string_view line_;
  const std::vector<Character>& characters_;
  Chinese chinese_;
  WordList& words_;
  std::vector<bool> inner_;  // for each character
};

void append_unescaped(std::string& text, std::string_view word) {
  constexpr std::string_view kEscape = kEscapedEscape.substr(0, kEscapedEscape.size() / 2);
  for (std::size_t at; (at = word.find(kEscape)) != std::string_view::npos;) {
    text.append(word.substr(0, at));
    word.remove_prefix(at);
    if (word.starts_with(kEscapedJoiner)) {
      text.append(kJoinerMark);
      word.remove_prefix(kEscapedJoiner.size());
    } else {  // tokenize_words never writes a single U+FFEE, so it is kept as it is
      text.append(kEscape);
      word.remove_prefix(word.starts_with(kEscapedEscape) ? kEscapedEscape.size() : kEscape.size());
    }
  }
  text.append(word);
}

}  // namespace

void tokenize_words(std::string_view line, Chinese chinese, WordList& words) {
  std::vector<Character> stretch;
  for (std::size_t i = 0; i < line.size();) {
    const std::size_t begin = i;
    const UChar32 c = next_code_point(line, i);
    stretch.push_back({c, kind_of(c), begin});
    if (stretch.back().kind != Kind::kSpace) {
      if (i < line.size()) continue;
      stretch.push_back({' ', Kind::kSpace, i});
    }
    if (stretch.size() > 1) Stretch(line, stretch, chinese, words).split();
    stretch.clear();
  }
}

std::vector<std::string> tokenize_words(std::string_view line, Chinese chinese) {
  WordList list;
  tokenize_words(line, chinese, list);
  return list.strings();
}

std::string join_words(const std::vector<std::string>& words) {
  std::string text;
  bool joined = true;
  for (std::string_view word : words) {
    if (word.empty()) continue;
    const bool mark_before = word.starts_with(kJoinerMark);
    if (mark_before) word.remove_prefix(kJoinerMark.size());
    const bool mark_after = word.ends_with(kJoinerMark);
    if (mark_after) word.remove_suffix(kJoinerMark.size());
    if (!joined && !mark_before) text.push_back(' ');
    append_unescaped(text, word);
    joined = mark_after || (word.empty() && mark_before);
  }
  return text;
}

}  // namespace rnnsearch::text
