#include "rnnsearch/evaluate/metrics.h"

#include <fmt/format.h>

#include "rnnsearch/base/portable.h"
#include "rnnsearch/base/version.h"
#include "rnnsearch/text/unicode.h"
#include "tests/support/test.h"

namespace rnnsearch::evaluate {
namespace {

using Lines = std::vector<std::string>;

constexpr TerOptions kTer{};

double score(const Lines& hypotheses, const std::vector<Lines>& references, const TerOptions& options = kTer) {
  return corpus_ter(hypotheses, references, options);
}
double score(const std::string& hypothesis, const std::string& reference, const TerOptions& options = kTer) {
  return score(Lines{hypothesis}, {{reference}}, options);
}
TerStatistics statistics(const std::string& hypothesis, const std::string& reference) {
  const std::string_view view = reference;
  return sentence_statistics(hypothesis, {&view, 1}, kTer);
}
std::uint64_t edits(const std::string& hypothesis, const std::string& reference) {
  return statistics(hypothesis, reference).edits;
}

std::string joined(const Lines& words) { return fmt::to_string(fmt::join(words, " ")); }
// Expects that the tokens of the line are those of `tokens`, which spaces separate.
void expect_tokens(std::string_view line, const std::string& tokens, const TerOptions& options) {
  const std::size_t words = text::split_words(tokens).size();
  EXPECT_EQ(sentence_statistics(tokens, {&line, 1}, options), (TerStatistics{.edits = 0, .reference_words = words}))
      << line;
}

Lines random_words(Random& random, std::size_t count, std::uint64_t vocabulary) {
  Lines words(count);
  for (std::string& word : words) word = fmt::format("w{}", random.below(vocabulary));
  return words;
}

TEST(Ter, HasThePublishedScores) {
  // Of sacreBLEU's own tests (mjpost/sacrebleu, test/test_ter.py).
  EXPECT_EQ(score("aaaa bbbb cccc dddd", "aaaa bbbb cccc dddd"), 0);
  EXPECT_EQ(score("dddd eeee ffff", "aaaa bbbb cccc"), 100);
  EXPECT_EQ(score("", "a"), 100);
  EXPECT_EQ(score("d e f g h a b c", "a b c d e f g h"), 12.5);
  const Lines hypotheses = {
      "wählen Sie \" Bild neu berechnen , \" um beim Ändern der Bildgröße Pixel hinzuzufügen oder zu entfernen , damit "
      "das Bild ungefähr dieselbe Größe aufweist wie die andere Größe .",
      "wenn Sie alle Aufgaben im aktuellen Dokument aktualisieren möchten , wählen Sie im Menü des Aufgabenbedienfelds "
      "die Option \" Alle Aufgaben aktualisieren . \"",
      "klicken Sie auf der Registerkarte \" Optionen \" auf die Schaltfläche \" Benutzerdefiniert \" und geben Sie "
      "Werte für \" Fehlerkorrektur-Level \" und \" Y / X-Verhältnis \" ein .",
      "Sie können beispielsweise ein Dokument erstellen , das ein Auto über die Bühne enthält .",
      "wählen Sie im Dialogfeld \" Neu aus Vorlage \" eine Vorlage aus und klicken Sie auf \" Neu . \""};
  const Lines references = {
      "wählen Sie \" Bild neu berechnen , \" um beim Ändern der Bildgröße Pixel hinzuzufügen oder zu entfernen , damit "
      "die Darstellung des Bildes in einer anderen Größe beibehalten wird .",
      "wenn Sie alle Aufgaben im aktuellen Dokument aktualisieren möchten , wählen Sie im Menü des Aufgabenbedienfelds "
      "die Option \" Alle Aufgaben aktualisieren . \"",
      "klicken Sie auf der Registerkarte \" Optionen \" auf die Schaltfläche \" Benutzerdefiniert \" und geben Sie für "
      "\" Fehlerkorrektur-Level \" und \" Y / X-Verhältnis \" niedrigere Werte ein .",
      "Sie können beispielsweise ein Dokument erstellen , das ein Auto enthalt , das sich über die Bühne bewegt .",
      "wählen Sie im Dialogfeld \" Neu aus Vorlage \" eine Vorlage aus und klicken Sie auf \" Neu . \""};
  EXPECT_NEAR(score(hypotheses, {references}), 13.6, 1e-3);

  // Of the card of Hugging Face's metric "ter" and of torchmetrics' documentation and Lightning-AI/torchmetrics#3478,
  // which take sacreBLEU's scores.
  const Lines asked = {"does this sentence match??", "what about this sentence?",
                       "What did the TER metric user say to the developer?"};
  const std::vector<Lines> answers = {{"does this sentence match", "wHaT aBoUt ThIs SeNtEnCe?", "Your jokes are..."},
                                      {"does this sentence match!?!", "wHaT aBoUt ThIs SeNtEnCe?", "...TERrible"}};
  const Lines two(asked.begin(), asked.begin() + 2);
  std::vector<Lines> two_answers = answers;
  for (Lines& set : two_answers) set.pop_back();
  EXPECT_EQ(score(asked, answers, {.case_sensitive = true}), 150);
  EXPECT_EQ(score(two, two_answers, {.case_sensitive = true}), 62.5);
  EXPECT_NEAR(score(two, two_answers, {.normalized = true, .case_sensitive = true}), 57.14285714285714, 1e-12);
  EXPECT_EQ(score(two, two_answers, {.no_punct = true}), 0);
  const Lines genitives = {"This is my dog's.",
                           "It is John's, not mine."};  // 4 of 14 words: references are split twice
  EXPECT_NEAR(score(genitives, {genitives}, {.normalized = true}), 400 / 14.0, 1e-12);
  EXPECT_NEAR(score(Lines{"the cat is on the mat"}, {{"there is a cat on the mat"}, {"a cat is on the mat"}}), 15.38,
              0.005);
  EXPECT_EQ(score("hello hello the a dog", "jumps dog lazy the"), 125);
}

TEST(Ter, TokenizesAsTercom) {
  // Of sacreBLEU's own tests (test/test_tokenizer_ter.py).
  expect_tokens("a b c d.", "a b c d.", kTer);
  expect_tokens("A B C D.", "a b c d.", kTer);
  expect_tokens("", "", kTer);
  expect_tokens("a b c d.", "a b c d", {.no_punct = true});
  expect_tokens("A ; B ) C : D.", "a b c d", {.no_punct = true});
  expect_tokens("a b (c) d.", "a b ( c ) d .", {.normalized = true});
  expect_tokens("Jim's car.", "jim 's car .", {.normalized = true});
  expect_tokens("4.2", "4.2", {.normalized = true});
  const TerOptions asian = {.normalized = true, .asian_support = true};
  expect_tokens("美众院公布对特", "美 众 院 公 布 对 特", asian);
  expect_tokens("りの拳銃を持", "りの 拳 銃 を 持", asian);

  expect_tokens("  A\tB\u00a0C\u3000", "A B C", {.case_sensitive = true});
  expect_tokens("ÄÖ É", "äö é", kTer);
  expect_tokens("&quot;x&quot; &amp;lt; &gt;", "\" x \" < >", {.normalized = true});
  expect_tokens("a.b 1,000 1,a b,1 ... 10-20 a-b", "a . b 1,000 1 , a b , 1 . . . 10 - 20 a-b", {.normalized = true});
  expect_tokens("$5@x/y [z]`", "$ 5 @ x / y [ z ] `", {.normalized = true});
  expect_tokens("Ève, été.", "ève , été .", {.normalized = true});
  expect_tokens("漢字、（カナ）。", "漢字、（カナ）。", {.normalized = true});  // only with asian_support
  expect_tokens("漢字、（カナ）。", "漢 字 、 （ カナ ） 。", asian);
  expect_tokens("漢字、（カナ）。", "漢字、（カナ）。", {.asian_support = true});  // not by itself
  expect_tokens("漢字、（カナ）。", "漢字カナ", {.no_punct = true, .asian_support = true});
}

TEST(Ter, CountsEachEditOnce) {
  EXPECT_EQ(edits("a b c", "a x c"), 1u);
  EXPECT_EQ(edits("a b c", "a c"), 1u);
  EXPECT_EQ(edits("a c", "a b c"), 1u);
  EXPECT_EQ(edits("b c d e a", "a b c d e"), 1u) << "one word shifted far";
  EXPECT_EQ(edits("x c d a b", "a b c d x"), 2u) << "two shifts";
  EXPECT_EQ(edits("c d a b x", "a b c d y"), 2u) << "a shift and a substitution";
  EXPECT_EQ(statistics("a b", "a b c d").reference_words, 4u);
}

TEST(Ter, ShiftsAtMostTenWordsAtOnce) {
  const std::string ten = "1 2 3 4 5 6 7 8 9 10", other = "a b c d e f g h i j k l";
  EXPECT_EQ(edits(other + " " + ten, ten + " " + other), 1u);
  // Eleven and twelve words change places: two shifts for the eleven, which no one shift moves.
  EXPECT_EQ(edits(other + " " + ten + " 11", ten + " 11 " + other), 2u);
}

TEST(Ter, ShiftsAtMostFiftyWordsFar) {
  const auto line = [](int between, bool moved) {
    std::string text = moved ? "" : "moved ";
    for (int i = 0; i < between; ++i) text += fmt::format("{} ", i);
    return moved ? text + "moved" : text;
  };
  EXPECT_EQ(edits(line(50, true), line(50, false)), 1u);
  EXPECT_EQ(edits(line(51, true), line(51, false)), 2u) << "deleted and inserted";
}

TEST(Ter, StaysWithinTwentyFiveWordsOfTheDiagonal) {
  // As many words on both sides, the equal ones 20 or 30 places apart: only those within the beam are found. The words
  // between are all different, and a phrase of ten is shifted where that helps.
  const auto words = [](char kind, int count) {
    std::string text;
    for (int i = 0; i < count; ++i) text += fmt::format("{}{} ", kind, i);
    return text;
  };
  EXPECT_EQ(edits(words('x', 20) + words('s', 60), words('s', 60) + words('y', 20)), 40u);
  EXPECT_GT(edits(words('x', 30) + words('s', 60), words('s', 60) + words('y', 30)), 60u);
}
// TER from its description: the whole matrix, every shift tried on a copy, the best taken from a list of all.
struct Slow {
  Lines words, reference;
  std::size_t tried = 0;

