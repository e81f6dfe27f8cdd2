// What translate reads, a file or lines as they come, and the lines that it writes.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "rnnsearch/base/json.h"
#include "rnnsearch/base/line_source.h"
#include "rnnsearch/base/option.h"
#include "rnnsearch/corpus/text_lines.h"
#include "rnnsearch/decode/translate_lines.h"

namespace rnnsearch::cli {

enum class InputFormat { kPlain, kJson };
constexpr auto names_of(InputFormat) { return in_order<InputFormat>({"plain", "json"}); }

/// What a line of JSON asks.
struct Request {
  std::shared_ptr<const Json> id{};            // a string or a number; null: none
  std::string error{};                         // why it asks nothing, a sentence that names it; empty if it does
  std::string source{}, prefix{}, required{};  // phrases with tabs between them; empty if there is an error
};

struct Portion {
  std::vector<std::string> lines;       // empty where there is an error
  std::vector<Request> requests{};      // of JSON, one for each line; otherwise none
  std::vector<std::string> prefixes{};  // of JSON or a file of prefixes, one for each line; otherwise none
  std::vector<std::string> required{};  // likewise, phrases with tabs between them
};

/// Files that have a line for each line of the text; empty paths: none.
struct LineFiles {
  std::filesystem::path prefixes, required;
};

/// Why a line of JSON may have no "prefix" or "require", a sentence; empty: it may.
struct Refusals {
  std::string prefix, require;
};

class TranslationInput {
 public:
  /// A text; standard input if the path is empty.
  TranslationInput(const std::filesystem::path& path, const LineFiles& files, const LineLimit& limit);
  /// Standard input, line by line.
  TranslationInput(InputFormat format, Refusals refusals, const LineLimit& limit);

  std::string name() const { return path_.empty() ? "standard input" : path_.string(); }
  /// At most `count` further lines. Of a text there are fewer only at the end. Of arriving lines there are those that
  /// have arrived, one at least, and none at the end. Throws Error (file, line, byte) for what is no text, but only
  /// when the arriving lines before it were returned; of JSON such a line is a Request with an error.
  Portion next(std::size_t count);

 private:
  // A file with a line for each line of the text.
  struct Beside {
    std::string option;  // "--prefix"
    std::filesystem::path path;
    LineSource lines;
  };

  static std::optional<Beside> open_beside(const std::string& option, const std::filesystem::path& path,
                                           const LineLimit& limit);
  Portion arrived(std::size_t count);
  std::vector<std::string> lines_beside(std::optional<Beside>& file, std::size_t lines, std::size_t count);

  std::filesystem::path path_;
  InputFormat format_ = InputFormat::kPlain;
  Refusals refusals_{};
  LineSource lines_;
  bool arriving_ = false;  // the lines are answered as they come
  std::optional<Beside> prefixes_, required_;
  std::size_t given_ = 0;  // lines, so far
  Line next_;              // the next arrived line, if it has a problem
};

/// {"id": ..., "translation": "..."}, with "n_best", the n-best entries, if wanted; {"id": ..., "error": "..."} for a
/// request with an error. Without the line end. `line` counts from 0. With n-best entries LineTranslation must have its
/// details.
std::string answer_line(const Request& request, std::size_t line, bool n_best,
                        const std::vector<decode::LineTranslation>& translations);

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
constexpr auto names_of(NBestFormat) { return in_order<NBestFormat>({"plain", "moses", "json"}); }

/// Without the line end. `line` and `rank` (0: the best) count from 0; JSON has ranks from 1.
std::string n_best_line(NBestFormat format, std::size_t line, std::size_t rank,
                        const decode::LineTranslation& translation);

/// The object of the JSON format, with the same numbers of line and rank.
Json n_best_entry(std::size_t line, std::size_t rank, const decode::LineTranslation& translation);

}  // namespace rnnsearch::cli
