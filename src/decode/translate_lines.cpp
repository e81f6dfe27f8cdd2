#include "rnnsearch/decode/translate_lines.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <span>

#include "rnnsearch/base/error.h"
#include "rnnsearch/base/signals.h"
#include "rnnsearch/comm/meet.h"
#include "rnnsearch/decode/distribute.h"
#include "rnnsearch/decode/parts.h"

namespace rnnsearch::decode {
namespace {

/// A line to translate, as it travels to its rank.
struct Line {
  std::uint64_t number;  // among all lines
  std::string text, prefix, required;

  static auto fields(auto& line) { return std::tie(line.number, line.text, line.prefix, line.required); }
};

/// Phrases that a translation must contain, as words and as the constraint of the search.
struct Phrases {
  std::vector<std::vector<std::string>> words;
  RequiredWords required;
};

/// The words of a line and of its prefix, the ends of the parts in which it is translated, and the phrases of each.
struct SplitLine {
  std::vector<std::string> spans, source, prefix;  // spans: for which the placeholders of the line stand
  std::vector<std::size_t> ends{};
  std::vector<Phrases> phrases{};
};

/// `required`: phrases with tabs between them.
SplitLine split_line(const Translator& translator, const Line& line, const TranslationOptions& options) {
  SplitLine split;
  split.source = source_words(translator, line.text, split.spans);
  split.prefix = target_words(translator, line.prefix, split.spans);
  std::vector<std::vector<std::string>> required;
  for (std::size_t begin = 0; begin < line.required.size();) {
    const std::size_t end = std::min(line.required.find('\t', begin), line.required.size());
    auto phrase = target_words(translator, std::string_view(line.required).substr(begin, end - begin), split.spans);
    if (!phrase.empty()) required.push_back(std::move(phrase));
    begin = end + 1;
  }
  split.ends = part_ends(split.source, required.empty() ? options.maximum_source_length : 0);
  for (std::size_t begin = 0; const std::size_t end : split.ends) {
    auto phrases = required;
    const auto at = [&](std::size_t i) { return split.source.begin() + static_cast<std::ptrdiff_t>(i); };
    if (options.glossary) {
      for (const std::string& term : options.glossary->terms({at(begin), at(end)})) {
        auto phrase = target_words(translator, term, {});  // a number in it is no copy of one in the line
        if (std::find(phrases.begin(), phrases.end(), phrase) == phrases.end()) phrases.push_back(std::move(phrase));
      }
    }
    std::vector<std::vector<WordId>> ids;
    for (const auto& phrase : phrases) ids.push_back(ids_of(phrase, translator.target_vocabulary));
    assert(ids.empty() || options.spelling);
    split.phrases.push_back({std::move(phrases), RequiredWords(std::move(ids), options.spelling)});
    begin = end;
  }
  return split;
}

/// The number of part `part` of a line, from which its random streams are made: no other part of any line has it.
std::uint64_t stream_number(std::uint64_t line, std::size_t part) {
  return line + (std::uint64_t{part} << 40);
}

/// A line, and what translates each of its parts.
struct Parts {
  const SplitLine& line;
  std::vector<const Translation*> translations;
};

LineTranslation in_words(const Translator& translator, const Parts& parts, const TranslationOptions& options) {
  LineTranslation line;
  line.parts = static_cast<std::uint32_t>(parts.line.ends.size());
  std::vector<std::string> words;  // without </s>
  double log_probability = 0, coverage = 0;
  std::size_t length = 0, first = 0;  // `first`: of the source words of a part
  for (std::size_t p = 0; p < parts.line.ends.size(); ++p) {
    const Translation& translation = *parts.translations[p];
    const Phrases& phrases = parts.line.phrases[p];
    const auto phrase_words = phrases.required.phrase_words(translation.words);
    for (std::size_t i = 0; i < translation.words.size(); ++i) {
      const WordId id = translation.words[i];
      const bool in_prefix = p == 0 && i < parts.line.prefix.size(), given = in_prefix || phrase_words[i];
      std::string word = translator.target_vocabulary.word_in_text(id);
      if (phrase_words[i]) word = phrases.words[phrase_words[i]->phrase][phrase_words[i]->position];
      if (in_prefix) word = parts.line.prefix[i];
      if (!translation.attended.empty() && first + translation.attended[i] < parts.line.ends[p]) {
        const std::size_t j = first + translation.attended[i];
        if (options.details) {
          line.links.push_back({static_cast<std::uint32_t>(j), static_cast<std::uint32_t>(line.words.size())});
        }
        if (id == kUnknown && options.replace_unknown && !given) word = parts.line.source[j];
      }
      if (options.details) line.words.push_back(word);
      words.push_back(std::move(word));
    }
    const std::vector<float>& scores = translation.word_scores;
    if (options.details) {
      if (scores.size() > translation.words.size()) line.words.push_back(translator.target_vocabulary.word(kEnd));
      line.word_scores.insert(line.word_scores.end(), scores.begin(), scores.end());
    }
    log_probability += translation.log_probability;
    length += scores.size();
    coverage += translation.coverage;
    line.retried = line.retried || translation.retries > 0;
    line.cut_off = line.cut_off || !translation.finished;
    line.unmet += static_cast<std::uint32_t>(translation.unmet);
    first = parts.line.ends[p];
  }
  if (options.details) line.source_words = parts.line.source;
  line.text = translator.pipeline.to_text(words);
  if (translator.pipeline.copies) line.text = text::with_spans(line.text, parts.line.spans);
  line.score = score_of(log_probability, length, coverage, options.search);
  return line;
}

/// The translations of a line, best first; none if a part has none because a signal came. `of_parts`: those of each
/// part.
std::optional<std::vector<LineTranslation>> in_words(const Translator& translator, const SplitLine& split,
                                                     std::span<const std::vector<Translation>> of_parts,
                                                     const TranslationOptions& options) {
  std::size_t count = 0;
  for (const auto& of_part : of_parts) {
    if (of_part.empty()) return std::nullopt;
    count = std::max(count, of_part.size());
  }
  std::vector<LineTranslation> lines;
  for (std::size_t k = 0; k < count; ++k) {
    Parts parts{split, {}};
    for (const auto& of_part : of_parts) parts.translations.push_back(&of_part[std::min(k, of_part.size() - 1)]);
    lines.push_back(in_words(translator, parts, options));
  }
  if (of_parts.size() > 1 && !options.search.sampling) {
    std::stable_sort(lines.begin(), lines.end(), [](const auto& a, const auto& b) {
      return a.unmet != b.unmet ? a.unmet < b.unmet : a.score.value() > b.score.value();
    });
  }
  return lines;
}

}  // namespace

std::optional<std::size_t> aligned_word(std::span<const float> weights, std::size_t words) {
  const auto most = static_cast<std::size_t>(std::max_element(weights.begin(), weights.end()) - weights.begin());
  return most < words ? std::optional(most) : std::nullopt;
}

std::vector<corpus::PlaceholderWord> known_placeholders(const Translator& translator) {
  return corpus::known_placeholders(translator.pipeline, translator.source_vocabulary, translator.target_vocabulary);
}

std::vector<std::string> source_words(const Translator& translator, std::string_view line,
                                      std::vector<std::string>& spans) {
  const corpus::TextPipeline& pipeline = translator.pipeline;
  const std::size_t known = known_placeholders(translator).size();
  return pipeline.to_words(pipeline.source_line(line, known, spans), corpus::Side::kSource);
}

std::vector<std::string> target_words(const Translator& translator, std::string_view line,
                                      const std::vector<std::string>& spans) {
  return translator.pipeline.to_words(translator.pipeline.target_line(line, spans), corpus::Side::kTarget);
}

std::vector<WordId> ids_of(const std::vector<std::string>& words, const corpus::Vocabulary& vocabulary) {
  std::vector<WordId> ids;
  ids.reserve(words.size());
  for (const std::string& word : words) ids.push_back(vocabulary.id(word));
  return ids;
}

std::vector<std::vector<LineTranslation>> translate_lines(
    const Translator& translator, const InputLines& input, const TranslationOptions& options,
    const comm::Communicator& communicator, const std::function<void(std::size_t done, std::size_t all)>& done) {
  const bool attends = translator.ensemble.attends();
  for (const auto& [asked, option] : {std::pair{options.replace_unknown, "--replace-unknown"},
                                      {options.search.coverage_penalty != 0, "--coverage-penalty"}}) {
    if (!asked || attends) continue;
    throw Error("{} needs a model with attention, and this one was trained with attention = none", option);
  }
  if (options.replace_unknown && translator.pipeline.source_subwords) {
    throw Error("--replace-unknown is for models of words, and this one splits them into subwords; leave it out");
  }
  assert(input.prefixes.empty() ||
         (input.prefixes.size() == input.lines.size() && !translator.ensemble.right_to_left()));
  assert(input.required.empty() || input.required.size() == input.lines.size());
  using Translations = std::vector<LineTranslation>;
  SearchOptions search = options.search;
  search.placeholders = known_placeholders(translator);
  search.attended = attends && (options.replace_unknown || options.details);
  const auto translated = [&](const std::vector<const Line*>& lines) {
    std::vector<SplitLine> split;
    Sentences source;  // the parts
    PerSentence per_sentence;
    for (const Line* line : lines) {
      stop_if_signal_came();
      split.push_back(split_line(translator, *line, options));
      const auto ids = ids_of(split.back().source, translator.source_vocabulary);
      std::size_t first = 0;
      for (std::size_t part = 0; part < split.back().ends.size(); ++part) {
        const std::size_t end = split.back().ends[part];
        source.add(std::span(ids).subspan(first, end - first));
        per_sentence.prefixes.add(part == 0 ? ids_of(split.back().prefix, translator.target_vocabulary)
                                            : std::vector<WordId>());
        per_sentence.numbers.push_back(stream_number(line->number, part));
        per_sentence.required.push_back(split.back().phrases[part].required);
        first = end;
      }
    }
    if (per_sentence.prefixes.words.empty()) per_sentence.prefixes.clear();
    if (std::all_of(per_sentence.required.begin(), per_sentence.required.end(),
                    [](const auto& one) { return one.empty(); })) {
      per_sentence.required.clear();
    }
    const auto count_done = [&](std::size_t count) {
      if (done && communicator.is_root()) done(count * lines.size() / source.size(), lines.size());
      return !stop_signal_came();
    };
    const auto found = translate(translator.ensemble, source, search, count_done, per_sentence);
    std::vector<std::optional<Translations>> results;
    std::size_t first = 0;  // part
    for (const SplitLine& line : split) {
      results.push_back(in_words(translator, line, std::span(found).subspan(first, line.ends.size()), options));
      first += line.ends.size();
    }
    return results;
  };
  std::vector<Line> lines;
  for (std::size_t i = 0; i < input.lines.size(); ++i) {
    lines.push_back({input.location.before + i, input.lines[i], input.prefixes.empty() ? "" : input.prefixes[i],
                     input.required.empty() ? "" : input.required[i]});
  }
  const auto assignment = round_robin(lines.size(), static_cast<std::size_t>(communicator.size()));
  const auto results = distribute<Line, Translations>(communicator, lines, assignment, translated);
  std::optional<std::size_t> nan_line;
  std::vector<Translations> all;
  for (const auto& of_line : results) {
    if (of_line && std::isnan(of_line->front().score.log_probability) && !nan_line) nan_line = all.size();
    all.push_back(of_line.value_or(Translations()));
  }
  refuse_nan(communicator, nan_line, input.location);
  return all;
}

void refuse_nan(const comm::Communicator& communicator, std::optional<std::size_t> line,
                const LinesLocation& location) {
  double first = line ? -static_cast<double>(*line) : -std::numeric_limits<double>::infinity();
  if (communicator.size() > 1) communicator.max(std::span(&first, 1));
  if (std::isinf(first)) return;
  throw comm::AgreedError(
      fmt::format("{}, line {}: the model computes NaN or infinities, because its training diverged; name a checkpoint "
                  "of an earlier update, or train again with a lower learning-rate or clip-norm",
                  location.name, location.before + static_cast<std::size_t>(-first) + 1));
}

std::vector<WordPair> word_pairs(const Translator& translator, std::span<const std::string> sources,
                                 std::span<const std::string> targets) {
  std::vector<WordPair> pairs(sources.size());
  for (std::size_t i = 0; i < sources.size(); ++i) {
    stop_if_signal_came();
    std::vector<std::string> spans;
    pairs[i].source = ids_of(source_words(translator, sources[i], spans), translator.source_vocabulary);
    if (targets.empty()) continue;
    pairs[i].target = ids_of(target_words(translator, targets[i], spans), translator.target_vocabulary);
  }
  return pairs;
}

std::vector<std::size_t> source_lengths(std::span<const WordPair> pairs) {
  std::vector<std::size_t> lengths;
  for (const WordPair& pair : pairs) lengths.push_back(pair.source.size());
  return lengths;
}

std::vector<std::size_t> target_lengths(std::span<const WordPair> pairs) {
  std::vector<std::size_t> lengths;
  for (const WordPair& pair : pairs) lengths.push_back(pair.target.size());
  return lengths;
}

std::pair<Sentences, Sentences> sentences_of(std::span<const WordPair* const> batch) {
  Sentences source, target;
  for (const WordPair* pair : batch) {
    source.add(pair->source);
    target.add(pair->target);
  }
  return {std::move(source), std::move(target)};
}

std::vector<std::optional<Aligned>> align_batch(model::Model& model, std::span<const WordPair* const> batch, bool given,
                                                const SearchOptions& search) {
  auto [source, target] = sentences_of(batch);
  std::vector<bool> is_nan(batch.size());
  if (!given) {
    const auto translations = translate(model, source, search);
    target = {};
    for (std::size_t i = 0; i < batch.size(); ++i) {
      target.add(translations[i].front().words);
      is_nan[i] = translations[i].front().is_nan();
    }
  }
  std::vector<std::optional<Aligned>> results;
  auto found = model.align(source, target);
  for (std::size_t i = 0; i < batch.size(); ++i) {
    results.push_back(Aligned{{target[i].begin(), target[i].end()},
                              is_nan[i] ? std::nan("") : found[i].log_probability,
                              std::move(found[i].alpha)});
  }
  return results;
}

}  // namespace rnnsearch::decode