  // What becomes of the words, in order: '=' kept, 's' substituted, '-' deleted, '+' one of the reference inserted.
  std::string operations(const Lines& from) const {
    const std::size_t n = from.size(), m = reference.size();
    std::vector<std::vector<std::string>> best(n + 1, std::vector<std::string>(m + 1));
    for (std::size_t i = 0; i <= n; ++i) {
      for (std::size_t j = 0; j <= m; ++j) {
        Lines ways;  // the preferred one first
        if (i > 0 && j > 0) ways.push_back(best[i - 1][j - 1] + (from[i - 1] == reference[j - 1] ? '=' : 's'));
        if (i > 0) ways.push_back(best[i - 1][j] + '-');
        if (j > 0) ways.push_back(best[i][j - 1] + '+');
        if (ways.empty()) continue;
        best[i][j] = *std::min_element(ways.begin(), ways.end(), [](auto& a, auto& b) { return cost(a) < cost(b); });
      }
    }
    return best[n][m];
  }
  static long cost(const std::string& operations) {
    return static_cast<long>(operations.size()) - std::count(operations.begin(), operations.end(), '=');
  }
  Lines moved(std::size_t start, std::size_t length, std::size_t target) const {
    const auto at = [](Lines& lines, std::size_t i) { return lines.begin() + static_cast<std::ptrdiff_t>(i); };
    Lines rest = words;
    const Lines phrase(at(rest, start), at(rest, start + length));
    rest.erase(at(rest, start), at(rest, start + length));
    const std::size_t place = target > start + length ? target - length : std::min(target, rest.size());
    rest.insert(at(rest, place), phrase.begin(), phrase.end());
    return rest;
  }
  bool shift() {
    const std::string before = operations(words);
    std::vector<long> beside;  // of each word of the reference: the last word of the line that stands there or before
    std::string word_marks, reference_marks;
    for (const char operation : before) {
      if (operation != '+') word_marks += operation;
      if (operation == '-') continue;
      reference_marks += operation;
      beside.push_back(static_cast<long>(word_marks.size()) - 1);
    }
    const auto all_kept = [](const std::string& marks, std::size_t from, std::size_t length) {
      return marks.substr(from, length).find_first_not_of('=') == std::string::npos;
    };
    using Candidate = std::tuple<long, std::size_t, long, long, Lines>;
    std::vector<Candidate> candidates;
    const auto try_all = [&] {
      for (std::size_t start = 0; start < words.size(); ++start) {
        for (std::size_t there = 0; there < reference.size(); ++there) {
          for (std::size_t length = 1; length <= 10; ++length) {
            if (start + length > words.size() || there + length > reference.size()) break;
            if (words[start + length - 1] != reference[there + length - 1]) break;
            if (all_kept(word_marks, start, length) || all_kept(reference_marks, there, length)) continue;
            const long own = static_cast<long>(start);
            if (beside[there] >= own && beside[there] < own + static_cast<long>(length)) continue;
            std::vector<long> targets;
            if (there == 0) targets.push_back(0);
            for (std::size_t k = there == 0 ? 0 : there - 1; k < there + length; ++k) targets.push_back(beside[k] + 1);
            targets.erase(std::unique(targets.begin(), targets.end()), targets.end());
            for (const long target : targets) {
              Lines result = moved(start, length, static_cast<std::size_t>(target));
              const long gain = cost(before) - cost(operations(result));
              candidates.emplace_back(gain, length, -own, -target, std::move(result));
              ++tried;
            }
            if (tried >= 1000) return;
          }
        }
      }
    };
    try_all();
    if (candidates.empty() || tried >= 1000) return false;
    const auto best = std::max_element(candidates.begin(), candidates.end());
    if (std::get<0>(*best) <= 0) return false;
    words = std::get<4>(*best);
    return true;
  }
  std::uint64_t edits() {
    std::uint64_t shifts = 0;
    while (shift()) ++shifts;
    return shifts + static_cast<std::uint64_t>(cost(operations(words)));
  }
};

TEST(Ter, IsThatOfItsDescription) {
  Random random(46);
  for (int round = 0; round < 200; ++round) {
    const std::uint64_t vocabulary = 2 + random.below(12);
    const Lines reference = random_words(random, 1 + random.below(13), vocabulary);
    Lines hypothesis = random_words(random, random.below(13), vocabulary);
    if (round % 2 == 0) {  // the same words in another order
      hypothesis = reference;
      random.shuffle(hypothesis);
    }
    EXPECT_EQ(edits(joined(hypothesis), joined(reference)), (Slow{hypothesis, reference}.edits()))
        << joined(hypothesis) << " | " << joined(reference);
  }
}

TEST(Ter, GivesUpAfterAThousandShiftsTried) {
  const auto line = [](int count, const char* first, const char* second) {
    std::string text;
    for (int i = 0; i < 2 * count; ++i) text += i < count ? first : second;
    return text;
  };
  // One shift would do for both; among seven and seven words it is one of 952 to be tried, among eight of more.
  EXPECT_EQ(edits(line(7, "a ", "b "), line(7, "b ", "a ")), 1u);
  EXPECT_EQ(edits(line(8, "a ", "b "), line(8, "b ", "a ")), 16u);
}

TEST(Ter, TakesTheFewestEditsAndTheMeanLengthOfSeveralReferences) {
  const std::vector<std::string_view> references = {"a b c d", "a b", "x y z"};
  EXPECT_EQ(sentence_statistics("a b c", references, kTer), (TerStatistics{.edits = 1, .reference_words = 9}));
  EXPECT_EQ(score(Lines{"a b", "c"}, {{"a b", "x"}, {"q r s t", "x y"}}), 100.0 * 1 / (3 + 1.5));
  const std::vector<std::string_view> with_empty = {"", "a b c"};
  EXPECT_EQ(sentence_statistics("a", with_empty, kTer), (TerStatistics{.edits = 1, .reference_words = 3}));
}

TEST(Ter, IsDefinedWithoutWords) {
  EXPECT_EQ(score("", ""), 0);
  EXPECT_EQ(score("a b", ""), 100) << "there is no length to divide by";
  EXPECT_EQ(score("", "a b"), 100);
  EXPECT_EQ(score("...", "!!", {.no_punct = true}), 0);
  EXPECT_EQ(score(Lines{"a b", "c"}, {{"", "c"}}), 200) << "edits against an empty reference count in a corpus";
  EXPECT_EQ(score("a b c", "x"), 300) << "more than 100";
}

TEST(Ter, TakesEndlessLines) {
  Random random(45);
  const std::string reference = joined(random_words(random, 20000, 50000));
  EXPECT_EQ(edits(reference, reference), 0u);
  EXPECT_EQ(edits(reference + " x", reference), 1u);
  EXPECT_EQ(edits("x", reference), 20000u) << "a line of one word";
  EXPECT_EQ(edits(reference, "x"), 20000u);
}

TEST(Ter, SignsAsSacrebleu) {
  const std::string version = std::string("|version:rnnsearch-") + kVersion;
  EXPECT_EQ(signature(kTer, 1), "nrefs:1|case:lc|tok:tercom|norm:no|punct:yes|asian:no" + version);
  EXPECT_EQ(
      signature({.normalized = true, .no_punct = true, .asian_support = true, .case_sensitive = true}, 2, Bootstrap{}),
      "nrefs:2|bs:1000|seed:12345|case:mixed|tok:tercom|norm:yes|punct:no|asian:yes" + version);
}

}  // namespace
}  // namespace rnnsearch::evaluate
