#include "rnnsearch/corpus/text_pipeline.h"

#include "tests/corpus/tiny_corpus.h"
#include "tests/support/sentence_piece_model.h"
#include "tests/support/test.h"

namespace rnnsearch::corpus {
namespace {

TEST(TextPipeline, UndoesItsWordsUpToWhiteSpace) {
  const TextPipeline words;
  for (const std::string line : {"Don't (really) say \"l'amie\", at 3.5% - or do!", "a", ""})
    EXPECT_EQ(words.to_text(words.to_words("  " + line + " \r", Side::kSource)), line);
  TextPipeline none;
  none.tokenizer = "none";
  EXPECT_THAT(none.to_words(" a,b\t c\r", Side::kSource), ElementsAre("a,b", "c"));
  EXPECT_EQ(none.to_text({"a,b", "c"}), "a,b c");
  EXPECT_EQ(none.to_text({}), "");
}

// Words of a model, of which it may not know those of letters and digits: the text that it writes is read as these
// words.
TEST(TextPipeline, ReadsUnknownWordsBackAsItWroteThem) {
  const std::vector<std::string> parts{"l'eau",  "don't",    "1990-1995", "(see",  "3,5", "and/or", "it's",   "qu'il",
                                       "\"no\"", "17-year",  "end.",      "x,y",   "$5",  "Ω's",    "中文没", "a:b",
                                       "e.g.",   "--option", "50%",       "¿qué?", "[1]", "…",      "«mot»"};
  Random random(44);
  std::size_t unknown = 0;
  for (const char* tokenizer : {"words", "icu-words", "none", "moses"}) {
    for (const char* normalization : {"none", "nfc", "nfkc"}) {
      for (const char* language : {"en", "fr", "de"}) {
        TextPipeline pipeline;
        pipeline.tokenizer = tokenizer;
        pipeline.normalization = normalization;
        pipeline.source_language = pipeline.target_language = language;
        pipeline.lowercase = random.below(2) == 0;
        for (int i = 0; i < 100; ++i) {
          std::string line;
          for (std::uint64_t n = 1 + random.below(8); n > 0; --n) line += parts[random.below(parts.size())] + " ";
          auto words = pipeline.to_words(line, Side::kTarget);
          for (std::string& word : words) {
            const auto letter = [](unsigned char c) { return c < 0x80 && std::isalnum(c) != 0; };
            if (!std::all_of(word.begin(), word.end(), letter) || random.below(3) > 0) continue;
            word = kUnknownInText;
            ++unknown;
          }
          const std::string written = pipeline.to_text(words);
          const auto again = pipeline.to_words(written, Side::kTarget);
          if (pipeline.tokenizer == "moses") {  // whose words cannot be undone; the unknown ones can
            EXPECT_EQ(std::count(again.begin(), again.end(), kUnknownInText),
                      std::count(words.begin(), words.end(), kUnknownInText))
                << written;
            continue;
          }
          EXPECT_EQ(again, words) << tokenizer << ": " << written;
        }
      }
    }
  }
  EXPECT_GT(unknown, 1000u);
  TextPipeline pieces;
  pieces.tokenizer = "none";
  pieces.source_subwords = pieces.target_subwords =
      text::train_subwords({"aa ab", "ba bb"}, {.pieces = 270, .exactly = false});
  const std::string line = fmt::format("{0} aa {0} {0} b", kUnknownInText);
  EXPECT_EQ(pieces.to_text(pieces.to_words(line, Side::kTarget)), line);
}

TEST(TextPipeline, TakesChineseByCharactersOrByTheWordsOfADictionary) {
  TextPipeline pipeline;
  EXPECT_EQ(pipeline.to_words("GNU软件", Side::kSource).size(), 3u);
  pipeline.tokenizer = "icu-words";
  check(pipeline);
  EXPECT_THAT(pipeline.to_words("GNU软件, x", Side::kSource), ElementsAre("GNU", "\uFFED软件", "\uFFED,", "x"));
  EXPECT_EQ(pipeline.to_text({"GNU", "\uFFED软件", "\uFFED,", "x"}), "GNU软件, x");
}

TEST(TextPipeline, SaysWhenALibraryThatMattersHasChanged) {
  TextPipeline pipeline;
  pipeline.libraries.text = "ICU 50.1";
  EXPECT_EQ(changed_libraries(pipeline), "");  // the tokenizer `words` does not depend on it
  const TextPipeline words = pipeline;
  for (const auto& change : std::vector<std::function<void(TextPipeline&)>>{
           [](TextPipeline& p) { p.tokenizer = "icu-words"; }, [](TextPipeline& p) { p.normalization = "nfkc"; }}) {
    pipeline = words;
    change(pipeline);
    EXPECT_THAT(changed_libraries(pipeline), AllOf(HasSubstr("with ICU 50.1,"), HasSubstr("has " + text::icu())));
    for (const std::string& same : {std::string(), text::icu()}) {
      pipeline.libraries.text = same;
      EXPECT_EQ(changed_libraries(pipeline), "");
    }
  }
  pipeline = {};
  pipeline.tokenizer = "none";
  pipeline.source_subwords = pipeline.target_subwords =
      text::train_subwords({"aa ab", "ba bb"}, {.algorithm = "unigram", .pieces = 270, .exactly = false});
  EXPECT_EQ(libraries_of(pipeline), text::sentence_piece_library());
  EXPECT_THAT(libraries_of(pipeline), testing::MatchesRegex("SentencePiece [0-9]+[.][0-9.]+"));
  pipeline.libraries.text = "SentencePiece 0.1.0";
  EXPECT_THAT(changed_libraries(pipeline), HasSubstr("with SentencePiece 0.1.0"));
}

TEST(TextPipeline, LowersCaseWhenAsked) {
  TextPipeline pipeline;
  pipeline.tokenizer = "none";
  pipeline.lowercase = true;
  EXPECT_THAT(pipeline.to_words("The \xc3\x89t\xc3\xa9", Side::kSource), ElementsAre("the", "\xc3\xa9t\xc3\xa9"));
}

TEST(TextPipeline, RefusesATokenizerThatThereIsNotNamingThoseThereAre) {
  TextPipeline pipeline;
  pipeline.tokenizer = "penn";
  EXPECT_THAT(message_of([&] { check(pipeline); }), AllOf(HasSubstr("'penn'"), HasSubstr("words"), HasSubstr("none")));
}

TEST(TextPipeline, SplitsTheWordsOfTheTokenizerByCodesAndPutsThemTogetherAgain) {
  TextPipeline pipeline;
  pipeline.source_subwords = text::Subwords::byte_pair_codes("a b\n");
  pipeline.target_subwords = text::Subwords::byte_pair_codes("b c\n");
  check(pipeline);
  EXPECT_THAT(pipeline.to_words("abc, d", Side::kSource), ElementsAre("ab@@", "c", "\uFFED@@", ",", "d"));
  EXPECT_THAT(pipeline.to_words("abc", Side::kTarget), ElementsAre("a@@", "bc"));
  EXPECT_EQ(pipeline.to_text(pipeline.to_words("abc, d", Side::kTarget)), "abc, d");
}

/// Of each word of a line its pieces, separated by spaces.
std::vector<std::string> pieces_of(const TextPipeline& pipeline, const std::string& line) {
  text::WordList pieces;
  pipeline.to_words(line, Side::kSource, pieces);
  std::vector<std::string> words;
  for (const auto& [first, end] : pipeline.pieces_of_words(line, Side::kSource, pieces)) {
    words.emplace_back();
    for (std::size_t i = first; i < end; ++i) words.back() += (i > first ? " " : "") + std::string(pieces[i]);
  }
  return words;
}

TEST(TextPipeline, KnowsThePiecesOfEachWord) {
  TextPipeline codes;
  codes.lowercase = true;
  codes.source_subwords = codes.target_subwords = text::Subwords::byte_pair_codes("a b\n");
  EXPECT_THAT(pieces_of(codes, "ABC, d"), ElementsAre("ab@@ c", "\uFFED@@ ,", "d"));

  TextPipeline crossing;
  crossing.tokenizer = "none";
  auto pieces = text::kSpecial;
  for (const char* piece : {"\u2581", "a", "b", "c"}) pieces.emplace_back(piece, -3.0f, 1);
  pieces.emplace_back("b\u2581b", -1.0f, 1);
  crossing.source_subwords = crossing.target_subwords =
      text::Subwords::sentence_piece(text::model_of(1, false, pieces));
  EXPECT_THAT(pieces_of(crossing, "ab bc c"), ElementsAre("\u2581 a b\u2581"
                                                          "b",
                                                          "b\u2581b c", "\u2581 c"));
  EXPECT_THAT(pieces_of(crossing, "a b \u2581 b"), ElementsAre("\u2581 a", "\u2581 b", "", "\u2581 \u2581 \u2581 b"));
}

/// A word of a model that was learned as usual begins where a piece begins with U+2581.
TEST(TextPipeline, FindsThePiecesOfWordsWhereTheyBeginWithTheMarkOfASpace) {
  Random random(45);
  const auto line_of = [&] {
    std::string line;
    for (std::uint64_t n = 1 + random.below(9); n > 0; --n, line += n > 0 ? " " : "")
      for (std::uint64_t k = 1 + random.below(7); k > 0; --k) line += "abcd"[random.below(4)];
    return line;
  };
  std::vector<std::string> text(2000);
  std::generate(text.begin(), text.end(), line_of);
  for (const char* algorithm : {"unigram", "bpe"}) {
    TextPipeline pipeline;
    pipeline.tokenizer = "none";
    pipeline.source_subwords = pipeline.target_subwords =
        text::train_subwords(text, {.algorithm = algorithm, .pieces = 330, .exactly = false});
    std::size_t of_several = 0;
    for (int i = 0; i < 2000; ++i) {
      const std::string line = line_of();
      std::vector<std::string> expected;
      for (const std::string& piece : pipeline.to_words(line, Side::kSource)) {
        if (piece.starts_with(text::kPieceSpace)) {
          expected.push_back(piece);
        } else {
          expected.back() += " " + piece;
          ++of_several;
        }
      }
      ASSERT_EQ(pieces_of(pipeline, line), expected) << line;
    }
    EXPECT_GT(of_several, 4000u);
    EXPECT_EQ(pieces_of(pipeline, "ab \u200B ab"),
              (std::vector{pieces_of(pipeline, "ab")[0], std::string(), pieces_of(pipeline, "ab")[0]}))
        << "normalization removes a zero-width space";
  }
}

TEST(TextPipeline, KeepsPlaceholdersWholeAndUndoesTheirWords) {
  TextPipeline pipeline;
  pipeline.copies = text::CopyPatterns({"[0-9]+", "[^ ]+@[^ ]+"});
  EXPECT_THAT(pipeline.to_words("<copy1> (<copy2>), <copy3>km", Side::kSource),
              ElementsAre("<copy1>", "(\uFFED", "<copy2>", "\uFFED)", "\uFFED,", "<copy3>", "\uFFEDkm"));
  EXPECT_THAT(pipeline.to_words("<copy1><copy2>", Side::kSource), ElementsAre("<copy1>", "\uFFED", "<copy2>"));
  for (const char* tokenizer : {"words", "icu-words"}) {
    pipeline.tokenizer = tokenizer;
    for (const bool codes : {false, true}) {
      if (codes) pipeline.source_subwords = pipeline.target_subwords = text::Subwords::byte_pair_codes("a b\n");
      for (const std::string line : {"12", "a 12 b", "(12) x12y 3.5%, 共12个 7é.", "1 a@b 2", "l'12", "12a@b"}) {
        std::vector<std::string> spans;
        const std::string text = pipeline.source_line(line, text::kMostPlaceholders, spans);
        EXPECT_GT(spans.size(), 0u);
        EXPECT_EQ(pipeline.to_text(pipeline.to_words(text, Side::kSource)), text);
        EXPECT_EQ(text::with_spans(text, spans), line);
      }
    }
    pipeline.source_subwords = pipeline.target_subwords = {};
  }
}

TEST(TextPipeline, CopiesOnlyWhatItsTokenizerCanPutBack) {
  TextPipeline pipeline;
  pipeline.copies = text::CopyPatterns({"[0-9]+"});
  const auto line = [&](const std::string& tokenizer) {
    pipeline.tokenizer = tokenizer;
    std::vector<std::string> spans;
    return pipeline.source_line("12 x34 5é (67)", text::kMostPlaceholders, spans);
  };
  EXPECT_EQ(line("words"), "<copy1> x<copy2> <copy3>é (<copy4>)");
  EXPECT_EQ(line("moses"), "<copy1> x34 5é (<copy2>)");
  EXPECT_EQ(line("none"), "<copy1> x34 5é (67)");
}

TEST(KnownPlaceholders, AreThoseThatBothSidesOfTheTrainingTextHave) {
  TextPipeline pipeline;
  const Vocabulary source({"<unk>", "<s>", "</s>", "<copy1>", "<copy2>"}, {0, 0, 1, 5, 3});
  const Vocabulary target({"<unk>", "<s>", "</s>", "a", "<copy1>", "<copy2>"}, {0, 0, 1, 9, 5, 0});
  EXPECT_TRUE(known_placeholders(pipeline, source, target).empty());
  pipeline.copies = text::CopyPatterns({"[0-9]+"});
  const auto known = known_placeholders(pipeline, source, target);
  ASSERT_EQ(known.size(), 1u);
  EXPECT_EQ(known[0].source, 3u);
  EXPECT_EQ(known[0].target, 4u);
}

TEST(TextPipeline, RefusesSubwordsThatDoNotFit) {
  TextPipeline pipeline;
  pipeline.source_subwords = text::Subwords::byte_pair_codes("a b\n");
  EXPECT_THAT(message_of([&] { check(pipeline); }), HasSubstr("only for the source"));
  pipeline.target_subwords =
      text::train_subwords({"aa ab", "ba bb"}, {.algorithm = "unigram", .pieces = 270, .exactly = false});
  EXPECT_THAT(message_of([&] { check(pipeline); }), HasSubstr("two models of the same kind"));
  pipeline.source_subwords = pipeline.target_subwords;
  EXPECT_THAT(message_of([&] { check(pipeline); }), HasSubstr("raw text"));
}

TEST(TextPipeline, SplitsAndJoinsEachSideAsMosesDoesForItsLanguage) {
  TextPipeline pipeline;
  pipeline.source_language = "en";
  pipeline.target_language = "fr";
  pipeline.tokenizer = "moses";
  EXPECT_THAT(pipeline.to_words("It's 5.", Side::kSource), ElementsAre("It", "'s", "5", "."));
  EXPECT_THAT(pipeline.to_words("L'eau.", Side::kTarget), ElementsAre("L'", "eau", "."));
  EXPECT_EQ(pipeline.to_text({"L'", "eau", "."}), "L'eau.");
  EXPECT_EQ(pipeline.to_text({"don", "'t", "?"}, Side::kSource), "don't?");
  EXPECT_EQ(pipeline.to_text({"quoi", "?"}, Side::kTarget), "quoi ?");
  pipeline.source_language = "src";
  EXPECT_THAT(message_of([&] { check(pipeline); }), HasSubstr("en, fr and de, not for 'src'"));
}

TEST(TextPipeline, NormalisesBeforeAllElse) {
  TextPipeline pipeline;
  pipeline.normalization = "nfkc";
  pipeline.lowercase = true;
  EXPECT_THAT(pipeline.to_words("\uff21\ufb01 E\u0301", Side::kSource), ElementsAre("afi", "\u00e9"));
  pipeline.normalization = "nfc";
  EXPECT_THAT(pipeline.to_words("\ufb01 E\u0301", Side::kSource), ElementsAre("\ufb01", "\u00e9"));
  pipeline.normalization = "nfd";
  EXPECT_THROW(check(pipeline), Error);
}

}  // namespace
}  // namespace rnnsearch::corpus
