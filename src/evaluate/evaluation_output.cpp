#include "rnnsearch/evaluate/evaluation.h"

#include <concepts>
#include <nlohmann/json.hpp>

#include "rnnsearch/base/printable.h"
#include "rnnsearch/base/version.h"

namespace rnnsearch::evaluate {
namespace {

constexpr double kZero = 0, kPercent = 100.001, kAnything = 1e15;

template <class T, class Of>
concept Is = std::same_as<std::remove_const_t<T>, Of>;

class Writer {
 public:
  static constexpr bool kReads = false;

  Json json = Json::object();

  template <class T, class... More>
  static Json json_of(const T& value, const More&... more) {
    if constexpr (NamedEnum<T>) {
      return rnnsearch::name_of(value);
    } else if constexpr (requires(Writer writer) { fields(writer, value, more...); }) {
      Writer writer;
      fields(writer, value, more...);
      return std::move(writer.json);
    } else if constexpr (requires { value.has_value(); }) {
      return value ? json_of(*value, more...) : Json();
    } else if constexpr (std::is_arithmetic_v<T> || std::convertible_to<T, std::string>) {
      return value;
    } else {
      Json list = Json::array();
      for (const auto& item : value) list.push_back(json_of(item, more...));
      return list;
    }
  }

  template <class T, class... More>
  void operator()(const char* name, const T& value, const More&... more) {
    json[name] = json_of(value, more...);
  }
  void when(bool there, const char* name, const auto& value, const auto&... more) {
    json[name] = there ? json_of(value, more...) : Json();
  }
  void known(bool there, const char* name, const auto& value, const auto&... more) {
    when(there, name, value, more...);
  }
  template <class T>
  void if_any(const char* name, const T& value) {
    if constexpr (requires { value.empty(); }) {
      if (value.empty()) return;
    } else if (value == T{}) {
      return;
    }
    json[name] = json_of(value);
  }
  template <class T>
  void by_name(const char* name, const std::vector<T>& values, std::string T::*key) {
    Json members = Json::object();
    for (const T& value : values) members[value.*key] = json_of(value);
    json[name] = std::move(members);
  }
  void computed(const char* name, const auto& value) { json[name] = json_of(value); }
  void check(bool, const char*) {}
};

// The lists of members below serve JsonReader, which fills the structs, and Writer. `known` members need not be there
// when read.

/// `act` for each metric; a reader first finds out which ones there are.
template <class Visit>
void each_metric(Visit& visit, auto& metrics, const auto& act) {
  if constexpr (Visit::kReads) {
    metrics.clear();
    for (const char* name : kOtherMetrics) {
      if (visit.has(name)) metrics.emplace_back().metric = name;
    }
  }
  for (auto& metric : metrics) act(metric);
}

void interval(auto& visit, auto& score, double most) {
  visit("low", score.low, kZero, most);
  visit("high", score.high, kZero, most);
  visit.check(score.low.has_value() == score.high.has_value(), "has one end of an interval without the other");
}

}  // namespace

/// scored: whether there were sentences to score. in_row: rows of sentences do not repeat the signature.
void fields(auto& visit, Is<MetricScore> auto& score, bool scored, bool in_row) {
  visit.when(scored, "score", score.score, kZero, kAnything);
  interval(visit, score, kAnything);
  if (!in_row) visit.if_any("signature", score.signature);
}

void fields(auto& visit, Is<BucketScore> auto& row) {
  visit("label", row.label);
  visit("sentences", row.sentences);
  visit.computed("reliable", row.reliable());
  const bool scored = row.sentences > 0;
  auto& [score, precisions, brevity_penalty, ratio, statistics] = row.bleu;
  visit.when(scored, "bleu", score, kZero, kPercent);
  interval(visit, row, kPercent);
  visit.known(scored, "precisions", precisions, kZero, kPercent);
  visit.known(scored, "brevity_penalty", brevity_penalty, kZero, kPercent);
  visit.when(scored, "ratio", ratio, kZero, kAnything);
  visit.known(true, "correct", statistics.correct);
  visit.known(true, "total", statistics.total);
  visit.known(true, "hypothesis_length", statistics.hypothesis_length);
  visit.known(true, "reference_length", statistics.reference_length);
  each_metric(visit, row.others, [&](auto& other) { visit(other.metric.c_str(), other, scored, true); });
}

void fields(auto& visit, Is<WordAccuracy> auto& words) {
  const auto if_any = [](auto count, double share) { return count > 0 ? std::optional(share) : std::nullopt; };
  visit("label", words.label);
  visit("words", words.words);
  visit("hypothesis_words", words.hypothesis);
  visit("correct", words.correct);
  visit.check(words.correct <= std::min(words.words, words.hypothesis), "has more correct words than words");
  visit.computed("precision", if_any(words.hypothesis, words.precision()));
  visit.computed("recall", if_any(words.words, words.recall()));
  visit.computed("f1", if_any(words.words + words.hypothesis, words.f1()));
}

void fields(auto& visit, Is<SystemEvaluation> auto& system) {
  visit("system", system.system);
  visit("signature", system.signature);
  visit.if_any("model", system.model);
  visit("all", system.all);
  visit("without_unknown_words", system.without_unknown_words);
  visit("buckets", system.buckets);
  const BucketScore* const best = best_bucket(system);
  visit.computed("best_bucket", best == nullptr ? std::nullopt : std::optional(best->label));
  std::vector<std::optional<double>> shares;
  for (std::size_t b = 0; b < system.buckets.size(); ++b) shares.push_back(share_of_best(system, b));
  visit.computed("shares_of_best_bucket", shares);
  visit.if_any("by_unknown_share", system.by_unknown_share);
  visit.if_any("by_rarest_word", system.by_rarest_word);
  visit.if_any("words_by_frequency", system.words_by_frequency);
  each_metric(visit, system.all.others, [&](auto& other) { visit(other.metric.c_str(), other, true, false); });
}

void fields(auto& visit, Is<Comparison> auto& comparison) {
  visit("method", comparison.test);
  visit.check(comparison.test != SignificanceTest::kNone, "has \"none\" as method of a comparison");
  visit("baseline", comparison.baseline);
  visit("system", comparison.system);
  visit("metric", comparison.metric);
  visit("row", comparison.row);
  visit("difference", comparison.difference, -kAnything, kAnything);
  visit("p", comparison.p, 0.0, 1.0);
  visit("samples", comparison.samples);
  visit("seed", comparison.seed);
}

void fields(auto& visit, Is<SentenceEvaluation::OfSystem> auto& translation) {
  visit("hypothesis", translation.hypothesis);
  visit("bleu", translation.bleu, kZero, kPercent);
  each_metric(visit, translation.others,
              [&](auto& other) { visit(other.metric.c_str(), other.score, kZero, kAnything); });
}

void fields(auto& visit, Is<SentenceEvaluation> auto& sentence) {
  visit("line", sentence.line);
  visit("source", sentence.source);
  visit("references", sentence.references);
  visit.known(true, "bucket", sentence.bucket);
  visit("unknown_share", sentence.unknown_share, 0.0, 1.0);
  visit.by_name("systems", sentence.systems, &SentenceEvaluation::OfSystem::system);
}

void fields(auto& visit, Is<Bootstrap> auto& bootstrap) {
  visit("samples", bootstrap.samples);
  visit.known(true, "seed", bootstrap.seed);
}

void fields(auto& visit, Is<Evaluation> auto& evaluation) {
  visit("set", evaluation.set);
  visit("references", evaluation.references);
  visit("length", evaluation.length);
  visit.known(true, "length_tokenizer", evaluation.length_tokenizer);
  visit("edges", evaluation.edges);
  visit("bootstrap", evaluation.bootstrap);
  visit("systems", evaluation.systems);
  visit.if_any("source_language", evaluation.source_language);
  visit.if_any("target_language", evaluation.target_language);
  visit.if_any("sequence_accuracy", evaluation.sequence_accuracy);
  visit.if_any("comparisons", evaluation.comparisons);
  visit.if_any("sentences", evaluation.sentences);
}

Json to_json(const Evaluation& evaluation) {
  Writer writer{Json::object({{"format", "rnnsearch-evaluation"}, {"format_version", 1}, {"created_by", kCreatedBy}})};
  fields(writer, evaluation);
  return std::move(writer.json);
}

Evaluation from_json(const Json& json, const std::string& location) {
  const JsonReader reader(json, location);
  Evaluation evaluation;
  reader.read(evaluation);
  const JsonReader systems = reader.member("systems");
  systems.check(!evaluation.systems.empty(), "is empty");
  for (std::size_t s = 0; s < evaluation.systems.size(); ++s) {
    const JsonReader reader_of_system = systems.item(s);
    const SystemEvaluation &system = evaluation.systems[s], &first = evaluation.systems.front();
    for (std::size_t other = 0; other < s; ++other)
      reader_of_system.check(evaluation.systems[other].system != system.system, "has the name of another system");
    reader_of_system.check(system.buckets.size() == first.buckets.size(), "has other buckets than the first system");
    reader_of_system.check(evaluation.sequence_accuracy != SequenceAccuracyMode::kNone || !reader_of_system.has("PSA"),
                           "has PSA, but the file does not say whether outputs were cut for sequence accuracy; make it "
                           "again by rnnsearch evaluate --sequence-accuracy whole or cut");
  }
  return evaluation;
}

namespace {

constexpr std::string_view kMarks = "ox+#@%&$";
static_assert(kMarks.size() == kChartSystems);
constexpr std::size_t kWidth = 80, kMargin = 6;  // columns of the chart, and of the y axis with its labels
constexpr std::size_t kHeight = 18;              // approximate number of rows

/// The y axis from 0 to intervals * step, with rows_per_interval rows for each interval.
struct Scale {
  double step = 1;
  std::size_t intervals = 1, rows_per_interval = kHeight;

