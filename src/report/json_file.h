// Reads the JSON files that other commands and experiments wrote for the report.
#pragma once

#include <filesystem>
#include <string>

#include "rnnsearch/base/json.h"

namespace rnnsearch::report {

/// Reads a file and checks its "format" and its "format_version", which must be 1. Names and texts are converted with
/// `drawable` of figure.h. maker: the command that writes such files, for errors. Throws Error.
Json read_json_file(const std::filesystem::path& path, const std::string& format, const std::string& maker);

}  // namespace rnnsearch::report
