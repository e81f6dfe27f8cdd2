// What --help and -h print, in lines of at most 80 columns, the name that someone probably meant, and the presets.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "rnnsearch/cli/options.h"

namespace rnnsearch::cli {

/// `text` broken at spaces into lines of at most 80 columns, which begin in this column: the first without spaces
/// before it, the others with them. All but the last end with `line_end`.
std::string wrapped(const std::string& text, std::size_t column, const std::string& line_end = "");

/// Insertions, deletions, substitutions and swaps of neighbours that turn one into the other (optimal string
/// alignment).
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The closest of `names`, of equally close ones the first; none when even that differs in more than a third of its
/// letters (two are always allowed).
std::optional<std::string> nearest(std::string_view name, std::span<const std::string> names);

/// ": did you mean 'beam'?", or ": " and `otherwise`.
std::string suggestion(std::string_view name, std::span<const std::string> names, const std::string& otherwise);

/// A file of pipelines/presets, embedded when the build is configured: the program needs no folder beside it.
struct Preset {
  const char* name;
  const char* ini;
};
std::span<const Preset> presets();

}  // namespace rnnsearch::cli
