// A trained model at work on raw lines, on any number of ranks.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "rnnsearch/cli/options.h"
#include "rnnsearch/comm/communicator.h"
#include "rnnsearch/corpus/vocabulary.h"
#include "rnnsearch/decode/translate.h"
#include "rnnsearch/train/checkpoint.h"

namespace rnnsearch::cli {

struct TranslationOptions {
  decode::SearchOptions search;
  bool replace_unknown = false;
};
/// Declares them, in a group of their own; n-best is left to the command.
void add_translation_options(Options& options, TranslationOptions& translation);

struct LineTranslation {
  std::string text;
  double score = 0;      // log-probability, divided by length with `normalize`
  bool retried = false;  // found by a search after the first, in which no hypothesis had ended
  bool cut_off = false;  // at the maximum length: no hypothesis ended in any search
};

/// How an error names lines.
struct LinesPlace {
  std::string name;        // "standard input", "corpus.h5 (dev)"
  std::size_t before = 0;  // lines there before these
};

/// What to translate.
struct InputLines {
  std::vector<std::string> lines;
  LinesPlace place;
};

/// COLLECTIVE. The lines of the root are spread over the ranks (line i to rank i mod ranks); the translations of each
/// line, at least one, best first and in order, are at the root, nothing elsewhere. AgreedError, naming the line, when
/// the model computes NaN. A line without words has one empty translation.
/// A rank to which a signal came leaves off at once, and the lines that it leaves out have no translation.
/// `done` is told at the root how many lines of its own share are finished, and how many there are.
std::vector<std::vector<LineTranslation>> translate_lines(
    train::LoadedModel& loaded, InputLines input, const TranslationOptions& options, const comm::Communicator& world,
    const std::function<void(std::size_t done, std::size_t all)>& done = {});

/// COLLECTIVE. `line`: the first of these lines, counted from 0, for which the model computes NaN, or an infinity, on
/// this rank, if there is one. Throws AgreedError, naming the first of all ranks by the root's `place`, if some rank
/// has one.
void refuse_nan(const comm::Communicator& world, std::optional<std::size_t> line, const LinesPlace& place);

/// Of words by the vocabulary: kUnknown where it does not know one.
std::vector<WordId> ids_of(const std::vector<std::string>& words, const corpus::Vocabulary& vocabulary);

}  // namespace rnnsearch::cli
