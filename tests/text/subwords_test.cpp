#include "rnnsearch/text/subwords.h"

#include <sentencepiece_processor.h>

#include "rnnsearch/base/portable.h"
#include "tests/support/byte_pair_codes.h"
#include "tests/support/sentence_piece_model.h"
#include "tests/support/test.h"

namespace rnnsearch::text {
namespace {

/// Words of few letters, so that pieces compete, with accents, digits and what is no letter.
std::vector<std::string> lines_of(std::size_t count, std::uint64_t seed) {
  const std::vector<std::string> stems{"ab", "aba", "bab", "aab", "baab", "été", "ete", "l'abé", "12", "(b)", "ﬁa"};
  Random random(seed);
  std::vector<std::string> lines;
  for (std::size_t i = 0; i < count; ++i) {
    std::string line;
    for (std::uint64_t words = 1 + random.below(12); words > 0; --words) {
      for (std::uint64_t parts = 1 + random.below(3); parts > 0; --parts) line += stems[random.below(stems.size())];
      if (words > 1) line += ' ';
    }
    lines.push_back(line);
  }
  return lines;
}

/// Anything that a line may hold: spaces of all kinds, marks, U+2581, unpaired bytes, emoji, endless words.
std::vector<std::string> hostile_lines(std::size_t count, std::uint64_t seed) {
  const std::vector<std::string> atoms{
      " ",      "  ",     "\t",      "\u00A0", "\u3000", "\u00A8", "\u2581",       "a",      "b",      "ab",
      "aab",    "é",      "e\u0301", "\u0301", "ﬁ",      "中",     "文",           "😀",      "\u200B", "\u200D",
      "\u0001", "<s>",    "<unk>",   "</s>",   "<0x41>", "\uFFED", "ア",           "①",      ".",      "12",
      "\u00AD", "\uFEFF", "\r",      "\xC3",   "\x80",   "\xFF",   "\xED\xA0\x80", "\u0385", "\u1FBF", "Å",
      "ba ",    " ab",    "\u2047"};
  Random random(seed);
  std::vector<std::string> lines{
      "", " ", "\t", "\u2581", "a \u2581 ", "\u00A8", " \u0308 ", std::string(3000, 'a'), std::string("a\0b", 3)};
  for (std::size_t i = 0; i < count; ++i) {
    std::string line;
    const std::uint64_t kinds = i % 3 == 0 ? atoms.size() : 33;  // two in three are valid
    for (std::uint64_t parts = random.below(40); parts > 0; --parts) line += atoms[random.below(kinds)];
    lines.push_back(line);
  }
  return lines;
}

std::vector<std::string> split(const Subwords& subwords, std::string_view text) {
  WordList pieces;
  subwords.split(text, pieces);
  return pieces.strings();
}

/// The library's pieces of a text, or of each of its words. For a unigram model they can differ where two ways to split
/// a word have nearly equal scores: the library rounds the sum of all scores of the text so far.
std::vector<std::string> librarys(const sentencepiece::SentencePieceProcessor& library, std::string_view text,
                                  bool by_words) {
  std::vector<std::string> all, pieces;
  const std::size_t space = by_words && text.find("\u2581") == text.npos ? text.find(' ') : text.npos;
  EXPECT_TRUE(library.Encode(text.substr(0, space), &all).ok());
  if (space == text.npos) return all;
  pieces = librarys(library, text.substr(space + 1), true);
  all.insert(all.end(), pieces.begin(), pieces.end());
  return all;
}

/// Twice, so that the second time words are known already.
void expect_the_librarys(const Subwords& subwords, const std::vector<std::string>& lines, bool by_words = false) {
  sentencepiece::SentencePieceProcessor library;
  ASSERT_TRUE(library.LoadFromSerializedProto(subwords.bytes()).ok());
  for (int round = 0; round < 2; ++round)
    for (const std::string& line : lines) ASSERT_EQ(split(subwords, line), librarys(library, line, by_words)) << line;
}

TEST(SentencePiece, SplitsEveryLineAsTheLibraryDoes) {
  const auto lines = lines_of(3000, 1);
  for (const char* algorithm : {"unigram", "bpe"}) {
    for (const char* normalization : {"nmt_nfkc", "identity"}) {
      const Subwords subwords = train_subwords(lines, {algorithm, 330, false, normalization});
      EXPECT_THAT(subwords.description(), HasSubstr(algorithm));
      const bool by_words = algorithm == std::string_view("unigram");
      expect_the_librarys(subwords, lines_of(500, 2), by_words);
      expect_the_librarys(subwords, hostile_lines(1500, 3), by_words);
    }
  }
}

TEST(SentencePiece, LeavesModelsWhosePiecesCrossSpacesToTheLibrary) {
  auto pieces = kSpecial;
  for (const char* piece : {"\u2581", "a", "b", "\u2581a\u2581b", "a\u2581"}) pieces.emplace_back(piece, -1.0f, 1);
  const Subwords crossing = Subwords::sentence_piece(model_of(1, false, pieces));
  EXPECT_THAT(split(crossing, "a b"), ElementsAre("\u2581a\u2581b"));
  pieces = kSpecial;
  for (const char* piece : {"\u2581", "a", "b"}) pieces.emplace_back(piece, -1.0f, 1);
  pieces.emplace_back("a b", 0.0f, 4);  // the user's own
  expect_the_librarys(Subwords::sentence_piece(model_of(1, false, pieces)), hostile_lines(200, 7));
}

TEST(SentencePiece, GivesTheTextBackWhateverItHolds) {
  const Subwords subwords = train_subwords(lines_of(2000, 1), {"unigram", 320, false, "identity"});
  for (const std::string line : {"aba été", "never seen: 中文 😀", "l'abé (b)"})
    EXPECT_EQ(subwords.join(split(subwords, line), "\u2047"), line);
  EXPECT_EQ(subwords.join({"\u2581"
                           "ab",
                           "\u2047", "ab", "\u2047", "\u2047"},
                          "\u2047"),
            "ab \u2047 ab \u2047 \u2047");
  EXPECT_EQ(subwords.join({}, "\u2047"), "");
}

TEST(SentencePiece, LearnsTheSameModelAgain) {
  const auto lines = lines_of(2000, 1);
  EXPECT_EQ(train_subwords(lines, {"unigram", 300, true, "nmt_nfkc"}),
            train_subwords(lines, {"unigram", 300, true, "nmt_nfkc"}));
  EXPECT_THAT(message_of([&] {
                train_subwords(lines, {"unigram", 30000, true, "nmt_nfkc"});
              }),
              AllOf(HasSubstr("30000"), HasSubstr("2000 lines")));
}

TEST(SentencePiece, RefusesWhatIsNoModelAndPiecesThatAreSpecialSymbols) {
  EXPECT_THAT(message_of([] { Subwords::sentence_piece("no model"); }), HasSubstr("SentencePiece"));
  EXPECT_THAT(message_of([] { Subwords::sentence_piece(""); }), Not(""));
  auto pieces = kSpecial;
  pieces[1] = {"<begin>", 0.0f, 3};
  pieces.emplace_back("\u2581", -1.0f, 1);
  pieces.emplace_back("<s>", -1.0f, 1);
  EXPECT_THAT(message_of([&] { Subwords::sentence_piece(model_of(1, false, pieces)); }),
              AllOf(HasSubstr("'<s>'"), HasSubstr("special symbol")));
}

using Units = std::vector<std::uint32_t>;

constexpr std::uint32_t kUnused = 1u << 31;

/// Rules in which "x", "xx" and so on become "y".
Units rules_of(std::uint32_t keys) {
  Units units(256 * (keys + 2), kUnused);
  units[0] = 256 << 10;
  for (std::uint32_t key = 1; key <= keys; ++key) {
    const std::uint32_t place = 256 * key ^ 'x', next = 256 * (key + 1);
    units[place] = (place ^ next) << 10 | 1u << 8 | 'x';
    units[next] = kUnused | 0;
  }
  return units;
}
std::string charsmap_of(const Units& units, const std::string& replacements = std::string("y\0", 2)) {
  const auto bytes = static_cast<std::uint32_t>(units.size() * sizeof units[0]);
  std::string all(reinterpret_cast<const char*>(&bytes), sizeof bytes);
  if (bytes > 0) all.append(reinterpret_cast<const char*>(units.data()), bytes);
  return all + replacements;
}

std::string small_model(int type = 1) {
  auto pieces = kSpecial;
  for (const char* piece : {"\u2581", "a", "b", "x", "y", "ab", "yy"}) pieces.emplace_back(piece, -1.0f, 1);
  return model_of(type, false, pieces);
}

std::string refusal_of(const std::string& model) {
  return message_of([&] { Subwords::sentence_piece(model); });
}

TEST(SentencePiece, RefusesDamagedRulesBeforeTheLibraryFollowsThem) {
  std::vector<std::string> damaged{"abc",
                                   std::string(5, '\0'),
                                   charsmap_of({}),
                                   charsmap_of(rules_of(33)),
                                   charsmap_of(rules_of(1), "y"),
                                   charsmap_of(rules_of(1), ""),
                                   charsmap_of(rules_of(1), std::string("\xE3\0", 2)),
                                   charsmap_of(rules_of(1)).substr(0, 600)};
  const std::uint32_t place = 256 ^ 'x';
  const auto damage = [&](std::size_t at, std::uint32_t unit) {
    Units units = rules_of(1);
    units[at] = unit;
    damaged.push_back(charsmap_of(units));
  };
  damage(0, 0x1FFFFFu << 10);                                   // root
  damage(0, 0x1FFFFFu << 10 | 1u << 9);                         // root, in units of 256
  damage(place, 0x1FFFFFu << 10 | 1u << 8 | 'x');               // value
  damage(place, 0x1FFFFFu << 10 | 'x');                         // parent
  damage(place, std::uint32_t{'x'} << 10 | 'x');                // root again
  damage(512, kUnused | 2);                                     // replacement
  damage(256, 0x1FFFFFu << 10);                                 // by a NUL
  damage(512 ^ 'x', std::uint32_t{'x'} << 10 | 1u << 8 | 'x');  // a key without end
  const std::string test = field(4, field(1, field(1, "x") + field(2, "\u2581 y")));
  for (std::size_t i = 0; i < damaged.size(); ++i) {
    for (const int spec : {3, 5}) {  // normalizer_spec, denormalizer_spec
      EXPECT_THAT(refusal_of(small_model() + field(spec, field(2, damaged[i])) + test), HasSubstr("damaged"))
          << i << ", " << spec;
    }
  }
  for (const std::uint32_t keys : {1, 32}) {
    const std::string rules = field(2, charsmap_of(rules_of(keys)));
    const Subwords sound = Subwords::sentence_piece(small_model() + field(3, rules) + field(5, rules) + test);
    expect_the_librarys(sound, {"x", "axb xx", std::string(100, 'x'), std::string("x\0x", 3)});
    EXPECT_THAT(sound.join({"\u2581", "a", "x", "b"}, "\u2047"), HasSubstr("ayb"));
  }
}

TEST(SentencePiece, ReadsFieldsAsTheLibraryDoes) {
  // Fields of other wire types, and numbers that no enumeration has, are as if they were not there.
  const std::string eight(8, '\0');
  EXPECT_THAT(refusal_of(small_model() + field(3, field(2, "damaged") + '\x11' + eight)), HasSubstr("damaged"));
  EXPECT_THAT(refusal_of(small_model() + field(3, field(2, "damaged")) + '\x19' + eight), HasSubstr("damaged"));
  auto pieces = kSpecial;
  for (const char* piece : {"\u2581", "a", "b"}) pieces.emplace_back(piece, -1.0f, 1);
  pieces.emplace_back("ab", -0.5f, 9);
  for (const std::string& more :
       {std::string(), field(2, field(3, "z") + "\xC2\x01\x01z"), field(2, "\x18\x07"), std::string("\x08\x01"),
        field(1, field(1, "ba") + "\x10\x07" + field(3, "")), field(3, "\x19" + eight + field(5, ""))}) {
    const Subwords subwords = Subwords::sentence_piece(model_of(1, false, pieces) + more);
    EXPECT_THAT(subwords.description(), HasSubstr("unigram"));
    expect_the_librarys(subwords, {"ab", "a  b", "abab ba", "c"});
  }
  EXPECT_THAT(refusal_of(small_model() + std::string("\x88\x80\x80\x80\x10\x01")), HasSubstr("not a model"));
}

TEST(SentencePiece, RefusesPiecesThatTheLibraryHasNoRoomFor) {
  EXPECT_THAT(refusal_of(small_model() + field(1, field(1, "ab"))), HasSubstr("'ab' occurs twice"));
  EXPECT_THAT(refusal_of(small_model() + field(1, "")), HasSubstr("empty"));
  EXPECT_THAT(refusal_of(small_model() + field(1, field(1, "a\nb"))),
              HasSubstr("piece 10 is not a line of valid UTF-8"));
  EXPECT_THAT(refusal_of(small_model() + field(1, field(1, std::string(1 << 20, 'a')))), HasSubstr("1048576 bytes"));
  std::string model = small_model();
  for (std::size_t size = 1; size <= 64; ++size) model += field(1, field(1, std::string(size, 'u')) + "\x18\x04");
  expect_the_librarys(Subwords::sentence_piece(model), {"au", std::string(100, 'u')});
  EXPECT_THAT(refusal_of(model + field(1, field(1, std::string(65, 'u')) + "\x18\x04")), HasSubstr("64"));
}

TEST(SentencePiece, SurvivesWhateverBytesAModelHas) {
  const auto lines = hostile_lines(4, 11);
  Random random(9);
  int accepted = 0;
  for (int i = 0; i < 300; ++i) {
    const std::string rules = field(2, charsmap_of(rules_of(1)));
    std::string model = small_model(1 + i / 2 % 2) + field(3, rules) + field(5, rules);
    const std::size_t head = small_model().size() + 12;  // without the array, most of which nobody reads
    for (std::uint64_t changes = 1 + random.below(3); changes > 0; --changes) {
      const std::size_t at = random.below(i % 2 == 0 ? head : model.size());
      model[at] = static_cast<char>(random.below(256));
    }
    try {
      const Subwords subwords = Subwords::sentence_piece(model);
      ++accepted;
      for (const std::string& line : lines) subwords.join(split(subwords, line), "\u2047");
    } catch (const Error&) {
    }
  }
  EXPECT_GT(accepted, 30);
}

const std::string kCodes = "l o\nlo w</w>\ne r</w>\nn e\nw e\nlo we\n";

TEST(BytePairCodes, MergesByRankUpToTheEndOfTheWord) {
  const Subwords subwords = Subwords::byte_pair_codes("#version: 0.2\n" + kCodes);
  EXPECT_THAT(split(subwords, "low"), ElementsAre("low"));
  EXPECT_THAT(split(subwords, "lower"), ElementsAre("lo@@", "w@@", "er"));  // "er" comes before "we"
  EXPECT_THAT(split(subwords, "lowed"), ElementsAre("lowe@@", "d"));
  EXPECT_THAT(split(subwords, "newlow"), ElementsAre("ne@@", "w@@", "low"));
  EXPECT_THAT(split(subwords, "é"), ElementsAre("é"));
  EXPECT_THAT(split(subwords, "日lo"), ElementsAre("日@@", "l@@", "o"));
  EXPECT_EQ(subwords.join({"lo@@", "w@@", "er", "low", "ne@@"}, "\u2047"), "lower low ne");
}

TEST(BytePairCodes, WithoutAVersionTheEndOfTheWordIsASymbolOfItsOwn) {
  const Subwords subwords = Subwords::byte_pair_codes("l o\nw </w>\nlo w</w>\na </w>\n");
  EXPECT_THAT(split(subwords, "low"), ElementsAre("low"));
  EXPECT_THAT(split(subwords, "lowl"), ElementsAre("lo@@", "w@@", "l"));
  EXPECT_THAT(split(subwords, "ba"), ElementsAre("b@@", "a"));
}

TEST(BytePairCodes, MergesAsDefinedWhateverTheCodes) {
  Random random(3);
  for (int model = 0; model < 40; ++model) {
    std::vector<std::string> symbols{"a", "b", "a</w>", "b</w>"};
    std::vector<std::pair<std::string, std::string>> codes;
    for (int i = 0; i < 25; ++i) {  // also pairs of what is made later only, and pairs twice
      const std::string& left = symbols[random.below(symbols.size())];
      const std::string& right = symbols[random.below(symbols.size())];
      if (left.ends_with(">")) continue;
      codes.emplace_back(left, right);
      symbols.push_back(left + right);
    }
    for (std::size_t i = codes.size(); i > 1 && model % 2; --i) std::swap(codes[i - 1], codes[random.below(i)]);
    std::string file = "#version: 0.2\n";
    for (const auto& [left, right] : codes) file += left + " " + right + "\n";
    const Subwords subwords = Subwords::byte_pair_codes(file);
    const support::BytePairCodes reference(file);
    for (int i = 0; i < 40; ++i) {
      std::string word;
      for (std::uint64_t n = 2 + random.below(i % 4 == 0 ? 120 : 20); n > 0; --n) word += "ab"[random.below(2)];
      const auto expected = reference.split(word);
      ASSERT_EQ(split(subwords, word), expected) << file << word;
      ASSERT_EQ(split(subwords, word), expected) << file << word;
    }
  }
}

TEST(BytePairCodes, RefusesWhatAreNoneNamingTheLine) {
  EXPECT_THAT(message_of([] { Subwords::byte_pair_codes("#version: 0.2\na b\na b c\n"); }), HasSubstr("line 3"));
  EXPECT_THAT(message_of([] { Subwords::byte_pair_codes("#version: 0.3\na b\n"); }), HasSubstr("0.3"));
  for (const char* almost : {"\ufeff#version: 0.2", "#version:0.2", "#Version: 0.2", "# version: 0.2", "version: 0.2",
                             "#vesion: 0.2", "#version 0.2", "#version: 1", "#version: 0.2\n#version: 0.2"}) {
    EXPECT_THAT(message_of([&] { Subwords::byte_pair_codes(fmt::format("{}\na b\n", almost)); }),
                HasSubstr("the first line of codes may be"))
        << almost;
  }
  EXPECT_THAT(message_of([] { Subwords::byte_pair_codes("\n"); }), HasSubstr("empty"));
  for (const std::string& bad : {std::string(5000, 'a'), "#version: " + std::string(5000, '1')})
    EXPECT_LT(message_of([&] { Subwords::byte_pair_codes(bad); }).size(), 300u);
  EXPECT_THAT(message_of([] { Subwords::byte_pair_codes("a \xFF\n"); }), HasSubstr("UTF-8"));
}

}  // namespace
}  // namespace rnnsearch::text
