#include "cli/translation.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <span>

#include "rnnsearch/base/ceil_div.h"
#include "rnnsearch/base/error.h"
#include "rnnsearch/base/file.h"
#include "rnnsearch/base/json.h"
#include "rnnsearch/base/signals.h"
#include "rnnsearch/comm/meet.h"
#include "rnnsearch/kernels/parallel.h"

namespace rnnsearch::cli {
namespace {

namespace fs = std::filesystem;

// The source word that the decoder looked at most when it wrote word `i`; none when it was </s>. The source has `words`
// words and `Tx` annotations.
std::optional<std::size_t> aligned_word(const decode::Translation& translation, std::size_t i, std::size_t words,
                                        std::size_t Tx) {
  const auto row = translation.alignment.begin() + static_cast<std::ptrdiff_t>(i * Tx);
  const auto most = std::max_element(row, row + static_cast<std::ptrdiff_t>(Tx));
  const auto j = static_cast<std::size_t>(most - row);
  return j < words ? std::optional(j) : std::nullopt;
}

LineTranslation in_words(const train::LoadedModel& loaded, const std::vector<std::string>& source,
                         const decode::Translation& translation, const TranslationOptions& options) {
  std::vector<std::string> words;
  const std::size_t Tx = loaded.model.options().source_length(source.size());
  for (std::size_t i = 0; i < translation.words.size(); ++i) {
    const WordId id = translation.words[i];
    words.push_back(loaded.target_vocabulary.word_in_text(id));
    if (id == kUnknown && options.replace_unknown) {
      if (const auto j = aligned_word(translation, i, source.size(), Tx)) words.back() = source[*j];
    }
  }
  const std::size_t length = std::max<std::size_t>(1, translation.words.size() + (translation.finished ? 1 : 0));
  return {loaded.pipeline.to_text(words),
          translation.log_probability / (options.search.normalize ? static_cast<double>(length) : 1.0),
          translation.retries > 0, !translation.finished};
}

std::vector<std::string> strings_of(const Json& array) {
  std::vector<std::string> strings;
  for (const Json& item : array.items()) strings.push_back(item.string());
  return strings;
}

}  // namespace

void add_translation_options(Options& options, TranslationOptions& translation) {
  options.group("Search");
  decode::SearchOptions& search = translation.search;
  options.add("beam", search.beam,
              {.help = "beam width, the number of hypotheses kept at each step; 1 is greedy search, wider beams take "
                       "longer. The paper does not state its beam width",
               .low = 1,
               .high = 1000});
  options.add(
      "retry-below", search.retry_below,
      {.help =
           "if no hypothesis ends within the maximum length, search again: first with unknown words allowed (after "
           "--no-unknown), then with twice the beam while the beam is below this number; 500 is the limit in the "
           "paper's released code. If nothing ends in any search, the translation is cut off. 0: never search again",
       .low = 0,
       .high = 1000});
  options.add("normalize", search.normalize,
              {.help = "rank hypotheses by log-probability divided by length, instead of by log-probability"});
  options.add(
      "no-unknown", search.no_unknown,
      {.help = "give unknown words probability zero, so that no translation has one, unless --retry-below needs them"});
  options.add("replace-unknown", translation.replace_unknown,
              {.help = "write the source word with the largest attention weight in place of \u2047, the unknown word"});
  options.add("minimum-length-ratio", search.minimum_length_ratio,
              {.help = "shortest translation, as a multiple of the source length", .low = 0, .high = 100});
  options.add("maximum-length-ratio", search.maximum_length_ratio,
              {.help = "longest translation, as a multiple of the source length", .low = 0.01, .high = 100});
  options.add("batch-sentences", search.batch_sentences,
              {.help = "number of sentences that a rank searches together; affects memory and speed, not the result",
               .low = 1,
               .high = 100000});
}

std::vector<WordId> ids_of(const std::vector<std::string>& words, const corpus::Vocabulary& vocabulary) {
  std::vector<WordId> ids;
  for (const std::string& word : words) ids.push_back(vocabulary.id(word));
  return ids;
}

std::vector<std::vector<LineTranslation>> translate_lines(
    train::LoadedModel& loaded, InputLines input, const TranslationOptions& options, const comm::Communicator& world,
    const std::function<void(std::size_t done, std::size_t all)>& done) {
  if (options.replace_unknown && loaded.model.options().attention == model::Attention::kNone) {
    throw Error("--replace-unknown needs a model with attention, and this one was trained with attention = none");
  }
  if (options.replace_unknown && loaded.pipeline.source_subwords) {
    throw Error("--replace-unknown is for models of words, and this one splits them into subwords; leave it out");
  }
  const auto ranks = static_cast<std::size_t>(world.size()), rank = static_cast<std::size_t>(world.rank());
  std::vector<std::string>& lines = input.lines;
  if (ranks > 1) {  // as JSON: a line may hold any byte but a line end
    Json message = Json::array();
    for (std::string& line : lines) message.push_back(std::move(line));
    std::string text = message.dump();
    world.broadcast(text);
    lines = strings_of(Json::parse(text, "lines to translate"));
  }
  std::vector<std::vector<std::string>> words;  // of this rank's share
  Sentences source;
  decode::SearchOptions search = options.search;
  search.alignments = options.replace_unknown;
  std::vector<std::vector<decode::Translation>> found;
  try {
    const kernels::Interruptible interruptible(stop_signal_came);
    for (std::size_t i = rank; i < lines.size(); i += ranks) {
      stop_if_signal_came();
      words.push_back(loaded.pipeline.to_words(lines[i], corpus::Side::kSource));
      source.add(ids_of(words.back(), loaded.source_vocabulary));
    }
    found = decode::translate(loaded.model, source, search, [&](std::size_t count) {
      if (done && world.is_root()) done(count, source.size());
      return !stop_signal_came();
    });
  } catch (const kernels::Interrupted&) {  // before the first was translated
    found.resize(lines.size() > rank ? ceil_div(lines.size() - rank, ranks) : 0);
  }
  const auto nan = std::find_if(found.begin(), found.end(),
                                [](const auto& of_line) { return !of_line.empty() && of_line.front().is_nan(); });
  std::optional<std::size_t> nan_line;
  if (nan != found.end()) nan_line = rank + ranks * static_cast<std::size_t>(nan - found.begin());
  refuse_nan(world, nan_line, input.place);
  std::vector<std::vector<LineTranslation>> own;
  for (std::size_t i = 0; i < found.size(); ++i) {
    auto& translations = own.emplace_back();
    for (const auto& translation : found[i]) translations.push_back(in_words(loaded, words[i], translation, options));
  }
  if (ranks == 1) return own;

  Json message = Json::array();
  for (const auto& translations : own) {
    Json of_line = Json::array();
    for (const auto& translation : translations) {
      of_line.push_back(Json::array(
          {Json(translation.text), Json(translation.score), Json(translation.retried), Json(translation.cut_off)}));
    }
    message.push_back(std::move(of_line));
  }
  const auto gathered = world.gather(message.dump());
  if (!world.is_root()) return {};
  std::vector<std::vector<LineTranslation>> all(lines.size());
  for (std::size_t from = 0; from < ranks; ++from) {
    std::size_t i = from;
    const Json parsed = Json::parse(gathered[from], text_of("translations of rank ", from));
    for (const Json& of_line : parsed.items()) {
      for (const Json& translation : of_line.items()) {
        const auto& fields = translation.items();
        all[i].push_back({fields[0].string(), fields[1].number(), fields[2].boolean(), fields[3].boolean()});
      }
      i += ranks;
    }
  }
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

}  // namespace rnnsearch::cli
