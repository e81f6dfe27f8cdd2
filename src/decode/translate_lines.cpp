#include "rnnsearch/decode/translate_lines.h"

#include <algorithm>
#include <cassert>
#include <cmath>
#include <limits>
#include <numeric>

#include "rnnsearch/base/error.h"
#include "rnnsearch/base/parallel.h"
#include "rnnsearch/comm/meet.h"

namespace rnnsearch::decode {
namespace {

/// A line to translate, as it travels to its rank.
struct Line {
  std::uint64_t number;  // among all lines
  std::string text, prefix, required;

  static auto fields(auto& line) { return std::tie(line.number, line.text, line.prefix, line.required); }
};

/// A part of a line that is translated on its own.
struct Part {
  std::size_t begin, end;                         // of its words in the line
  std::vector<std::vector<std::string>> phrases;  // that its translation must contain
  RequiredWords required{};                       // the same as the constraint of the search
};

/// The words of a line and of its prefix, and its parts.
struct SplitLine {
  std::vector<std::string> spans, source, prefix;  // spans: for which the placeholders of the line stand
  std::vector<Part> parts{};
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
  const auto ends = part_ends(split.source, required.empty() ? options.maximum_source_length : 0);
  for (std::size_t begin = 0; const std::size_t end : ends) {
    Part& part = split.parts.emplace_back(Part{begin, end, required});
    const auto at = [&](std::size_t i) { return split.source.begin() + static_cast<std::ptrdiff_t>(i); };
    if (options.glossary) {
      for (const std::string& term : options.glossary->terms({at(begin), at(end)})) {
        auto phrase = target_words(translator, term, {});  // a number in it is no copy of one in the line
        if (std::ranges::find(part.phrases, phrase) == part.phrases.end()) part.phrases.push_back(std::move(phrase));
      }
    }
    std::vector<std::vector<WordId>> ids;
    for (const auto& phrase : part.phrases) ids.push_back(ids_of(phrase, translator.target_vocabulary));
    assert(ids.empty() || options.spelling);
    part.required = RequiredWords(std::move(ids), options.spelling);
    begin = end;
  }
  return split;
}

/// The number of part `part` of a line, from which its random streams are made: no other part of any line has it.
std::uint64_t stream_number(std::uint64_t line, std::size_t part) { return line + (std::uint64_t{part} << 40); }

/// `translations`: one of each part.
LineTranslation in_words(const Translator& translator, const SplitLine& split,
                         std::span<const Translation* const> translations, const TranslationOptions& options) {
  LineTranslation line;
  line.parts = static_cast<std::uint32_t>(split.parts.size());
  std::vector<std::string> words;  // without </s>
  double log_probability = 0, coverage = 0;
  std::size_t length = 0;
  for (std::size_t p = 0; p < split.parts.size(); ++p) {
    const Translation& translation = *translations[p];
    const Part& part = split.parts[p];
    const auto phrase_words = part.required.phrase_words(translation.words);
    for (std::size_t i = 0; i < translation.words.size(); ++i) {
      const WordId id = translation.words[i];
      const bool in_prefix = p == 0 && i < split.prefix.size(), given = in_prefix || phrase_words[i];
      std::string word = translator.target_vocabulary.word_in_text(id);
      if (phrase_words[i]) word = part.phrases[phrase_words[i]->phrase][phrase_words[i]->position];
      if (in_prefix) word = split.prefix[i];
      if (!translation.attended.empty() && part.begin + translation.attended[i] < part.end) {
        const std::size_t j = part.begin + translation.attended[i];
        if (options.details) {
          line.links.push_back({static_cast<std::uint32_t>(j), static_cast<std::uint32_t>(line.words.size())});
        }
        if (id == kUnknown && options.replace_unknown && !given) word = split.source[j];
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
  }
  if (options.details) line.source_words = split.source;
  line.text = translator.pipeline.to_text(words);
  if (translator.pipeline.copies) line.text = text::with_spans(line.text, split.spans);
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
    std::vector<const Translation*> translations;
    for (const auto& of_part : of_parts) translations.push_back(&of_part[std::min(k, of_part.size() - 1)]);
    lines.push_back(in_words(translator, split, translations, options));
  }
  if (of_parts.size() > 1 && !options.search.sampling) {
    std::stable_sort(lines.begin(), lines.end(), [](const auto& a, const auto& b) {
      return a.unmet != b.unmet ? a.unmet < b.unmet : a.score.value() > b.score.value();
    });
  }
  return lines;
}

using Marks = std::span<const std::string_view>;

// What ends sentences: Latin, Greek, Chinese and Japanese (wide and half-wide), Devanagari, Arabic, Urdu, Armenian,
// Ethiopic, Burmese, Khmer.
constexpr std::string_view kEndsSentence[] = {".",      "!",      "?",      "\u2026", "\u203d", "\u3002",
                                              "\uff0e", "\uff01", "\uff1f", "\uff61", "\u0964", "\u0965",
                                              "\u061f", "\u06d4", "\u0589", "\u1362", "\u104b", "\u17d4"};
constexpr std::string_view kCloses[] = {"\"", "'", "\u201d", "\u2019", "\u00bb", "\u203a", ")",
                                        "]",  "}", "\u300d", "\u300f", "\u3011", "\uff09", "''"};
// How text pipelines mark where words touch, or do not: the tokenizer's joiner, SentencePiece's space.
constexpr std::string_view kJoiner = "\uffed", kSpace = "\u2581";
// The longest run of closing marks after a sentence that is looked at: no text has more.
constexpr std::size_t kClosing = 4;

bool remove_end(std::string_view& word, Marks marks) {
  for (const std::string_view mark : marks) {
    if (!word.ends_with(mark)) continue;
    word.remove_suffix(mark.size());
    return true;
  }
  return false;
}

std::string_view without_marks(std::string_view word) {
  if (word.starts_with(kJoiner)) word.remove_prefix(kJoiner.size());
  if (word.starts_with(kSpace)) word.remove_prefix(kSpace.size());
  if (word.ends_with(kJoiner)) word.remove_suffix(kJoiner.size());
  return word;
}

// A word of closing marks alone. One that is joined to the next word opens something.
bool closes(std::string_view word) {
  if (word.ends_with(kJoiner)) return false;
  word = without_marks(word);
  if (word.empty()) return false;
  while (remove_end(word, kCloses)) {
  }
  return word.empty();
}

bool ends_sentence(std::string_view word) {
  word = without_marks(word);
  while (remove_end(word, kCloses)) {
  }
  return remove_end(word, kEndsSentence);
}

// Whether a sentence ends with words[last], closing marks included.
bool sentence_ends_with(std::span<const std::string> words, std::size_t last) {
  if (last + 1 < words.size() && closes(words[last + 1])) return false;
  for (std::size_t run = 0; run < kClosing && last > 0 && closes(words[last]); ++run) --last;
  return ends_sentence(words[last]);
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
    std::vector<PerSentence> per_sentence;
    for (const Line* line : lines) {
      stop_if_signal_came();
      split.push_back(split_line(translator, *line, options));
      const auto ids = ids_of(split.back().source, translator.source_vocabulary);
      for (const Part& part : split.back().parts) {
        source.add(std::span(ids).subspan(part.begin, part.end - part.begin));
        const auto number = static_cast<std::size_t>(&part - split.back().parts.data());
        per_sentence.push_back({{}, stream_number(line->number, number), part.required});
        if (number == 0) per_sentence.back().prefix = ids_of(split.back().prefix, translator.target_vocabulary);
      }
    }
    const auto count_done = [&](std::size_t count) {
      if (done && communicator.is_root()) done(count * lines.size() / source.size(), lines.size());
      return !stop_signal_came();
    };
    const auto found = translate(translator.ensemble, source, search, count_done, per_sentence);
    std::vector<std::optional<Translations>> results;
    std::size_t first = 0;  // part
    for (const SplitLine& line : split) {
      results.push_back(in_words(translator, line, std::span(found).subspan(first, line.parts.size()), options));
      first += line.parts.size();
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

std::vector<std::size_t> lengths_of(std::span<const WordPair> pairs, std::vector<WordId> WordPair::*side) {
  std::vector<std::size_t> lengths;
  for (const WordPair& pair : pairs) lengths.push_back((pair.*side).size());
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

std::vector<std::optional<double>> score_pairs(const Ensemble& ensemble, std::span<const WordPair> pairs,
                                               std::size_t batch_sentences, const comm::Communicator& communicator,
                                               const std::function<void(std::size_t done)>& done) {
  std::size_t before = 0;  // pairs that all ranks have scored, if they are equally fast
  const auto score_batch = [&](const std::vector<const WordPair*>& batch) {
    const auto [source, target] = sentences_of(batch);
    const auto found = score(ensemble, source, target);
    if (done) done(before + batch.size());
    before += static_cast<std::size_t>(communicator.size()) * batch_sentences;
    return std::vector<std::optional<double>>(found.begin(), found.end());
  };
  return distribute<WordPair, double>(communicator, pairs,
                                      by_length(lengths_of(pairs, &WordPair::target), batch_sentences), score_batch);
}

std::optional<std::size_t> first_nan(std::span<const std::optional<double>> scores) {
  const auto found = std::find_if(scores.begin(), scores.end(), [](const auto& one) { return !std::isfinite(*one); });
  if (found == scores.end()) return std::nullopt;
  return static_cast<std::size_t>(found - scores.begin());
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

std::vector<std::size_t> part_ends(std::span<const std::string> words, std::size_t longest) {
  std::vector<std::size_t> ends;
  std::size_t begin = 0;
  while (longest > 0 && words.size() - begin > longest) {
    std::size_t end = begin + longest;
    while (end > begin && !sentence_ends_with(words, end - 1)) --end;
    if (end == begin) end = begin + longest;
    ends.push_back(end);
    begin = end;
  }
  ends.push_back(words.size());
  return ends;
}

Assignment by_length(std::span<const std::size_t> lengths, std::size_t batch_items) {
  std::vector<std::uint64_t> order(lengths.size());
  std::iota(order.begin(), order.end(), std::uint64_t{0});
  std::stable_sort(order.begin(), order.end(), [&](auto a, auto b) { return lengths[a] > lengths[b]; });
  Assignment assignment;
  for (std::size_t first = 0; first < order.size(); first += batch_items) {
    const auto begin = order.begin() + static_cast<std::ptrdiff_t>(first);
    assignment.emplace_back(begin, begin + static_cast<std::ptrdiff_t>(std::min(batch_items, order.size() - first)));
  }
  return assignment;
}

Assignment round_robin(std::size_t items, std::size_t ranks) {
  Assignment assignment(std::min(items, ranks));
  for (std::size_t i = 0; i < items; ++i) assignment[i % ranks].push_back(i);
  return assignment;
}

void until_stopped(const std::function<void()>& act) {
  const Interruptible interruptible(stop_signal_came);
  try {
    act();
  } catch (const Interrupted&) {  // to be agreed on by all ranks
  }
}

}  // namespace rnnsearch::decode
