// How a model searches: the options of every command that translates.
#pragma once

#include "rnnsearch/cli/options.h"
#include "rnnsearch/decode/translate_lines.h"
#include "rnnsearch/train/checkpoint.h"

namespace rnnsearch::cli {

/// Declares them, in a group of their own; n-best is left to the command.
void add_translation_options(Options& options, decode::TranslationOptions& translation);
/// Declares --maximum-source-length, of commands that translate lines of text.
void add_maximum_source_length(Options& options, decode::TranslationOptions& translation);
/// --sample and what belongs to it.
struct SamplingOptions {
  bool sample = false;
  decode::Sampling sampling;
};
/// Declares them, in a group of their own.
void add_sampling_options(Options& options, SamplingOptions& sampling);
/// After parsing: hands them to `search`. Throws UsageError for those that are not for --sample, or for it alone.
void take_sampling_options(const Options& options, const SamplingOptions& sampling, decode::SearchOptions& search);

/// "2 lines have more than 1000 words and were translated in parts", for `lines` of them; empty if there are none.
std::string sentence_of_parts(std::size_t lines, const decode::TranslationOptions& translation);
/// After parsing. Throws UsageError for those that exclude each other.
void check_translation_options(const Options& options, const decode::TranslationOptions& translation);

/// The parts of a checkpoint that translate. `loaded` outlives the result.
inline decode::Translator translator_of(train::LoadedModel& loaded) {
  return {loaded.model, loaded.source_vocabulary, loaded.target_vocabulary, loaded.pipeline};
}

}  // namespace rnnsearch::cli
