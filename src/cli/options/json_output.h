// --json FILE, which means the same in every command that has it.
#pragma once

#include <filesystem>
#include <functional>
#include <nlohmann/json.hpp>
#include <string>

#include "rnnsearch/base/json.h"
#include "rnnsearch/cli/options.h"

namespace rnnsearch::cli {

/// Declares --json in the group at hand. `content`: what is written, such as "the report".
void add_json(Options& options, std::filesystem::path& file, const std::string& content);

/// Prints the results as text, and writes what `json` returns to `file`. For "-" the JSON goes to standard output in
/// place of the text; an empty path is none.
void print_results(const std::filesystem::path& file, const std::function<Json()>& json,
                   const std::function<void()>& text);

}  // namespace rnnsearch::cli
