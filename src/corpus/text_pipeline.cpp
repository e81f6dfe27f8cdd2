#include "rnnsearch/corpus/text_pipeline.h"

#include "rnnsearch/base/error.h"
#include "rnnsearch/text/tokenizer.h"
#include "rnnsearch/text/unicode.h"

namespace rnnsearch::corpus {

void check(const TextPipeline& pipeline) {
  if (pipeline.tokenizer != "words" && pipeline.tokenizer != "none")
    throw Error(text_of("there is no tokenizer '", pipeline.tokenizer, "'; choose words or none"));
}

std::vector<std::string> TextPipeline::to_words(std::string_view line) const {
  check(*this);
  const std::string lowered = lowercase ? text::lowercase(line) : std::string();
  const std::string_view cased = lowercase ? lowered : line;
  return tokenizer == "words" ? text::tokenize_words(cased) : text::split_words(cased);
}

std::string TextPipeline::to_text(const std::vector<std::string>& words) const {
  check(*this);
  if (tokenizer == "words") return text::join_words(words);
  std::string line;
  for (const std::string& word : words) line += (line.empty() ? "" : " ") + word;
  return line;
}

}  // namespace rnnsearch::corpus
