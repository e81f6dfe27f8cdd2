// What translations must begin with, contain or avoid, and how a search becomes diverse.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "cli/progress.h"
#include "cli/translation_input.h"
#include "rnnsearch/base/line_source.h"
#include "rnnsearch/cli/options.h"
#include "rnnsearch/comm/communicator.h"
#include "rnnsearch/decode/translate_lines.h"

namespace rnnsearch::cli {

/// The options, and what the command line says of each other.
struct Constraints {
  LineFiles files;  // --prefix, --require
  std::filesystem::path forbid, glossary;
  std::vector<std::string> copy_patterns;
};

/// Those of --copy-pattern. Throws UsageError for what is not a pattern.
text::CopyPatterns copy_patterns_from(const std::vector<std::string>& patterns);

/// Declares them, in a group of their own.
void add_constraint_options(Options& options, Constraints& constraints, decode::SearchOptions& search);
/// After parsing. Throws UsageError for those that exclude each other or other options.
void check_constraint_options(const Options& options, const decode::TranslationOptions& translation, bool sample);
/// What lines of JSON may not ask of this model and these options.
Refusals refusals_of(const decode::Translator& translator, const decode::SearchOptions& search);
/// COLLECTIVE. Reads --forbid and --glossary at the root and hands `translation` what the search needs. Throws
/// AgreedError for a model that takes no constraints.
void take_constraints(const Constraints& constraints, const LineLimit& limit, const decode::Translator& translator,
                      const comm::Communicator& communicator, decode::TranslationOptions& translation);

/// Says which lines lack required phrases, or have forbidden ones in their prefix: each of the first 20, and at the end
/// how many others there were.
class UnmetLines {
 public:
  /// `line` counts from 0, in a text of this name.
  void note(const decode::LineTranslation& translation, const std::string& name, std::size_t line, Progress& progress);
  /// Of lines at this location: their prefixes, before they are translated. The prefix wins over what is forbidden.
  void note_prefixes(const std::vector<std::string>& prefixes, const decode::LinesLocation& location,
                     const decode::Translator& translator, const decode::SearchOptions& search, Progress& progress);
  void finish(Progress& progress) const;

 private:
  void say(const std::string& name, std::size_t line, const std::string& what, Progress& progress);

  std::size_t lines_ = 0;
};

}  // namespace rnnsearch::cli
