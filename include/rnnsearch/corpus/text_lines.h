// Reads lines of text whose content is not trusted.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "rnnsearch/base/file.h"
#include "rnnsearch/base/line_source.h"
#include "rnnsearch/corpus/text_pipeline.h"

namespace rnnsearch::corpus {

/// All lines of a file, plain or compressed (open_text). Throws Error as LineSource, and for a file that is missing, a
/// folder, or empty; and Interrupted when a stop signal came, also while it waits for a pipe.
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

// The bytes of plain or compressed text that is read once.

/// Opens a file, a pipe or a device. Files that begin like gzip, Zstandard or xz data are unpacked. Throws Error for a
/// path that is missing, a folder, or not readable. Its functions throw Error for compressed data that is
/// damaged or truncated. `poll` is called while waiting for a pipe or device, and for each part of a file that is read.
std::unique_ptr<ByteStream> open_text(const std::filesystem::path& path, const Poll& poll = {});

// Word alignments of training pairs, as aligners such as GIZA++ and fast_align write them (Pharaoh's format).

/// Appends to `links` the links of a line "0-0 1-2 ..." as positions: source word, target word, source word, target
/// word, ..., counted from 0, in ascending order and each link once. A link between words becomes the links between
/// each piece of the one and each piece of the other, as OpusTrainer maps links to other tokens. Returns what is wrong
/// with the line for a pair of these words, or an empty text: "'1:2' is not a link such as 0-0" or "the link 7-0 is
/// past the 5 words of the source".
std::string read_links(std::string_view line, std::span<const WordPieces> source, std::span<const WordPieces> target,
                       std::vector<std::uint32_t>& links);

/// The pieces of so many words that are not split.
std::vector<WordPieces> whole_words(std::size_t words);

}  // namespace rnnsearch::corpus
