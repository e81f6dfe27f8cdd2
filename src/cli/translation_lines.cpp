#include "cli/translation_lines.h"

#include <fmt/format.h>
#include <unistd.h>

#include <nlohmann/json.hpp>

#include "rnnsearch/base/error.h"
#include "rnnsearch/base/file.h"
#include "rnnsearch/base/printable.h"
#include "rnnsearch/base/signals.h"
#include "rnnsearch/corpus/text_lines.h"

namespace rnnsearch::cli {
namespace {

/// The text of a member, in which line ends count as spaces. `kind`: what the member should be.
std::string checked_text(const Json& text, const char* member, const char* kind, const std::string& location) {
  if (!text.is_string()) throw Error("{}: its \"{}\" is not a {}", location, member, kind);
  std::string result = as_string(text);
  if (result.find('\0') != std::string::npos) throw Error("{}: its \"{}\" has a NUL character", location, member);
  std::ranges::replace(result, '\n', ' ');
  return result;
}

/// Empty if the object has no such member.
std::string text_in(const Json& object, const char* member, const std::string& location) {
  const Json* const found = find_member(object, member);
  return found ? checked_text(*found, member, "string", location) : "";
}

/// The phrases of a member "require", a list of strings, with tabs between them; empty if it has none.
std::string phrases_in(const Json& object, const std::string& location) {
  const Json* const found = find_member(object, "require");
  if (!found) return "";
  if (!found->is_array()) throw Error("{}: its \"require\" is not a list of strings", location);
  std::string phrases;
  for (const Json& phrase : *found) {
    std::string text = checked_text(phrase, "require", "list of strings", location);
    std::ranges::replace(text, '\t', ' ');
    phrases += (phrases.empty() ? "" : "\t") + text;
  }
  return phrases;
}

/// `location` names the line.
Request request_of(const Line& line, const std::string& location, const Refusals& refusals) {
  std::shared_ptr<const Json> id;
  try {
    const auto refuse = [&](const std::string& why) { throw Error("{}: {}", location, why); };
    if (!line.problem.empty()) refuse(line.problem);
    const Json object = parse_json(line.text, location);
    const Json* const given = find_member(object, "id");
    if (given && (given->is_string() || given->is_number())) id = std::make_shared<const Json>(*given);
    if (!find_member(object, "source"))
      refuse("not an object with a \"source\"; expected {\"id\": 7, \"source\": \"a sentence\"}");
    if (given && !given->is_null() && !id) refuse("its \"id\" is neither a string nor a number");
    Request request{id, "", text_in(object, "source", location), text_in(object, "prefix", location),
                    phrases_in(object, location)};
    if (!request.prefix.empty() && !refusals.prefix.empty()) refuse(refusals.prefix);
    if (!request.required.empty() && !refusals.require.empty()) refuse(refusals.require);
    return request;
  } catch (const Error& error) {
    return {id, error.what()};
  }
}

std::unique_ptr<ByteStream> standard_input(const std::string& name) {
  return std::make_unique<WaitingInput>(STDIN_FILENO, name, stop_if_signal_came);
}

constexpr int kDigits = 6;

std::string moses_fields(const decode::LineTranslation& translation) {
  const decode::Score& score = translation.score;
  std::vector<std::string> links, words;
  for (const decode::Link& link : translation.links) links.push_back(fmt::format("{}-{}", link.source, link.target));
  for (const float word : translation.word_scores) words.push_back(fixed(static_cast<double>(word), kDigits));
  return fmt::format(
      "LogProbability= {} Length= {} LengthPenalty= {} CoveragePenalty= {} WordBonus= {} ||| {} ||| {} ||| {}",
      fixed(score.log_probability, kDigits), score.length, fixed(score.length_penalty, kDigits),
      fixed(score.coverage_penalty, kDigits), fixed(score.word_bonus, kDigits), fixed(score.value(), kDigits),
      fmt::to_string(fmt::join(links, " ")), fmt::to_string(fmt::join(words, " ")));
}

// With as many digits as Moses's fields: further ones depend on which sentences were searched together.
Json number(double value) {
  const std::string text = fixed(value, kDigits);
  double rounded = 0;
  std::from_chars(text.data(), text.data() + text.size(), rounded);
  return rounded;
}

}  // namespace

std::optional<TranslationInput::Beside> TranslationInput::open_beside(const std::string& option,
                                                                      const std::filesystem::path& path,
                                                                      const LineLimit& limit) {
  if (path.empty()) return std::nullopt;
  return Beside{option, path, LineSource(corpus::open_text(path, stop_if_signal_came), path.string(), limit)};
}

TranslationInput::TranslationInput(const std::filesystem::path& path, const LineFiles& files, const LineLimit& limit)
    : path_(path),
      lines_(path.empty() ? standard_input(name()) : corpus::open_text(path, stop_if_signal_came), name(), limit),
      prefixes_(open_beside("--prefix", files.prefixes, limit)),
      required_(open_beside("--require", files.required, limit)) {}

TranslationInput::TranslationInput(InputFormat format, Refusals refusals, const LineLimit& limit)
    : format_(format), refusals_(std::move(refusals)), lines_(standard_input(name()), name(), limit), arriving_(true) {}

Portion TranslationInput::next(std::size_t count) {
  if (arriving_) return arrived(count);
  Portion portion;
  portion.lines = lines_.next(count);
  portion.prefixes = lines_beside(prefixes_, portion.lines.size(), count);
  portion.required = lines_beside(required_, portion.lines.size(), count);
  given_ += portion.lines.size();
  return portion;
}

// Of the next lines; fewer than `count` are the last ones.
std::vector<std::string> TranslationInput::lines_beside(std::optional<Beside>& file, std::size_t lines,
                                                        std::size_t count) {
  if (!file) return {};
  auto read = file->lines.next(lines);
  if (read.size() < lines || (lines < count && !file->lines.next(1).empty())) {
    const bool few = read.size() < lines;
    throw Error(
        "{} {} has {}{} lines but {} has {}; line i of one must belong to line i of the other, and be empty for {}",
        file->option, file->path, few ? "" : "more than ", given_ + read.size(), name(), few ? "more" : "no more",
        file->option == "--prefix" ? "no prefix" : "no phrases");
  }
  return read;
}

Portion TranslationInput::arrived(std::size_t count) {
  if (!next_.problem.empty()) lines_.refuse(next_);
  Portion portion;
  for (Line line; portion.lines.size() < count && lines_.next(line, portion.lines.empty());) {
    if (format_ == InputFormat::kJson) {
      const Request request = request_of(line, fmt::format("{}, line {}", name(), line.number), refusals_);
      portion.requests.push_back(request);
      portion.lines.push_back(request.source);
      if (refusals_.prefix.empty()) portion.prefixes.push_back(request.prefix);
      if (refusals_.require.empty()) portion.required.push_back(request.required);
    } else if (line.problem.empty()) {
      portion.lines.push_back(std::move(line.text));
    } else {
      if (portion.lines.empty()) lines_.refuse(line);
      next_ = line;
      break;
    }
    ++given_;
  }
  return portion;
}

std::string answer_line(const Request& request, std::size_t line, bool n_best,
                        const std::vector<decode::LineTranslation>& translations) {
  Json answer = Json::object({{"id", request.id ? *request.id : Json()}});
  if (!request.error.empty()) {
    answer["error"] = request.error;
    return json_text(answer);
  }
  answer["translation"] = translations.front().text;
  if (translations.front().unmet > 0) answer["unmet"] = translations.front().unmet;
  for (std::size_t rank = 0; n_best && rank < translations.size(); ++rank)
    answer["n_best"].push_back(n_best_entry(line, rank, translations[rank]));
  return json_text(answer);
}

Json n_best_entry(std::size_t line, std::size_t rank, const decode::LineTranslation& translation) {
  const decode::Score& score = translation.score;
  Json word_scores = Json::array(), links = Json::array();
  for (const float word : translation.word_scores) word_scores.push_back(number(static_cast<double>(word)));
  for (const decode::Link& link : translation.links) links.push_back(Json::array({link.source, link.target}));
  return Json::object({{"line", line},
                       {"rank", rank + 1},
                       {"text", translation.text},
                       {"score", number(score.value())},
                       {"log_probability", number(score.log_probability)},
                       {"length", score.length},
                       {"length_penalty", number(score.length_penalty)},
                       {"coverage_penalty", number(score.coverage_penalty)},
                       {"word_bonus", number(score.word_bonus)},
                       {"finished", !translation.cut_off},
                       {"parts", translation.parts},
                       {"source_words", translation.source_words},
                       {"words", translation.words},
                       {"word_scores", std::move(word_scores)},
                       {"alignment", std::move(links)}});
}

std::string n_best_line(NBestFormat format, std::size_t line, std::size_t rank,
                        const decode::LineTranslation& translation) {
  if (format == NBestFormat::kJson) return json_text(n_best_entry(line, rank, translation));
  const std::string begin = fmt::format("{} ||| {} ||| ", line, translation.text);
  if (format == NBestFormat::kMoses) return begin + moses_fields(translation);
  return begin + fixed(translation.score.value(), kDigits);
}

}  // namespace rnnsearch::cli
