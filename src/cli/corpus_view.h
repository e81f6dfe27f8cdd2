// A corpus as people look at it.
#pragma once

#include <cstddef>

#include "rnnsearch/base/json.h"
#include "rnnsearch/corpus/corpus.h"

namespace rnnsearch::cli {

/// Adds pairs, words, lengths, unknown words, dropped pairs, sets, and the first `pairs` training pairs as plain text.
void describe_corpus(const corpus::Corpus& corpus, std::size_t pairs, Json& json);

/// That as text in columns, with bars; members of `json` that are not of this file come first, each on a line.
void print_corpus(const Json& json);

}  // namespace rnnsearch::cli
