#include "cli/n_best.h"

#include <charconv>
#include <nlohmann/json.hpp>
#include <utility>

#include "rnnsearch/base/error.h"
#include "rnnsearch/base/number_text.h"

namespace rnnsearch::cli {
namespace {

constexpr int kDigits = 6;

std::string moses_fields(const decode::LineTranslation& translation) {
  const decode::Score& score = translation.score;
  std::string fields = fmt::format(
      "LogProbability= {} Length= {} LengthPenalty= {} CoveragePenalty= {} WordBonus= {} ||| {} ||| ",
      fixed(score.log_probability, kDigits), score.length, fixed(score.length_penalty, kDigits),
      fixed(score.coverage_penalty, kDigits), fixed(score.word_bonus, kDigits), fixed(score.value(), kDigits));
  const char* space = "";
  for (const decode::Link& link : translation.links) {
    fields += fmt::format("{}{}-{}", std::exchange(space, " "), link.source, link.target);
  }
  fields += " ||| ";
  space = "";
  for (const float word : translation.word_scores) {
    fields += fmt::format("{}{}", std::exchange(space, " "), fixed(static_cast<double>(word), kDigits));
  }
  return fields;
}

// With as many digits as Moses's fields: further ones depend on which sentences were searched together.
Json number(double value) {
  const std::string text = fixed(value, kDigits);
  double rounded = 0;
  std::from_chars(text.data(), text.data() + text.size(), rounded);
  return rounded;
}

}  // namespace

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
