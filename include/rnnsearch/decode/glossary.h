// A glossary: terms of the source language, and what must stand for them in translations.
#pragma once

#include <cstddef>
#include <map>
#include <string>
#include <vector>

#include "rnnsearch/corpus/text_pipeline.h"

namespace rnnsearch::decode {

/// Terms are compared with whole words, as the text pipeline of the model reads them, however it splits them. Immutable
/// and thread-safe.
class Glossary {
 public:
  /// Each line has a source term, a tab and a target term, in plain text; lines without words are ignored. Throws Error
  /// that names `name` and the line if there is a line of another form, or a source term has two translations.
  /// `pipeline` outlives this.
  Glossary(const std::vector<std::string>& lines, const std::string& name, const corpus::TextPipeline& pipeline);

  /// The target terms, in plain text, for the source terms in a source sentence, which the pipeline has split into
  /// `words`: from left to right the longest term that begins at a word, each term once.
  std::vector<std::string> terms(const std::vector<std::string>& words) const;

 private:
  const corpus::TextPipeline& pipeline_;
  std::map<std::vector<std::string>, std::string> terms_;  // by the words of the source term
  std::map<std::string, std::size_t> longest_from_;        // words of the longest term that begins with a word
};

}  // namespace rnnsearch::decode
