// A section of the page that an experiment writes itself: paragraphs, tables, and texts to be read side by side. JSON:
//
//   {"format": "rnnsearch-section", "format_version": 1, "title": "Table 2",
//    "text": ["a paragraph", ...],
//    "tables": [{"caption": "...", "columns": [{"title": "...", "number": true}, ...],
//                "rows": [["heading", "cell", ...], ...], "notes": ["...", ...]}, ...],
//    "sentences": [{"title": "Sentence 7", "texts": [{"name": "Source", "language": "en", "text": "...", "rest":
//    "..."},
//                                                    ...]}, ...]}
//
// `text`, `tables`, `notes` and `sentences` may be missing; so may `number` (true) and, of a text, `language` and
// `rest`: the end of the text, which the page marks.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

namespace rnnsearch::report {

struct SectionTable {
  struct Column {
    std::string title;
    bool number = true;  // aligned to the right
  };
  std::string caption;
  std::vector<Column> columns;
  std::vector<std::vector<std::string>> rows;  // as many cells as columns; the first is the row's heading
  std::vector<std::string> notes;
};

struct SectionText {
  std::string name, language, text;
  std::string rest;  // what the page marks; empty: nothing
};

struct SectionSentence {
  std::string title;
  std::vector<SectionText> texts;
};

struct SectionFile {
  std::filesystem::path path;
  std::string title;
  std::vector<std::string> text;
  std::vector<SectionTable> tables;
  std::vector<SectionSentence> sentences;
};

/// Throws Error, naming the file and the place in it, for what is not JSON, another format or a newer version, rows of
/// another number of cells than the table has columns, and a section that holds nothing.
SectionFile read_section(const std::filesystem::path& path);

}  // namespace rnnsearch::report
