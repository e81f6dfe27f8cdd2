// The page under construction, and its parts. Each part adds a section if it has data.
#pragma once

#include <cstddef>
#include <map>
#include <pugixml.hpp>
#include <string>
#include <utility>
#include <vector>

#include "rnnsearch/report/line_chart.h"
#include "rnnsearch/report/page.h"
#include "rnnsearch/report/table.h"

namespace rnnsearch::report {

struct PageContext {
  pugi::xml_node main;
  std::map<std::string, std::size_t> styles{};
  std::vector<std::pair<std::string, std::string>> contents{};  // id and title of each section

  /// Assigns a style (colour, dashes and marker) to each name, in the order of first use.
  std::size_t style_of(const std::string& name) { return styles.try_emplace(name, styles.size()).first->second; }
  /// Adds a section with a heading, and lists it in the contents.
  pugi::xml_node section(const std::string& id, const std::string& title);
  /// Adds a chart with legend, read-out and caption. where: the element that contains the figures.
  void chart(pugi::xml_node where, const std::string& id, const LineChart& chart, const std::string& note = {});
  /// Adds a text to texts side by side, and returns its empty paragraph. system: its title has the key of its lines.
  pugi::xml_node side(pugi::xml_node sides, const std::string& title, const std::string& language, bool system = false,
                      const std::string& score = {});
  /// Adds a table beside the chart of its points, with a place for each row, whose second cell is the note of the place
  /// if the notes have a name, and a line for each column. id: the end of both ids.
  void pair(pugi::xml_node where, const std::string& id, LineChart chart, const std::string& note, Table table);
};

// Trainings: their curves, and how each run was made.

void add_training(PageContext& page, const Report& report);
void add_record(PageContext& page, const Report& report);

// Scores, of one training of each system and of several with different seeds.

void add_lengths(PageContext& page, const Report& report);
void add_scores(PageContext& page, const Report& report);
void add_words(PageContext& page, const Report& report);
void add_rounds(PageContext& page, const Report& report);

/// The prefix of a caption, such as "test/news: ", if there are several evaluations; otherwise empty.
std::string prefix_of(const Report& report, const EvaluationFile& file);
/// The names of the systems, in the order of their first appearance in the rounds.
std::vector<std::string> systems_of(const std::vector<EvaluationFile>& rounds);
/// Tables with captions: first the means of each system over its rounds with intervals, then, for each metric, a row
/// for each round. Empty without rounds.
std::vector<Table> round_tables(const std::vector<EvaluationFile>& rounds);

// Single sentences, and the sections that an experiment wrote.

/// The sections of --section that have sentences, which stand beside the other sentences of the page, or the others
/// (results), which stand at its start.
void add_sections(PageContext& page, const Report& report, bool with_sentences);
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
