#include "rnnsearch/decode/translate_lines.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "rnnsearch/base/error.h"
#include "rnnsearch/base/signals.h"
#include "rnnsearch/comm/meet.h"
#include "rnnsearch/decode/spread.h"

namespace rnnsearch::decode {
namespace {

LineTranslation in_words(const Translator& translator, const std::vector<std::string>& source,
                         const Translation& translation, const TranslationOptions& options) {
  LineTranslation line;
  std::vector<std::string> words;
  for (std::size_t i = 0; i < translation.words.size(); ++i) {
    const WordId id = translation.words[i];
    std::string word = translator.target_vocabulary.word_in_text(id);
    if (!translation.attended.empty() && translation.attended[i] < source.size()) {
      const std::uint32_t j = translation.attended[i];
      line.links.push_back({j, static_cast<std::uint32_t>(i)});
      if (id == kUnknown && options.replace_unknown) word = source[j];
    }
    words.push_back(std::move(word));
  }
  line.text = translator.pipeline.to_text(words);
  line.score = translation.score(options.search);
  line.retried = translation.retries > 0;
  line.cut_off = !translation.finished;
  if (!options.details) {
    line.links.clear();
    return line;
  }
  line.source_words = source;
  line.words = std::move(words);
  line.word_scores = translation.word_scores;
  if (line.words.size() < line.word_scores.size()) {
    line.words.push_back(translator.target_vocabulary.word(kEnd));
  }
  return line;
}

void pack_words(Packer& packer, const std::vector<std::string>& words) {
  packer.add(std::uint64_t{words.size()});
  for (const std::string& word : words) packer.add_text(word);
}

void unpack_words(Unpacker& unpacker, std::vector<std::string>& words) {
  words.resize(unpacker.next<std::uint64_t>());
  for (std::string& word : words) word = unpacker.next_text();
}

}  // namespace

void pack(Packer& packer, const std::vector<LineTranslation>& translations) {
  packer.add(std::uint64_t{translations.size()});
  for (const LineTranslation& translation : translations) {
    packer.add_text(translation.text);
    packer.add(translation.score);
    packer.add(translation.retried);
    packer.add(translation.cut_off);
    pack_words(packer, translation.source_words);
    pack_words(packer, translation.words);
    packer.add_list(translation.word_scores);
    packer.add_list(translation.links);
  }
}

void unpack(Unpacker& unpacker, std::vector<LineTranslation>& translations) {
  translations.resize(unpacker.next<std::uint64_t>());
  for (LineTranslation& translation : translations) {
    translation.text = unpacker.next_text();
    translation.score = unpacker.next<Score>();
    translation.retried = unpacker.next<bool>();
    translation.cut_off = unpacker.next<bool>();
    unpack_words(unpacker, translation.source_words);
    unpack_words(unpacker, translation.words);
    translation.word_scores = unpacker.next_list<float>();
    translation.links = unpacker.next_list<Link>();
  }
}

std::optional<std::size_t> aligned_word(std::span<const float> weights, std::size_t words) {
  const auto most = static_cast<std::size_t>(std::max_element(weights.begin(), weights.end()) - weights.begin());
  return most < words ? std::optional(most) : std::nullopt;
}

std::vector<WordId> ids_of(const std::vector<std::string>& words, const corpus::Vocabulary& vocabulary) {
  std::vector<WordId> ids;
  for (const std::string& word : words) ids.push_back(vocabulary.id(word));
  return ids;
}

std::vector<std::vector<LineTranslation>> translate_lines(
    const Translator& translator, const InputLines& input, const TranslationOptions& options,
    const comm::Communicator& world, const std::function<void(std::size_t done, std::size_t all)>& done) {
  const bool attends = translator.ensemble.attends();
  for (const auto& [asked, option] : {std::pair{options.replace_unknown, "--replace-unknown"},
                                      {options.search.coverage_penalty != 0, "--coverage-penalty"}}) {
    if (!asked || attends) continue;
    throw Error(text_of(option, " needs a model with attention, and this one was trained with attention = none"));
  }
  if (options.replace_unknown && translator.pipeline.source_subwords) {
    throw Error("--replace-unknown is for models of words, and this one splits them into subwords; leave it out");
  }
  using Translations = std::vector<LineTranslation>;
  SearchOptions search = options.search;
  search.attended = attends && (options.replace_unknown || options.details);
  const auto translated = [&](const std::vector<const std::string*>& lines) {
    std::vector<std::vector<std::string>> words;
    Sentences source;
    for (const std::string* line : lines) {
      stop_if_signal_came();
      words.push_back(translator.pipeline.to_words(*line, corpus::Side::kSource));
      source.add(ids_of(words.back(), translator.source_vocabulary));
    }
    const auto found = translate(translator.ensemble, source, search, [&](std::size_t count) {
      if (done && world.is_root()) done(count, source.size());
      return !stop_signal_came();
    });
    std::vector<std::optional<Translations>> results(lines.size());
    for (std::size_t i = 0; i < found.size(); ++i) {
      for (const auto& translation : found[i]) {
        if (!results[i]) results[i].emplace();
        results[i]->push_back(in_words(translator, words[i], translation, options));
      }
    }
    return results;
  };
  const auto deal = in_turn(input.lines.size(), static_cast<std::size_t>(world.size()));
  const auto results = spread<std::string, Translations>(world, input.lines, deal, translated);
  std::optional<std::size_t> nan_line;
  std::vector<Translations> all;
  for (const auto& of_line : results) {
    if (of_line && std::isnan(of_line->front().score.log_probability) && !nan_line) nan_line = all.size();
    all.push_back(of_line.value_or(Translations()));
  }
  refuse_nan(world, nan_line, input.place);
  return all;
}

void refuse_nan(const comm::Communicator& world, std::optional<std::size_t> line, const LinesPlace& place) {
  double first = line ? -static_cast<double>(*line) : -std::numeric_limits<double>::infinity();
  if (world.size() > 1) world.max(std::span(&first, 1));
  if (std::isinf(first)) return;
  throw comm::AgreedError(
      text_of(place.name, ", line ", place.before + static_cast<std::size_t>(-first) + 1,
              ": the model computes NaN or infinities, because its training diverged; name a checkpoint "
              "of an earlier update, or train again with a lower learning-rate or clip-norm"));
}

void pack(Packer& packer, const WordPair& pair) {
  packer.add_list(pair.source);
  packer.add_list(pair.target);
}

void unpack(Unpacker& unpacker, WordPair& pair) {
  pair.source = unpacker.next_list<WordId>();
  pair.target = unpacker.next_list<WordId>();
}

std::vector<WordPair> word_pairs(const Translator& translator, std::span<const std::string> sources,
                                 std::span<const std::string> targets) {
  std::vector<WordPair> pairs(sources.size());
  for (std::size_t i = 0; i < sources.size(); ++i) {
    stop_if_signal_came();
    const corpus::TextPipeline& pipeline = translator.pipeline;
    pairs[i].source = ids_of(pipeline.to_words(sources[i], corpus::Side::kSource), translator.source_vocabulary);
    if (targets.empty()) continue;
    pairs[i].target = ids_of(pipeline.to_words(targets[i], corpus::Side::kTarget), translator.target_vocabulary);
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

void pack(Packer& packer, const Aligned& aligned) {
  packer.add_list(aligned.target);
  packer.add(aligned.log_probability);
  packer.add_list(aligned.alpha);
}

void unpack(Unpacker& unpacker, Aligned& aligned) {
  aligned.target = unpacker.next_list<WordId>();
  aligned.log_probability = unpacker.next<double>();
  aligned.alpha = unpacker.next_list<float>();
}

std::vector<std::optional<Aligned>> align_batch(model::Model<float>& model, std::span<const WordPair* const> batch,
                                                bool given, const SearchOptions& search) {
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
