#include "cli/options/json_output.h"

#include <iostream>

#include "rnnsearch/base/file.h"

namespace rnnsearch::cli {

void add_json(Options& options, std::filesystem::path& file, const std::string& content) {
  options.add("json", file, kOutputText, kNotRecorded,
              "write " + content + " as JSON to this file; -: to standard output, in place of text");
}

void print_results(const std::filesystem::path& file, const std::function<Json()>& json,
                   const std::function<void()>& text) {
  if (file == "-") {
    std::cout << json_text(json(), 2) << "\n";
    return;
  }
  if (!file.empty()) write_file_atomically(file, json_text(json(), 2) + "\n");
  text();
}

}  // namespace rnnsearch::cli
