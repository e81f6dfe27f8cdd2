#include "corpus/prepare/text_pass.h"

#include <algorithm>
#include <optional>
#include <utility>

#include "rnnsearch/base/error.h"
#include "rnnsearch/base/file.h"
#include "rnnsearch/base/portable.h"
#include "rnnsearch/base/stopwatch.h"

namespace rnnsearch::corpus {
namespace {

namespace fs = std::filesystem;

text::Subwords read_model(const fs::path& path, text::Subwords::Kind kind) {
  const std::string bytes = kind == text::Subwords::Kind::kSentencePiece ? read_file(path) : read_text_file(path);
  try {
    return text::Subwords::of(kind, bytes);
  } catch (const Error& error) {
    throw Error("corpus: cannot use {}{}{}", path,
                kind == text::Subwords::Kind::kSentencePiece ? " as a model of SentencePiece: "
                                                             : " as codes of byte pair encoding: ",
                error.what());
  }
}

struct Sample {
  std::vector<std::string> source, target;
};

/// Draws a uniform sample of pairs in one pass: every position in the text has a pseudo-random number, and the pairs
/// with the smallest numbers are taken. The sample is reproducible and in the order of the text. Lines that are too
/// long for SentencePiece are left out.
Sample sample_of(const PrepareOptions& options, const std::function<void(const PrepareProgress&)>& progress) {
  struct Pair {
    std::uint32_t number;
    std::uint64_t index;
    std::string source, target;
    bool operator<(const Pair& other) const {
      return number != other.number ? number < other.number : index < other.index;
    }
  };
  std::vector<Pair> chosen;  // a heap with the largest number first
  PairReader reader(options.train, options.line_limit);
  std::uint64_t index = 0;
  for (TextBlock block; reader.next(block);) {
    for (std::size_t i = 0; i < block.size(); ++i, ++index) {
      const auto random = philox(
          {static_cast<std::uint32_t>(index), static_cast<std::uint32_t>(index >> 32), 0, 0},
          {static_cast<std::uint32_t>(options.subwords.seed), static_cast<std::uint32_t>(options.subwords.seed >> 32)});
      const bool full = chosen.size() == options.subwords.sample_pairs;
      if (full && random[0] >= chosen.front().number) continue;
      const std::string_view source = block.source[i], target = block.target[i];
      if (std::max(source.size(), target.size()) > text::kTrainingLineBytes) continue;
      check_text(block.source.path.native(), block.first_line + i, source);
      check_text(block.target.path.native(), block.first_line + i, target, block.columns ? source.size() + 1 : 0);
      if (full) {
        std::pop_heap(chosen.begin(), chosen.end());
        chosen.pop_back();
      }
      const auto spelled = [&](std::string_view line) {
        std::string buffer;
        return std::string(options.pipeline.normalized_line(line, buffer));
      };
      std::string with_copies[]{std::string(source), std::string(target)};
      if (options.pipeline.copies) options.pipeline.replace_copies(with_copies[0], with_copies[1]);
      chosen.push_back({random[0], index, spelled(with_copies[0]), spelled(with_copies[1])});
      std::push_heap(chosen.begin(), chosen.end());
    }
    if (progress) progress({-1, block.bytes_read, reader.size(), index});
  }
  std::sort(chosen.begin(), chosen.end(), [](const Pair& a, const Pair& b) { return a.index < b.index; });
  Sample sample;
  for (Pair& pair : chosen) {
    sample.source.push_back(std::move(pair.source));
    sample.target.push_back(std::move(pair.target));
  }
  return sample;
}

/// Learns a subword model from `lines`. side: its name for messages, such as "the source".
text::Subwords learn(const PrepareOptions& options, std::vector<std::string> lines, std::optional<std::size_t> wanted,
                     const char* option, const char* side,
                     const std::function<void(const PrepareProgress&)>& progress) {
  if (lines.empty()) {
    throw Error(
        "corpus: there is no pair to learn subwords from, whose lines have at most the {} bytes that SentencePiece "
        "takes; the text must have one sentence a line, so split longer lines, or give a model (--subword-model) or "
        "codes (--bpe-codes)",
        text::kTrainingLineBytes);
  }
  text::SubwordTraining training;
  training.algorithm = options.subwords.learned;
  training.pieces = wanted.value_or(PrepareOptions::kDefaultWords);
  training.exactly = wanted.has_value();
  training.size_option = fmt::format("--{}", option);
  training.normalization = options.subwords.normalization;
  for (std::size_t k = 0; options.pipeline.copies && k < text::kMostPlaceholders; ++k)
    training.symbols.push_back(text::placeholder(k));
  const auto say = [&](const std::string& event) {
    if (progress) progress({.pass = -1, .event = event});
  };
  say(fmt::format("learning the subwords of {} from {} lines (SentencePiece, {})", side, lines.size(),
                  training.algorithm));
  const Stopwatch watch;
  try {
    text::Subwords subwords = text::train_subwords(lines, training);
    say(fmt::format("learned {} subwords of {} in {} s", vocabulary_of(subwords).size(), side,
                    static_cast<std::uint64_t>(watch.seconds() + 0.5)));
    return subwords;
  } catch (const Error& error) {
    throw Error("corpus: {}", error.what());
  }
}

}  // namespace

void check_subwords(const PrepareOptions& options) {
  const PrepareOptions::SubwordOptions& subwords = options.subwords;
  const bool learned = subwords.learned != "none";
  const bool models = !subwords.source_model.empty() || !subwords.target_model.empty();
  const bool codes = !subwords.source_codes.empty() || !subwords.target_codes.empty();
  if (learned && subwords.learned != "unigram" && subwords.learned != "bpe")
    throw Error("corpus: subwords is '{}'; choose none, unigram or bpe", subwords.learned);
  if (learned + models + codes > 1)
    throw Error("corpus: subwords, subword-model and bpe-codes exclude each other; give one of them");
  if (!options.vocabulary_of.empty() && (learned || models || codes))
    throw Error(
        "corpus: subwords cannot be combined with vocabulary-of, whose corpus determines the subwords; leave one of "
        "them out");
  for (const auto& [source, target, name] : {std::tuple{subwords.source_model, subwords.target_model, "subword-model"},
                                             {subwords.source_codes, subwords.target_codes, "bpe-codes"}}) {
    if (source.empty() != target.empty())
      throw Error("corpus: there is a {} only for the {}; give one for each side, or one for both", name,
                  source.empty() ? "target" : "source");
  }
  if ((learned || models) && options.pipeline.tokenizer != "none")
    throw Error(
        "corpus: SentencePiece splits raw text, so the tokenizer {} cannot come before it; leave the tokenizer out",
        options.pipeline.tokenizer);
  if (models && (options.source_words || options.target_words))
    throw Error(
        "corpus: {} cannot be combined with subword-model, which determines the number of pieces; leave one of them "
        "out",
        options.source_words ? "source-words" : "target-words");
  if (learned && subwords.sample_pairs == 0) throw Error("corpus: subword-pairs is 0, but must be at least 1");
}

TextPipeline with_subwords(const PrepareOptions& options, const std::function<void(const PrepareProgress&)>& progress) {
  using Kind = text::Subwords::Kind;
  const PrepareOptions::SubwordOptions& subwords = options.subwords;
  TextPipeline pipeline = options.pipeline;
  const auto read = [&](const fs::path& source, const fs::path& target, Kind kind) {
    pipeline.source_subwords = read_model(source, kind);
    pipeline.target_subwords = source == target ? pipeline.source_subwords : read_model(target, kind);
  };
  if (!subwords.source_model.empty()) read(subwords.source_model, subwords.target_model, Kind::kSentencePiece);
  if (!subwords.source_codes.empty()) read(subwords.source_codes, subwords.target_codes, Kind::kBytePairCodes);
  if (subwords.learned != "none") {
    Sample sample = sample_of(options, progress);
    if (options.joint_vocabulary) {
      std::move(sample.target.begin(), sample.target.end(), std::back_inserter(sample.source));
      pipeline.source_subwords = pipeline.target_subwords =
          learn(options, std::move(sample.source), options.source_words ? options.source_words : options.target_words,
                options.source_words ? "source-words" : "target-words", "both sides", progress);
    } else {
      pipeline.source_subwords =
          learn(options, std::move(sample.source), options.source_words, "source-words", "the source", progress);
      pipeline.target_subwords =
          learn(options, std::move(sample.target), options.target_words, "target-words", "the target", progress);
    }
  }
  if (options.joint_vocabulary && subwords_of(pipeline) == "sentencepiece" &&
      pipeline.source_subwords != pipeline.target_subwords)
    throw Error(
        "corpus: {} and {} are two models, but a joint vocabulary holds the pieces of one model; give one for both "
        "sides",
        subwords.source_model, subwords.target_model);
  for (const text::Subwords* model : {&pipeline.source_subwords, &pipeline.target_subwords}) {
    if (!pipeline.copies || subwords_of(pipeline) != "sentencepiece") break;
    const auto pieces = model->pieces();
    if (std::find(pieces.begin(), pieces.end(), text::placeholder(0)) == pieces.end())
      throw Error(
          "corpus: the SentencePiece model of the {} has no placeholders for --copy-pattern; train it with the "
          "user-defined symbols <copy1>, <copy2>, and so on to {}, or let --subwords learn one",
          model == &pipeline.source_subwords ? "source" : "target", text::placeholder(text::kMostPlaceholders - 1));
  }
  try {
    check(pipeline);
  } catch (const Error& error) {
    throw UsageError("corpus: {}", error.what());
  }
  return pipeline;
}

Vocabulary vocabulary_of(const text::Subwords& subwords) {
  std::vector<std::string> words(kSpecialSymbols.begin(), kSpecialSymbols.end());
  for (std::string& piece : subwords.pieces()) words.push_back(std::move(piece));
  return Vocabulary(std::move(words));
}

}  // namespace rnnsearch::corpus
