// Lines of n-best lists.
#pragma once

#include <array>
#include <cstddef>
#include <string>

#include "rnnsearch/base/json.h"
#include "rnnsearch/base/option.h"
#include "rnnsearch/decode/translate_lines.h"

namespace rnnsearch::cli {

/// plain: `line ||| text ||| score`.
///
/// moses: `line ||| text ||| features ||| score ||| alignment ||| word scores`. The first five fields are those of
/// Moses (-n-best-list with -print-alignment-info-in-n-best); features are "Name= value", and
/// score = LogProbability / LengthPenalty + CoveragePenalty + WordBonus. The alignment is SOURCE-TARGET, counted from 0
/// in the words of the model. Word scores are natural logarithms of probabilities, the last one that of </s>.
///
/// json: an object on one line, with the same numbers, and with the words that word scores and alignment count.
///
/// LineTranslation must have its details, unless the format is plain.
enum class NBestFormat { kPlain, kMoses, kJson };
constexpr auto names_of(NBestFormat) {
  return std::array{Named{NBestFormat::kPlain, "plain"}, Named{NBestFormat::kMoses, "moses"},
                    Named{NBestFormat::kJson, "json"}};
}

/// Without the line end. `line` and `rank` (0: the best) count from 0; JSON has ranks from 1.
std::string n_best_line(NBestFormat format, std::size_t line, std::size_t rank,
                        const decode::LineTranslation& translation);

/// The object of the JSON format, with the same numbers of line and rank.
Json n_best_entry(std::size_t line, std::size_t rank, const decode::LineTranslation& translation);

}  // namespace rnnsearch::cli
