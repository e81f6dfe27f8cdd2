// What align makes of sentences: a file, links, pictures, text, scores.
#pragma once

#include <cstddef>
#include <filesystem>
#include <iostream>
#include <optional>
#include <string>
#include <vector>

#include "rnnsearch/base/file.h"
#include "rnnsearch/decode/shortlist.h"
#include "rnnsearch/decode/translate_lines.h"
#include "rnnsearch/evaluate/alignment.h"

namespace rnnsearch::cli {

/// Where results go, as the options of align say; empty paths: nowhere.
struct AlignOutputs {
  std::filesystem::path model, json, pharaoh, lexical_table, svg;
  bool gold = false;  // links drawn by people are compared
  std::string links = "argmax";
  double threshold = 0.5;
  bool bars = false, heat_map = false;
};

/// Words and weights of one line, as results show them.
struct Sentence {
  std::size_t line = 0;                     // from 1
  std::vector<std::string> source, target;  // </s> at the target's end, and at the source's if the encoder reads it
  std::size_t source_words = 0;             // without </s>
  decode::WordPair ids;                     // without </s>; <unk> for words that the model does not know
  std::vector<float> alpha;                 // [target, source]
  double log_probability = 0;

  const float* row(std::size_t i) const { return alpha.data() + i * source.size(); }
};

/// A file, or standard output: then held until all is done, because it is printed whole or not at all.
class Sink {
 public:
  Sink(const char* option, const std::filesystem::path& path) {
    if (path != "-") file_.emplace(option, path, std::cout);
  }
  void write(const std::string& text) {
    if (file_) {
      file_->write(text);
      file_->check();
    } else {
      held_ += text;
    }
  }
  void publish() {
    if (file_) {
      file_->publish();
    } else {
      std::cout << held_;
    }
  }

 private:
  std::optional<OutputFile> file_;
  std::string held_;
};

/// At the root alone. Files appear when they are published; what goes to standard output is held until then, because it
/// is printed whole or not at all. Pictures appear at once.
class Alignments {
 public:
  /// What they refer to outlives this. Throws Error for a place that cannot be written.
  Alignments(const AlignOutputs& outputs, const decode::Translator& translator);
  /// In the order of the lines. `gold`: nullptr if there are none.
  void add(const Sentence& sentence, const evaluate::GoldLinks* gold);
  /// Throws Error where a file cannot be written.
  void publish();

 private:
  evaluate::Links links_of(const Sentence& sentence) const;
  void draw(const Sentence& sentence) const;

  const AlignOutputs& settings_;
  decode::Translator translator_;
  std::optional<Sink> json_, pharaoh_, lexical_table_, text_;
  decode::LexicalCounts lexical_counts_;
  evaluate::AlignmentStatistics statistics_;
  std::size_t sentences_ = 0;
};

}  // namespace rnnsearch::cli
