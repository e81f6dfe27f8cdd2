#include "rnnsearch/decode/translate_lines.h"

#include <gtest/gtest.h>

#include <iterator>
#include <sstream>
#include <tuple>

#include "rnnsearch/base/portable.h"

namespace rnnsearch::decode {
namespace {

std::vector<std::string> words_of(const std::string& text) {
  std::istringstream stream(text);
  return {std::istream_iterator<std::string>(stream), {}};
}

TEST(Parts, EndWhereASentenceEndsOrNoFurtherWordFits) {
  for (const auto& [line, longest, ends] : std::vector<std::tuple<std::string, std::size_t, std::vector<std::size_t>>>{
           {"", 3, {0}},
           {"a . b", 3, {3}},  // a short line is one part
           {"a . b . c", 0, {5}},
           {"a . b c ? d e f", 6, {5, 8}},  // the last sentence end that fits
           {"a . b c ? d e f", 4, {2, 5, 8}},
           {"a b. c! d e f", 4, {3, 6}},     // a mark at a word's end
           {"a b c d e f g", 3, {3, 6, 7}},  // no sentence ends
           {". b c d e f", 3, {1, 4, 6}},
           {"a . \" ) b c d", 5, {4, 7}},        // closing marks belong to the sentence
           {"a . ) b ? \u201d c d", 5, {3, 8}},  // the mark after ? does not fit
           {"a .\" b c d", 3, {2, 5}},
           {"\u4f60 \u597d \u3002 \u4f60 \u597d", 4, {3, 5}},  // marks of other scripts
           {"a \u061f b \u0964 c", 3, {2, 5}},                 // the last of two marks that fits
           {"a \uffed. \uffed\" b \uffed, c d", 5, {3, 7}},    // joiner marks
           {"a \uffed. \"\uffed b \uffed, c d", 5, {2, 7}},    // an opening mark
           {"\u2581a . \u2581b c \u2581d", 4, {2, 5}}}) {      // pieces
    EXPECT_EQ(part_ends(words_of(line), longest), ends) << line;
  }
}

TEST(Parts, NeverHaveMoreWordsThanAllowedAndLoseNone) {
  Random random(1);
  const std::vector<std::string> some{"a", ".", ")", "\"", "b.", "?"};
  for (int round = 0; round < 200; ++round) {
    std::vector<std::string> words(random.below(60));
    for (std::string& word : words) word = some[random.below(some.size())];
    const std::size_t longest = 1 + random.below(12);
    std::size_t begin = 0;
    for (const std::size_t end : part_ends(words, longest)) {
      EXPECT_LE(end - begin, longest);
      EXPECT_TRUE(end > begin || words.empty());
      begin = end;
    }
    EXPECT_EQ(begin, words.size());
  }
}

}  // namespace
}  // namespace rnnsearch::decode
