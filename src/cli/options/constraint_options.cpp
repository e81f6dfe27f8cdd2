#include "cli/options/constraint_options.h"

#include <memory>
#include <utility>

#include "rnnsearch/base/error.h"
#include "rnnsearch/base/number_text.h"
#include "rnnsearch/base/packed.h"
#include "rnnsearch/comm/meet.h"
#include "rnnsearch/corpus/text_lines.h"
#include "rnnsearch/decode/forbidden_words.h"

namespace rnnsearch::cli {
namespace {

constexpr std::size_t kNamedLines = 20;

std::string leftwards(const std::string& what) {
  return fmt::format(
      "{} needs a model that predicts the first word first, and this one predicts targets from right to left", what);
}

}  // namespace

text::CopyPatterns copy_patterns_from(const std::vector<std::string>& patterns) try {
  return text::CopyPatterns(patterns);
} catch (const Error& error) {
  throw UsageError("--copy-pattern: {}", error.what());
}

void add_constraint_options(Options& options, Constraints& constraints, decode::SearchOptions& search) {
  options.group("Constraints");
  options.add("prefix", constraints.files.prefixes, kInputFile,
              "text whose line i has the words with which the translation of line i must begin; an empty line means no "
              "prefix. The model continues the prefix, and the words of the prefix count in the score");
  options.add("forbid", constraints.forbid, kInputFile,
              "words and phrases that no translation may contain, one per line, in plain text. They are compared with "
              "whole words, whatever subwords the model has: cat forbids neither catalog nor Cat");
  options.add("require", constraints.files.required, kInputFile,
              "text whose line i has the words and phrases that the translation of line i must contain, with tabs "
              "between them; an empty line requires nothing. The search divides the beam among hypotheses by the "
              "number of required words that they have (Post and Vilar 2018)");
  options.add(
      "glossary", constraints.glossary, kInputFile,
      "terms and their translations, 'source term<TAB>target term' on each line, in plain text. Where a line has the "
      "source term, its translation must contain the target term, which is one of its required phrases then");
  options.add("copy-pattern", constraints.copy_patterns, Placeholder{"REGEX"},
              "regular expression (RE2) of source text that is copied to the translation unchanged, in place of those "
              "with which the corpus was prepared; repeat the option for several. For a model that was trained with "
              "placeholders (prepare --copy-pattern)");
  options.add("beam-groups", search.groups, within(1, 1000),
              "divide the beam into N groups of equal width that avoid each other's words (diverse beam search, "
              "Vijayakumar et al. 2016), for n-best lists whose translations differ; 1: one beam");
  options.add("diversity", search.diversity, within(0, 100),
              "for --beam-groups: penalty subtracted from the log-probability of a word each time that an earlier "
              "group chose the word at the same step. The scores of translations do not include it");
}

void check_constraint_options(const Options& options, const decode::TranslationOptions& translation, bool sample) {
  const decode::SearchOptions& search = translation.search;
  if (options.given("diversity") && search.groups == 1) {
    throw UsageError("--diversity is for --beam-groups of 2 or more; give both");
  }
  if (search.beam % search.groups != 0) {
    throw UsageError(
        "--beam {} cannot be divided into --beam-groups {} of equal width; let the beam be a multiple of the groups",
        search.beam, search.groups);
  }
  if (search.groups > 1 && sample) {
    throw UsageError("--beam-groups is for a search, and --sample draws words in place of one; give one of the two");
  }
  for (const char* option : {"require", "glossary"}) {
    if (!options.given(option)) continue;
    if (sample)
      throw UsageError("--{} is for a search, and --sample draws words in place of one; give one of the two", option);
    if (search.groups > 1) throw UsageError("--{} and --beam-groups both divide the beam; give one of the two", option);
  }
  if (options.given("forbid") && translation.replace_unknown) {
    throw UsageError(
        "--forbid cannot look at the source words that --replace-unknown copies; give one of the two (--no-unknown "
        "avoids unknown words)");
  }
}

Refusals refusals_of(const decode::Translator& translator, const decode::SearchOptions& search) {
  Refusals refusals;
  if (translator.ensemble.right_to_left()) {
    refusals.prefix = leftwards("a prefix");
    refusals.require = leftwards("\"require\"");
  }
  if (search.sampling) refusals.require = "\"require\" is for a search, and this process draws samples";
  if (search.groups > 1) refusals.require = "\"require\" and --beam-groups both divide the beam";
  return refusals;
}

void take_constraints(const Constraints& constraints, const LineLimit& limit, const decode::Translator& translator,
                      const comm::Communicator& communicator, decode::TranslationOptions& translation) {
  if (translator.ensemble.right_to_left()) {
    for (const auto& [path, option] : {std::pair{constraints.files.prefixes, "--prefix"},
                                       {constraints.forbid, "--forbid"},
                                       {constraints.files.required, "--require"},
                                       {constraints.glossary, "--glossary"}}) {
      if (!path.empty()) throw comm::AgreedError(leftwards(option));
    }
  }
  auto spelling = std::make_shared<corpus::Spelling>(translator.target_vocabulary, translator.pipeline);
  translation.spelling = spelling;
  // The lines of a file on all ranks; `check` throws at the root what is wrong with them.
  const auto lines_of = [&](const std::filesystem::path& path, const auto& check) {
    std::string message;
    comm::root_does(communicator, [&] {
      const auto lines = corpus::read_lines(path, limit);
      check(lines);
      message = packed(lines);
    });
    communicator.broadcast(message);
    return unpacked<std::vector<std::string>>(message);
  };
  if (!constraints.forbid.empty()) {
    translation.search.forbidden =
        std::make_shared<decode::ForbiddenWords>(lines_of(constraints.forbid, [](const auto&) {}), *spelling);
  }
  if (constraints.glossary.empty()) return;
  const auto glossary = [&](const std::vector<std::string>& lines) {
    return std::make_shared<decode::Glossary>(lines, constraints.glossary.string(), translator.pipeline);
  };
  translation.glossary = glossary(lines_of(constraints.glossary, glossary));
}

void UnmetLines::note(const decode::LineTranslation& translation, const std::string& name, std::size_t line,
                      Progress& progress) {
  if (translation.unmet == 0) return;
  say(name, line,
      fmt::format("the translation lacks {} of the required phrases, because no translation within its maximum length "
                  "has all of them",
                  translation.unmet),
      progress);
}

void UnmetLines::note_prefixes(const std::vector<std::string>& prefixes, const decode::LinesLocation& location,
                               const decode::Translator& translator, const decode::SearchOptions& search,
                               Progress& progress) {
  for (std::size_t i = 0; search.forbidden && i < prefixes.size(); ++i) {
    auto state = search.forbidden->start();
    bool has = false;
    for (const WordId word :
         decode::ids_of(decode::target_words(translator, prefixes[i], {}), translator.target_vocabulary)) {
      has = has || search.forbidden->blocks(state, word);
      state = search.forbidden->after(state, word);
    }
    if (!has && !search.forbidden->blocks(state, kEnd)) continue;
    say(location.name, location.before + i,
        "its prefix has a word or phrase of --forbid, so that the translation has it, too", progress);
  }
}

void UnmetLines::say(const std::string& name, std::size_t line, const std::string& what, Progress& progress) {
  if (++lines_ <= kNamedLines) progress.say(fmt::format("[translate] {}, line {}: {}", name, line + 1, what));
}

void UnmetLines::finish(Progress& progress) const {
  if (lines_ <= kNamedLines) return;
  progress.say(fmt::format("[translate] the like is true of {}", counted(lines_ - kNamedLines, "further line")));
}

}  // namespace rnnsearch::cli
