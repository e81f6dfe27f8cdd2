// What the commands do to one line of text, run on lines of awkward kinds and of two lengths, for long_lines_test.sh to
// count the instructions of: under callgrind each of its profiles has the name "WORK LINE BYTES".
#include <valgrind/callgrind.h>

#include <cstdio>
#include <fstream>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "corpus/byte_source.h"
#include "rnnsearch/base/error.h"
#include "rnnsearch/base/json.h"
#include "rnnsearch/base/line_source.h"
#include "rnnsearch/corpus/cleaning.h"
#include "rnnsearch/corpus/text_pipeline.h"
#include "rnnsearch/evaluate/metrics.h"
#include "rnnsearch/report/input_files.h"
#include "rnnsearch/text/tokenizer.h"
#include "rnnsearch/text/unicode.h"
#include "tests/support/scratch.h"

namespace rnnsearch {
namespace {

using corpus::Side;
using corpus::TextPipeline;

/// What a line repeats.
const std::vector<std::pair<const char*, const char*>> kLines{
    {"letters", "abcdefgh"},
    {"one-letter", "a"},
    {"capitals", "ÄÉΣ"},
    {"words", "the cat's l'eau don't "},
    {"spaces", " \u00a0\t\u3000"},
    {"apostrophes", "'"},
    {"letters-apostrophes", "a'b\u2019"},
    {"full-stops", "."},
    {"abbreviations", "e.g. No. 3. Art. "},
    {"commas-digits", "1,2"},
    {"hyphens", "-"},
    {"digits-hyphens", "1-"},
    {"quotes", "\"„“`"},
    {"entities", "&amp;&quot;&lt;"},
    {"skipped", "<skipped>"},
    {"genitives", "'s "},
    {"markup", "<a b=\"c\">&#65;</a><!-- -->"},
    {"marks-in-two-classes", "\u0301\u0316"},
    {"marks-that-decompose", "\u0f73\u0344"},
    {"marks-of-compatibility", "\uff9e\u0316"},
    {"sigmas-marks", "Σ\u0301\u0316'"},
    {"jamo", "\u1112\u1161\u11ab"},
    {"vowel-signs", "\u09c7\u09be\u09be"},
    {"ligatures", "\ufdfa\ufb01"},
    {"emoji", "\U0001f469\u200d\U0001f467\U0001f3fb"},
    {"joiners", "\u200d"},
    {"numbers", "12 345 6 http://a.b "},
    {"unknown", "l'\u2047 \u2047-1 "},
    {"Chinese", "\u4e2d\u6587\u6ca1\u6709"},
    {"Chinese-marks", "\u4e2d\u302a\u302e\u0301\u0316"},
    {"kana", "\u30ab\u30bf\u30fc\u3072"},
    {"half-width-kana", "\uff76\uff9e"},
    {"tokeniser-marks", "\uffed\uffee"},
    {"piece-spaces", "\u2581a"},
};

std::string line_of(std::string_view unit, std::size_t bytes) {
  std::string line = "a";  // marks stand behind a letter
  while (line.size() < bytes) line += unit;
  return line;
}

struct Work {
  std::string name;
  std::function<void(const std::string& line)> run;
  std::size_t longer = 1;  // lines for what only moves bytes, which few instructions do
};

/// To words and back.
Work to_words(std::string name, TextPipeline pipeline) {
  return {std::move(name), [pipeline = std::move(pipeline)](const std::string& line) {
            pipeline.to_text(pipeline.to_words(line, Side::kTarget));
          }};
}

TextPipeline pipeline_of(const char* tokenizer, const char* language = "en") {
  TextPipeline pipeline;
  pipeline.tokenizer = tokenizer;
  pipeline.source_language = pipeline.target_language = language;
  return pipeline;
}

TextPipeline with_subwords(text::Subwords subwords) {
  TextPipeline pipeline = pipeline_of("none");
  pipeline.source_subwords = pipeline.target_subwords = std::move(subwords);
  return pipeline;
}

text::Subwords learned(const char* algorithm) {
  std::vector<std::string> lines;
  for (const auto& [name, unit] : kLines) lines.push_back(line_of(unit, 60) + " the cat sat on the mat");
  return text::train_subwords(lines, {.algorithm = algorithm, .pieces = 400, .exactly = false});
}

std::vector<Work> all_work(const Scratch& scratch) {
  std::vector<Work> works;
  for (const char* tokenizer : {"words", "icu-words", "none"})
    works.push_back(to_words(tokenizer, pipeline_of(tokenizer)));
  for (const char* language : {"en", "fr", "de"})
    works.push_back(to_words(fmt::format("moses-{}", language), pipeline_of("moses", language)));
  for (const char* normalization : {"nfc", "nfkc"}) {
    TextPipeline pipeline = pipeline_of("none");
    pipeline.normalization = normalization;
    works.push_back(to_words(normalization, pipeline));
  }
  TextPipeline lowercase = pipeline_of("none");
  lowercase.lowercase = true;
  works.push_back(to_words("lowercase", lowercase));
  works.push_back(
      to_words("codes", with_subwords(text::Subwords::byte_pair_codes("#version: 0.2\na a\nb c\naa aa\n' s"))));
  for (const char* algorithm : {"unigram", "bpe"})
    works.push_back(to_words(algorithm, with_subwords(learned(algorithm))));

  const auto copies_of = [](TextPipeline pipeline) {
    pipeline.copies = text::CopyPatterns({"[0-9]+", "https?://[^ ]+"});
    return [pipeline](const std::string& line) {
      std::vector<std::string> spans;
      pipeline.to_words(pipeline.source_line(line, text::kMostPlaceholders, spans), Side::kSource);
      pipeline.to_words(pipeline.target_line(line, spans), Side::kTarget);
      std::string source = line, target(line.rbegin(), line.rend());
      for (char& c : target) c = static_cast<unsigned char>(c) < 0x80 ? c : 'x';
      pipeline.replace_copies(source, target);
    };
  };
  for (const char* tokenizer : {"words", "icu-words", "none", "moses"})
    works.push_back({fmt::format("copies-{}", tokenizer), copies_of(pipeline_of(tokenizer))});
  const auto once = [&works](const char* name, auto run) { works.push_back({name, run}); };
  once("cleaning", [](const std::string& line) {
    corpus::CleaningOptions options;
    options.max_length = 1u << 30;
    options.drop_copies = true;
    options.source_script = options.target_script = "Latin";
    text::WordList words;
    pipeline_of("none").to_words(line, Side::kSource, words);
    corpus::PairCleaner(options).reason(line, words, line, words);
  });
  const auto written = [&scratch](const std::string& content) {
    const auto path = scratch / "text";
    std::ofstream(path) << content;
    return path;
  };
  once("reading", [written](const std::string& line) {
    LineSource(corpus::ByteSource::open(written(line)), "text", {}).next(static_cast<std::size_t>(-1));
  });
  once("alignment-file", [written](const std::string& line) {
    Json sentence = Json::object({{"line", 1},
                                  {"source", Json::array({Json(line)})},
                                  {"target", Json::array({Json(line)})},
                                  {"alignment", Json::array({Json::array({Json(1.0)})})},
                                  {"log_probability", -1.0}});
    Json file =
        Json::object({{"format", "rnnsearch-alignment"}, {"format_version", 1}, {"created_by", "x"}, {"model", "x"}});
    file["sentences"] = Json::array({sentence});
    report::read_alignment(written(json_text(file)));
  });
  using text::BleuTokenizer;
  for (const auto tokenizer : {BleuTokenizer::k13a, BleuTokenizer::kIntl, BleuTokenizer::kChar, BleuTokenizer::kZh}) {
    works.push_back({fmt::format("bleu-{}", name_of(tokenizer)),
                     [tokenizer](const std::string& line) { text::tokenize_for_bleu(line, tokenizer); }});
  }
  once("bleu", [](const std::string& line) {
    const std::string_view reference = line;
    evaluate::sentence_statistics(line, std::span(&reference, 1), evaluate::BleuOptions{});
  });
  once("chrf", [](const std::string& line) {
    const std::string_view reference = line;
    evaluate::sentence_statistics(line, std::span(&reference, 1), evaluate::ChrfOptions{});
  });
  // Without words in the reference: the search for shifts of words ends after a thousand tries, far beyond these lines.
  works.push_back({"ter",
                   [](const std::string& line) {
                     const std::string_view reference;
                     evaluate::sentence_statistics(line, std::span(&reference, 1),
                                                   evaluate::TerOptions{.normalized = true, .asian_support = true});
                   },
                   8});
  return works;
}

/// With `some` only the lines of these kinds.
int run(std::size_t shorter, std::size_t longer, const std::string& some) {
  const Scratch scratch;
  const std::vector<Work> works = all_work(scratch);
  CALLGRIND_START_INSTRUMENTATION;
  for (const Work& work : works) {
    for (const auto& [name, unit] : kLines) {
      if (some.find(name) == some.npos && !some.empty()) continue;
      work.run(line_of(unit, 64));  // what is made once
      for (const std::size_t bytes : {shorter * work.longer, longer * work.longer}) {
        const std::string line = line_of(unit, bytes), profile = fmt::format("{} {} {}", work.name, name, bytes);
        CALLGRIND_ZERO_STATS;
        work.run(line);
        CALLGRIND_DUMP_STATS_AT(profile.c_str());
      }
    }
  }
  return 0;
}

}  // namespace
}  // namespace rnnsearch

int main(int argc, char** argv) {
  return argc < 3 ? 2 : rnnsearch::run(std::stoul(argv[1]), std::stoul(argv[2]), argc > 3 ? argv[3] : "");
}
