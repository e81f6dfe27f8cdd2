// A corpus as people look at it: what it holds as JSON, and that JSON as text in columns.
#pragma once

#include <cstddef>
#include <ostream>

#include "rnnsearch/base/json.h"
#include "rnnsearch/corpus/corpus.h"

namespace rnnsearch::corpus {

/// Adds pairs, words, lengths, unknown words, dropped pairs, sets, and the first `pairs` training pairs as plain text.
void describe_corpus(const Corpus& corpus, std::size_t pairs, Json& json);

/// Prints that in columns, with bars. Members of `json` that are not of describe_corpus come first, each on a line.
/// Throws Error for a number that no corpus holds.
void print_corpus(const Json& json, std::ostream& out);

}  // namespace rnnsearch::corpus
