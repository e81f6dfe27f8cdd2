// Reads lines of text whose content is not trusted.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "rnnsearch/base/line_source.h"

namespace rnnsearch::corpus {

/// All lines of a file, plain or compressed (corpus/text_stream.h). Throws Error as LineSource, and for a file that is
/// missing, a folder, or empty; and Interrupted when a stop signal came, also while it waits for a pipe.
std::vector<std::string> read_lines(const std::filesystem::path& path, const LineLimit& limit);

/// The lines that `asked`, such as "1,5,10-20", names of a text with so many: numbers from 0, ascending, each once; all
/// when nothing is asked. Throws Error for what names no line of the text, which it calls `text`.
std::vector<std::size_t> chosen_lines(const std::string& asked, std::size_t lines, const std::filesystem::path& text);

/// What read_lines gave of a file.
struct CountedLines {
  std::filesystem::path path;
  std::size_t lines;
};
/// Throws Error with both counts when they differ.
void check_same_lines(const CountedLines& a, const CountedLines& b);

}  // namespace rnnsearch::corpus
