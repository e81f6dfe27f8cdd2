#include "rnnsearch/corpus/format.h"

#include "rnnsearch/base/error.h"

namespace rnnsearch::corpus {

void write_vocabulary(storage::File& file, const std::string& side, const Vocabulary& vocabulary) {
  file.write_texts("/vocabulary/" + side, vocabulary.words());
  file.write<std::uint64_t>("/vocabulary/" + side + "_count", vocabulary.counts());
}

Vocabulary read_vocabulary(const storage::File& file, const std::string& side) {
  const std::string path = "/vocabulary/" + side;
  try {
    return Vocabulary(file.read_texts(path), file.read<std::uint64_t>(path + "_count"));
  } catch (const Error& error) {
    throw Error(text_of("cannot read ", file.name(), " at ", path, ": ", error.what()));
  }
}

void write_pipeline(storage::File& file, const TextPipeline& pipeline) {
  file.write_attribute("/", "source_language", pipeline.source_language);
  file.write_attribute("/", "target_language", pipeline.target_language);
  file.write_attribute("/pipeline", "tokenizer", pipeline.tokenizer);
  file.write_attribute("/pipeline", "lowercase", pipeline.lowercase ? 1 : 0);
}

TextPipeline read_pipeline(const storage::File& file) {
  TextPipeline pipeline;
  pipeline.source_language = file.text_attribute("/", "source_language");
  pipeline.target_language = file.text_attribute("/", "target_language");
  pipeline.tokenizer = file.text_attribute("/pipeline", "tokenizer");
  pipeline.lowercase = file.integer_attribute("/pipeline", "lowercase") != 0;
  try {
    check(pipeline);
  } catch (const Error& error) {
    throw Error(text_of("cannot read ", file.name(), " at /pipeline: ", error.what()));
  }
  return pipeline;
}

std::string shard_path(std::uint64_t shard) {
  std::string digits = std::to_string(shard);
  if (digits.size() < 5) digits.insert(0, 5 - digits.size(), '0');
  return "/train/" + digits;
}

std::string reference_name(std::size_t k) {
  return k == 0 ? "reference_text" : "reference_text_" + std::to_string(k);
}

}  // namespace rnnsearch::corpus
