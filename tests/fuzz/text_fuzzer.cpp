// Text files, as prepare reads them: plain or compressed, lines, pairs of lines, tab-separated values; and what the
// tokenisers make of a line that was accepted. The first byte says how the rest is read.
#include "corpus/prepare/text_pass.h"
#include "rnnsearch/corpus/text_pipeline.h"
#include "rnnsearch/text/unicode.h"
#include "tests/fuzz/fuzz.h"

namespace rnnsearch::fuzz {
namespace {

constexpr std::uint64_t kLines = 1 << 16;  // more of them are left: a few bytes can unpack to gigabytes

void read_lines(const std::filesystem::path& path, std::uint8_t how) {
  std::uint64_t lines = 0;
  accepted([&] {
    LineSource reader(corpus::ByteSource::open(path), path.string(), {});
    corpus::TextPipeline pipeline;
    pipeline.tokenizer = how & 8 ? "icu-words" : how & 4 ? "none" : "words";
    pipeline.lowercase = (how & 16) != 0;
    const bool moses = (how & 32) != 0, normalized = (how & 64) != 0;
    if (moses) {
      pipeline.tokenizer = "moses";
      pipeline.source_language = how & 8 ? "de" : how & 4 ? "fr" : "en";
      pipeline.target_language = pipeline.source_language;
    }
    if (normalized) pipeline.normalization = "nfkc";
    text::WordList words;
    for (Line read; lines < kLines && reader.next(read); ++lines) {
      if (!read.problem.empty()) reader.refuse(read);
      const std::string& line = read.text;
      require(line.find_first_of(std::string_view("\n\0", 2)) == line.npos, "a line with a line end or NUL in it");
      require(!text::first_invalid_utf8(line), "a line that is no UTF-8");
      if (lines >= 50 || line.size() > 1000) continue;
      words.clear();
      pipeline.to_words(line, corpus::Side::kSource, words);
      for (std::size_t i = 0; i < words.size(); ++i) {
        require(!words[i].empty(), "an empty word");
        require(!text::first_invalid_utf8(words[i]), "a word that is no UTF-8");
        require(text::split_views(words[i]).size() == 1, "a word with white space in it");
      }
      const std::string again = pipeline.to_text(words.strings());
      if (pipeline.lowercase || moses || normalized) continue;
      require(text::split_words(again) == text::split_words(line), "words do not give back their line");
    }
    require(lines == reader.lines(), "lines are miscounted");
  });
}

void read_pairs(const corpus::TextFiles& files) {
  accepted([&] {
    corpus::PairReader reader({files, files}, {});
    corpus::TextBlock block;
    for (std::uint64_t pairs = 0; pairs < kLines && reader.next(block); pairs += block.size()) {
      require(block.size() > 0, "a block without pairs");
      require(block.target.ends.size() == block.size(), "sides of different sizes");
      for (std::size_t i = 0; i < block.size(); ++i) {
        require(!block.columns || (block.source[i].find('\t') == std::string_view::npos &&
                                   block.target[i].find('\t') == std::string_view::npos),
                "a tab in a column");
      }
      require(block.bytes_read <= reader.size(), "more was read than there is");
    }
  });
}

}  // namespace
}  // namespace rnnsearch::fuzz

void rnnsearch::fuzz::run(Input input) {
  const std::uint8_t how = input.byte();
  if ((how & 3) == 3) {  // two files, cut where a line says so
    const std::string_view rest = input.rest();
    const std::size_t cut = rest.find("\n====\n");
    const auto source = written("source", rest.substr(0, cut));
    read_pairs({source, written("target", cut == rest.npos ? rest : rest.substr(cut + 6))});
    return;
  }
  const auto path = written("text", input.rest());
  if ((how & 3) == 2) {
    read_pairs({path, {}});
  } else {
    read_lines(path, how);
  }
}
