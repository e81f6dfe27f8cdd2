#include "rnnsearch/corpus/format.h"

#include <fmt/format.h>

#include <span>
#include <sstream>
#include <utility>
#include <vector>

#include "rnnsearch/base/error.h"
#include "rnnsearch/text/unicode.h"

namespace rnnsearch::corpus {
namespace {

constexpr const char* kSubwords = "subwords";            // attribute of /pipeline
constexpr const char* kNormalization = "normalization";  // attribute of /pipeline
constexpr const char* kLibraries = "libraries";          // attribute of /pipeline
constexpr const char* kCopyPatterns = "copy_patterns";   // attribute of /pipeline
constexpr const char* kSourceModel = "/vocabulary/source_model";
constexpr const char* kTargetModel = "/vocabulary/target_model";

}  // namespace

void write_vocabulary(storage::File& file, const std::string& side, const Vocabulary& vocabulary) {
  file.write_texts("/vocabulary/" + side, vocabulary.words());
  file.write<std::uint64_t>("/vocabulary/" + side + "_count", vocabulary.counts());
}

Vocabulary read_vocabulary(const storage::File& file, const std::string& side) {
  const std::string path = "/vocabulary/" + side;
  try {
    return Vocabulary(file.read_texts(path), file.read<std::uint64_t>(path + "_count"));
  } catch (const Error& error) {
    throw Error("cannot read {} at {}: {}", file.name(), path, error.what());
  }
}

void check_text(const storage::File& file, const std::string& location, std::string_view text) {
  if (text.find('\n') == std::string_view::npos && !text::first_invalid_utf8(text)) return;
  throw Error("cannot read {} at {}: it holds a text that is not a line of UTF-8", file.name(), location);
}

void write_pipeline(storage::File& file, const TextPipeline& pipeline) {
  file.write_attribute("/", "source_language", pipeline.source_language);
  file.write_attribute("/", "target_language", pipeline.target_language);
  file.write_attribute("/pipeline", "tokenizer", pipeline.tokenizer);
  file.write_attribute("/pipeline", "lowercase", pipeline.lowercase ? 1 : 0);
  file.write_attribute("/pipeline", kNormalization, pipeline.normalization);
  const std::string& noted = pipeline.libraries.text;
  file.write_attribute("/pipeline", kLibraries, noted.empty() ? libraries_of(pipeline) : noted);
  if (pipeline.copies)
    file.write_attribute("/pipeline", kCopyPatterns, fmt::to_string(fmt::join(pipeline.copies.patterns(), "\n")));
  if (!pipeline.source_subwords) return;
  file.write_attribute("/pipeline", kSubwords, subwords_of(pipeline));
  for (const auto& [path, subwords] :
       {std::pair{kSourceModel, &pipeline.source_subwords}, {kTargetModel, &pipeline.target_subwords}}) {
    const std::string& bytes = subwords->bytes();
    file.write<std::uint8_t>(path, std::span(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size()));
  }
}

TextPipeline read_pipeline(const storage::File& file) {
  TextPipeline pipeline;
  pipeline.source_language = file.text_attribute("/", "source_language");
  pipeline.target_language = file.text_attribute("/", "target_language");
  pipeline.tokenizer = file.text_attribute("/pipeline", "tokenizer");
  pipeline.lowercase = file.attribute<std::int64_t>("/pipeline", "lowercase") != 0;
  pipeline.normalization = file.text_attribute("/pipeline", kNormalization);
  pipeline.libraries.text = file.text_attribute("/pipeline", kLibraries);
  check_text(file, "/", pipeline.source_language);
  check_text(file, "/", pipeline.target_language);
  try {
    if (file.has_attribute("/pipeline", kSubwords)) {
      const std::string name = file.text_attribute("/pipeline", kSubwords);
      text::Subwords::Kind kind{};
      if (!value::read(name, kind)) throw Error("there are no subwords '{}'; choose sentencepiece or bpe-codes", name);
      const auto model = [&](const char* path) {
        const auto bytes = file.read<std::uint8_t>(path);
        return text::Subwords::of(kind, std::string(bytes.begin(), bytes.end()));
      };
      pipeline.source_subwords = model(kSourceModel);
      pipeline.target_subwords = model(kTargetModel);
      // If both sides use the same model, share it, so that memory holds one model and one word cache for each thread.
      if (pipeline.source_subwords == pipeline.target_subwords) pipeline.target_subwords = pipeline.source_subwords;
    }
    if (file.has_attribute("/pipeline", kCopyPatterns)) {
      std::istringstream lines(file.text_attribute("/pipeline", kCopyPatterns));
      std::vector<std::string> patterns;
      for (std::string pattern; std::getline(lines, pattern);) patterns.push_back(pattern);
      pipeline.copies = text::CopyPatterns(std::move(patterns));
    }
    check(pipeline);
  } catch (const Error& error) {
    throw Error("cannot read {} at /pipeline: {}", file.name(), error.what());
  }
  return pipeline;
}

void write_selection(storage::File& file, const Selection& selection) {
  const CleaningOptions& cleaning = selection.cleaning;
  const auto write = [&](const std::string& name, const auto& value) {
    file.write_attribute("/selection", name, value);
  };
  write("max_length", std::uint64_t{cleaning.max_length});
  write("max_ratio", cleaning.max_ratio);
  if (cleaning.keep_empty_targets) write("keep_empty_targets", 1);
  write("drop_copies", cleaning.drop_copies ? 1 : 0);
  write("drop_repeated", cleaning.drop_repeated ? 1 : 0);
  if (cleaning.drop_unlikely > 0) write("drop_unlikely", cleaning.drop_unlikely);
  write("source_script", std::string_view(cleaning.source_script));
  write("target_script", std::string_view(cleaning.target_script));
  write("script_share", cleaning.script_share);
  write("pairs_read", selection.pairs_read);
  for (std::size_t i = 0; i < kDropReasons.size(); ++i)
    if (i != static_cast<std::size_t>(Drop::kUnlikely) || cleaning.drop_unlikely > 0)
      write(fmt::format("dropped_{}", kDropReasons[i].name), selection.dropped.counts[i]);
}

Selection read_selection(const storage::File& file) {
  Selection selection;
  CleaningOptions& cleaning = selection.cleaning;
  const std::string at = "/selection";
  cleaning.max_length = file.attribute<std::uint64_t>(at, "max_length");
  cleaning.max_ratio = file.attribute<double>(at, "max_ratio");
  cleaning.keep_empty_targets = file.has_attribute(at, "keep_empty_targets");
  cleaning.drop_copies = file.attribute<std::int64_t>(at, "drop_copies") != 0;
  cleaning.drop_repeated = file.attribute<std::int64_t>(at, "drop_repeated") != 0;
  if (file.has_attribute(at, "drop_unlikely")) cleaning.drop_unlikely = file.attribute<double>(at, "drop_unlikely");
  cleaning.source_script = file.text_attribute(at, "source_script");
  cleaning.target_script = file.text_attribute(at, "target_script");
  cleaning.script_share = file.attribute<double>(at, "script_share");
  selection.pairs_read = file.attribute<std::uint64_t>(at, "pairs_read");
  for (std::size_t i = 0; i < kDropReasons.size(); ++i)
    if (i != static_cast<std::size_t>(Drop::kUnlikely) || cleaning.drop_unlikely > 0)
      selection.dropped.counts[i] = file.attribute<std::uint64_t>(at, fmt::format("dropped_{}", kDropReasons[i].name));
  return selection;
}

std::string reference_name(std::size_t k) { return k == 0 ? "reference_text" : "reference_text_" + std::to_string(k); }

}  // namespace rnnsearch::corpus