  explicit Scale(double most) {
    constexpr double kMostIntervals = 7;
    for (const double candidate : {0.1, 0.2, 0.5, 1.0, 2.0, 5.0, 10.0, 20.0}) {
      step = candidate;
      if (most <= kMostIntervals * step) break;
    }
    intervals = std::max<std::size_t>(1, static_cast<std::size_t>(std::ceil(most / step - 1e-9)));
    rows_per_interval = std::max<std::size_t>(1, (kHeight + intervals / 2) / intervals);
  }
  std::size_t rows() const { return intervals * rows_per_interval; }  // rows above the row of 0
  /// The row of a score, counted from the top.
  std::size_t row_of(double bleu) const {
    const double above = bleu / step * static_cast<double>(rows_per_interval);
    return rows() - std::min(rows(), static_cast<std::size_t>(std::llround(above)));
  }
  std::string label(std::size_t interval) const {
    return fixed(step * static_cast<double>(interval), step < 1 ? 1 : 0);
  }
};

/// Writes a text at a column; writing past the end of a line extends it.
void put(std::string& line, std::size_t column, std::string_view text) {
  line.resize(std::max(line.size(), column + text.size()), ' ');
  std::copy(text.begin(), text.end(), line.begin() + static_cast<std::ptrdiff_t>(column));
}
void put_centred(std::string& line, std::size_t column, std::string_view text) {
  put(line, column - std::min(column, text.size() / 2), text);
}
std::string without_end(const std::string& line) { return line.substr(0, line.find_last_not_of(' ') + 1) + "\n"; }

/// "<=10" for "up to 10", ">60" for "over 60".
std::string short_label(const std::string& label) {
  if (label.starts_with("up to ")) return fmt::format("<={}", label.substr(6));
  if (label.starts_with("over ")) return fmt::format(">{}", label.substr(5));
  return label;
}

bool unreliable(const BucketScore& bucket) { return bucket.sentences > 0 && !bucket.reliable(); }

}  // namespace

std::string render_length_chart(const Evaluation& evaluation) {
  const auto& systems = evaluation.systems;
  const auto& buckets = systems.front().buckets;
  assert(systems.size() <= kChartSystems);
  double most = 0;
  for (const SystemEvaluation& system : systems) {
    for (const BucketScore& bucket : system.buckets)
      most = std::max(most, bucket.sentences > 0 ? bucket.bleu.score : 0);
  }
  const Scale scale(most);

  // A slot is so wide that points drawn beside each other do not reach the next bucket.
  std::size_t slot = std::max((kWidth - kMargin) / buckets.size(), systems.size() + 1);
  std::vector<std::string> labels;
  const auto label_all = [&](bool shortened) {
    labels.clear();
    std::size_t longest = 0;
    for (const BucketScore& bucket : buckets) {
      labels.push_back((shortened ? short_label(bucket.label) : bucket.label) + (unreliable(bucket) ? "*" : ""));
      longest = std::max(longest, labels.back().size());
    }
    return longest + 1;
  };
  if (label_all(false) > slot) slot = std::max(slot, label_all(true));
  const auto centre = [&](std::size_t bucket) { return kMargin + bucket * slot + slot / 2; };

  const std::size_t axis = scale.rows(), width = labels.size() * slot;
  std::vector<std::string> rows(axis + 3);
  for (std::size_t row = 0; row <= axis; ++row) put(rows[row], kMargin - 1, "|");
  for (std::size_t interval = 0; interval <= scale.intervals; ++interval) {
    const std::string label = scale.label(interval);
    put(rows[axis - interval * scale.rows_per_interval], kMargin - 2 - label.size(), fmt::format("{} +", label));
  }
  put(rows[axis], kMargin, std::string(width, '-'));
  for (std::size_t b = 0; b < labels.size(); ++b) {
    put(rows[axis], centre(b), "+");
    put_centred(rows[axis + 1], centre(b), labels[b]);
  }
  put_centred(rows[axis + 2], kMargin + width / 2,
              evaluation.length == LengthOf::kLongest ? "words of the longer side"
                                                      : fmt::format("{} words", name_of(evaluation.length)));
  for (const SystemEvaluation& system : systems) {  // the curves
    for (std::size_t b = 0; b + 1 < buckets.size(); ++b) {
      const BucketScore &from = system.buckets[b], &to = system.buckets[b + 1];
      if (from.sentences == 0 || to.sentences == 0) continue;
      for (std::size_t column = centre(b) + 1; column < centre(b + 1); ++column) {
        const double way = static_cast<double>(column - centre(b)) / static_cast<double>(slot);
        std::string& row = rows[scale.row_of(from.bleu.score + way * (to.bleu.score - from.bleu.score))];
        if (column >= row.size() || row[column] == ' ' || row[column] == '-') put(row, column, ".");
      }
    }
  }
  for (std::size_t b = 0; b < buckets.size(); ++b) {  // the points
    std::vector<std::size_t> marks_in(axis + 1);      // number of marks in each row
    for (std::size_t s = 0; s < systems.size(); ++s) {
      const BucketScore& score = systems[s].buckets[b];
      if (score.sentences == 0) continue;
      const std::size_t row = scale.row_of(score.bleu.score);
      put(rows[row], centre(b) + marks_in[row]++, kMarks.substr(s, 1));
    }
  }

  std::string text = "BLEU by sentence length\n\n";
  for (const std::string& row : rows) text += without_end(row);
  text += "\n";
  for (std::size_t s = 0; s < systems.size(); ++s) {
    const BucketScore* const best = best_bucket(systems[s]);
    text += fmt::format("{} {}", kMarks.substr(s, 1), printable(systems[s].system));
    if (best == nullptr) {
      text += ": no sentences\n";
      continue;
    }
    text += fmt::format(": BLEU as a share of its best bucket's ({}: {:.2f})\n", best->label, best->bleu.score);
    std::string shares;
    for (std::size_t b = 0; b < buckets.size(); ++b) {
      const auto share = share_of_best(systems[s], b);
      put_centred(shares, centre(b), share ? fmt::format("{:.0f}%", 100 * *share) : "-");
    }
    text += without_end(shares);
  }
  if (std::ranges::none_of(buckets, unreliable)) return text;
  const bool others = std::ranges::any_of(buckets, [](const auto& bucket) { return bucket.reliable(); });
  return text + fmt::format("* fewer than {} sentences: too few for a reliable score{}\n", kReliableSentences,
                            others ? ", and never taken as the best bucket" : "");
}

}  // namespace rnnsearch::evaluate
