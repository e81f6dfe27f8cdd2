// The report of prepare, for people and as JSON. `output` is the corpus that was written.
#pragma once

#include <filesystem>
#include <ostream>

#include "rnnsearch/base/json.h"
#include "rnnsearch/corpus/prepare.h"

namespace rnnsearch::corpus {

void print(const PrepareReport& report, const std::filesystem::path& output, std::ostream& out);
Json json_of(const PrepareReport& report, const std::filesystem::path& output);

}  // namespace rnnsearch::corpus
