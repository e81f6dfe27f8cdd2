// The parts of the page that show single sentences, and the sections that an experiment wrote.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "report/page_context.h"
#include "rnnsearch/report/page.h"

namespace rnnsearch::report {

/// The sections of --section. Those with sentences stand beside the other sentences of the page; all others (results)
/// at its start.
void add_result_sections(PageContext& page, const Report& report);
void add_sentence_sections(PageContext& page, const Report& report);

void add_alignments(PageContext& page, const Report& report);
void add_sentences(PageContext& page, const Report& report);

/// A selection of an evaluation's sentences, with a title that states the criterion.
struct Choice {
  std::string title;
  std::vector<std::size_t> sentences;  // indices
};
/// For each system: the sentences where its BLEU exceeds the best of the other systems most, then its best and its
/// worst sentences; `count` of each, with ties sorted by line. Sentences whose first reference has fewer than 5 words
/// are left out.
std::vector<Choice> chosen_sentences(const EvaluationFile& file, std::size_t count);

/// A piece of a text: words, or the text between them. missing: the words are not in the references (or less often).
struct TextPiece {
  std::string text;
  bool missing = false;
};
std::vector<TextPiece> compared(const std::string& hypothesis, const std::vector<std::string>& references);

}  // namespace rnnsearch::report
