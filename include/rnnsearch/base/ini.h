// Configuration files (INI): lines `key = value`.
//
// A # begins a comment at the beginning of a line and after white space. White space around keys and values is left
// out. A value that begins with " or ' ends at the next such quote: between them white space and # are part of the
// value, and two quotes stand for one. A quote elsewhere is a character like any other.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace rnnsearch {

/// The text without the spaces, tabs and line ends around it.
std::string_view trimmed(std::string_view text);

/// The keys and values of a configuration file in their order; a key may occur several times. `name` is for errors.
/// Throws UsageError for a line without =, for a quote that does not end, and for control characters.
std::vector<std::pair<std::string, std::string>> read_ini(const std::string& text, const std::string& name);

/// A value as a configuration file holds it, with quotes if it needs them: read_ini gets the same value back. Throws
/// UsageError, naming the key, for control characters.
std::string ini_line(const std::string& key, const std::string& value);

}  // namespace rnnsearch
