// The parts of the page that show single sentences: their soft alignments, and how systems translated them.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "report/page_context.h"
#include "rnnsearch/report/page.h"

namespace rnnsearch::report {

void add_alignments(PageContext& page, const Report& report);
void add_sentences(PageContext& page, const Report& report);

/// Some of an evaluation's sentences, and why just these.
struct Choice {
  std::string title;
  std::vector<std::size_t> sentences;  // indices
};
/// For each system the sentences where its BLEU is furthest above the best of the others', then its best and its worst:
/// of each the `count` first, ties by line. Sentences whose first reference has fewer than 5 words are left out.
std::vector<Choice> chosen_sentences(const EvaluationFile& file, std::size_t count);

/// A text cut into words and what is between them, and which words the references have not (each as often as there).
struct TextPiece {
  std::string text;
  bool missing = false;
};
std::vector<TextPiece> compared(const std::string& hypothesis, const std::vector<std::string>& references);

}  // namespace rnnsearch::report
