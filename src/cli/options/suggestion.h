// The name that someone probably meant.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

namespace rnnsearch::cli {

/// Insertions, deletions, substitutions and swaps of neighbours that turn one into the other (optimal string
/// alignment).
std::size_t edit_distance(std::string_view a, std::string_view b);

/// The closest of `names`, of equally close ones the first; none when even that differs in more than a third of its
/// letters (two are always allowed).
std::optional<std::string> nearest(std::string_view name, std::span<const std::string> names);

/// ": did you mean 'beam'?", or ": " and `otherwise`.
std::string suggestion(std::string_view name, std::span<const std::string> names, const std::string& otherwise);

}  // namespace rnnsearch::cli
