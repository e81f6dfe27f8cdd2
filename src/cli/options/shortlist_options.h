// Shortlists: a softmax over the words that a lexical table gives for a sentence.
#pragma once

#include <cstddef>
#include <filesystem>

#include "rnnsearch/base/line_source.h"
#include "rnnsearch/cli/options.h"
#include "rnnsearch/comm/communicator.h"
#include "rnnsearch/decode/translate_lines.h"

namespace rnnsearch::cli {

struct ShortlistOptions {
  std::filesystem::path table;  // --shortlist
  // Marian's defaults
  std::size_t frequent = 100, translations = 100;
};

/// Declares them, in a group of their own.
void add_shortlist_options(Options& options, ShortlistOptions& shortlist);
/// After parsing. Throws UsageError for sizes without a table.
void check_shortlist_options(const Options& options, const ShortlistOptions& shortlist);
/// COLLECTIVE. Reads the table at the root and hands `search` what it needs, on every rank. Throws AgreedError for a
/// table that cannot be used. REQUIRES: there is a table.
void take_shortlist(const ShortlistOptions& shortlist, const LineLimit& limit, const decode::Translator& translator,
                    const comm::Communicator& communicator, decode::SearchOptions& search);

}  // namespace rnnsearch::cli
