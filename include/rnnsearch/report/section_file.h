// A section of the page that an experiment writes itself: paragraphs, tables, and texts to compare side by side. The
// format of the file is in src/cli/commands/report.md.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "rnnsearch/report/table.h"

namespace rnnsearch::report {

struct SectionText {
  std::string name, language, text;
  std::string rest;  // the end of the text, which the page marks; may be empty
};

struct SectionSentence {
  std::string title;
  std::vector<SectionText> texts;
};

struct SectionFile {
  std::filesystem::path path;
  std::string title;
  std::vector<std::string> text;
  std::vector<Table> tables;  // as many cells in a row as columns
  std::vector<SectionSentence> sentences;
};

/// Throws Error, naming the file and the location in it, for invalid JSON, another format, a newer version, rows whose
/// number of cells is not the number of columns, and an empty section.
SectionFile read_section(const std::filesystem::path& path);

}  // namespace rnnsearch::report
