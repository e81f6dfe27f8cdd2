// Reads lines of text whose content is not trusted.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "rnnsearch/base/line_source.h"
#include "rnnsearch/corpus/test_set_file.h"

namespace rnnsearch::corpus {

/// All lines of a file, plain or compressed (corpus/text_stream.h), or all segments of a test set
/// (corpus/test_set_file.h). Throws Error as LineSource or read_test_set, and for a file that is missing, a folder, or
/// empty; and Interrupted when a stop signal came, also while it waits for a pipe.
std::vector<std::string> read_lines(const std::filesystem::path& path, TestSetPart part, const LineLimit& limit);

/// The lines that `asked`, such as "1,5,10-20", names of a text with so many: numbers from 0, ascending, each once; all
/// when nothing is asked. Throws Error for what names no line of the text, which it calls `text`.
std::vector<std::size_t> chosen_lines(const std::string& asked, std::size_t lines, const std::filesystem::path& text);

/// What read_lines gave of a file.
struct CountedLines {
  std::filesystem::path path;
  TestSetPart part;
  std::size_t lines;
};
/// Throws Error with both counts when they differ, and as check_same_segments for two test sets.
void check_same_lines(const CountedLines& a, const CountedLines& b);

}  // namespace rnnsearch::corpus
