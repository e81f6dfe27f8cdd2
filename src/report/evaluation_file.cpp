#include "rnnsearch/report/evaluation_file.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>

#include "report/figure.h"
#include "report/member_reader.h"
#include "rnnsearch/base/error.h"

namespace rnnsearch::report {
namespace {

constexpr double kAnything = 1e15;

template <class Score>
void read_interval(const MemberReader& reader, double most, Score& score) {
  score.low = reader.optional_number("low", 0, most);
  score.high = reader.optional_number("high", 0, most);
  if (score.low.has_value() != score.high.has_value()) reader.refuse("has one end of an interval without the other");
}

ScoreRow row_of(const MemberReader& reader) {
  ScoreRow row;
  row.label = reader.text("label");
  row.sentences = reader.count("sentences");
  row.reliable = reader.boolean("reliable");
  if (row.sentences > 0) row.bleu = reader.number("bleu", 0, 100.001);
  read_interval(reader, 100.001, row);
  row.ratio = reader.optional_number("ratio", 0, kAnything);
  return row;
}

std::vector<ScoreRow> rows_of(const MemberReader& reader, const char* name, bool optional) {
  std::vector<ScoreRow> rows;
  reader.each(name, optional, [&](const MemberReader& row) { rows.push_back(row_of(row)); });
  return rows;
}

SystemScores system_of(const MemberReader& reader) {
  SystemScores system;
  system.system = reader.text("system");
  system.signature = reader.text("signature");
  system.all = row_of(reader.object("all"));
  if (reader.find("without_unknown_words") != nullptr) {
    system.without_unknown_words = row_of(reader.object("without_unknown_words"));
  }
  system.buckets = rows_of(reader, "buckets", false);
  system.by_unknown_share = rows_of(reader, "by_unknown_share", true);
  system.by_rarest_word = rows_of(reader, "by_rarest_word", true);
  reader.each("words_by_frequency", true, [&](const MemberReader& row) {
    const evaluate::WordAccuracy accuracy{row.text("label"), row.count("words"), row.count("hypothesis_words"),
                                          row.count("correct")};
    if (accuracy.correct > std::min(accuracy.words, accuracy.hypothesis))
      row.refuse("has more correct words than words");
    system.words_by_frequency.push_back(accuracy);
  });
  for (const char* metric : kOtherMetrics) {
    if (reader.find(metric) == nullptr) continue;
    const MemberReader other = reader.object(metric);
    OtherScore score{
        metric, other.number("score", 0, kAnything), {}, {}, other.optional_text("signature").value_or("")};
    read_interval(other, kAnything, score);
    system.others.push_back(std::move(score));
  }
  return system;
}

ScoredSentence sentence_of(const MemberReader& reader) {
  ScoredSentence sentence;
  sentence.line = reader.count("line");
  sentence.source = reader.optional_text("source");
  for (const Json& reference : *reader.array("references", false)) {
    if (!reference.is_string()) reader.refuse("has a reference that is not a text");
    sentence.references.push_back(drawable(as_string(reference)));
  }
  sentence.bucket = reader.optional_text("bucket").value_or("");
  const MemberReader systems = reader.object("systems");
  for (const auto& [name, value] : systems.json().items()) {
    const MemberReader hypothesis(value, fmt::format("{}, {}", systems.place(), drawable(name)));
    sentence.hypotheses.push_back({drawable(name), hypothesis.text("hypothesis"), hypothesis.number("bleu", 0, 100.001),
                                   hypothesis.optional_number("chrF", 0, 100.001)});
  }
  return sentence;
}

bool has(const EvaluationFile& file, const std::string& system) {
  return std::any_of(file.systems.begin(), file.systems.end(),
                     [&](const SystemScores& scores) { return scores.system == system; });
}

void rename(EvaluationFile& file, const std::string& from, const std::string& to) {
  const auto change = [&](std::string& name) {
    if (name == from) name = to;
  };
  for (auto& scores : file.systems) change(scores.system);
  for (auto& comparison : file.comparisons) {
    change(comparison.baseline);
    change(comparison.system);
  }
  for (auto& sentence : file.sentences) {
    for (auto& hypothesis : sentence.hypotheses) change(hypothesis.system);
  }
}

// Distinguishes files without a set name by their content. An empty result equals only another empty one.
std::string first_reference(const EvaluationFile& file) {
  if (file.sentences.empty() || file.sentences.front().references.empty()) return "";
  return fmt::format("{} {}", file.sentences.front().line, file.sentences.front().references.front());
}

using evaluate::SequenceAccuracyMode;

bool same_output(const EvaluationFile& a, const EvaluationFile& b) {
  return a.sequence_accuracy == b.sequence_accuracy || a.sequence_accuracy == SequenceAccuracyMode::kNone ||
         b.sequence_accuracy == SequenceAccuracyMode::kNone;
}

// Whether both files score the same sentences with the same options, as far as they record it.
bool belong_together(const EvaluationFile& a, const EvaluationFile& b) {
  const auto counts = [](const EvaluationFile& file) {
    std::vector<std::pair<std::string, std::uint64_t>> rows{{"all", file.systems.front().all.sentences}};
    for (const ScoreRow& row : file.systems.front().buckets) rows.emplace_back(row.label, row.sentences);
    return rows;
  };
  return a.set == b.set && a.references == b.references && a.length == b.length && a.edges == b.edges &&
         a.systems.front().signature == b.systems.front().signature && counts(a) == counts(b) && same_output(a, b) &&
         first_reference(a) == first_reference(b);
}

// Merges the sentences by line; sentences that only one file has stay unchanged.
void merge_sentences(std::vector<ScoredSentence>& into, std::vector<ScoredSentence> more) {
  std::map<std::uint64_t, std::size_t> place_of_line;
  for (std::size_t i = 0; i < into.size(); ++i) place_of_line.emplace(into[i].line, i);
  for (ScoredSentence& sentence : more) {
    const auto place = place_of_line.find(sentence.line);
    if (place == place_of_line.end()) {
      into.push_back(std::move(sentence));
      continue;
    }
    auto& hypotheses = into[place->second].hypotheses;
    std::move(sentence.hypotheses.begin(), sentence.hypotheses.end(), std::back_inserter(hypotheses));
  }
}

}  // namespace

EvaluationFile read_evaluation(const std::filesystem::path& path) {
  const Json json = read_json_file(path, "rnnsearch-evaluation", "rnnsearch evaluate --json");
  const MemberReader reader(json, path.string());
  EvaluationFile file;
  file.path = path;
  file.set = reader.optional_text("set");
  file.source_language = reader.optional_text("source_language").value_or("");
  file.target_language = reader.optional_text("target_language").value_or("");
  file.references = reader.count("references");
  file.length = reader.text("length");
  for (const Json& edge : *reader.array("edges", false)) {
    if (!edge.is_number() || !(as_number(edge) >= 0 && as_number(edge) < 1e15))
      reader.refuse("has an edge that is no length");
    file.edges.push_back(static_cast<std::uint64_t>(as_number(edge)));
  }
  if (const auto mode = reader.optional_text("sequence_accuracy")) {
    if (mode == "none" || !value::read(*mode, file.sequence_accuracy)) {
      reader.refuse("has a sequence_accuracy that is neither whole nor cut");
    }
  }
  if (reader.find("bootstrap") != nullptr) file.bootstrap_samples = reader.object("bootstrap").count("samples");
  reader.each("systems", false, [&](const MemberReader& system) {
    SystemScores scores = system_of(system);
    if (has(file, scores.system)) system.refuse(fmt::format("has the name {} of another system", scores.system));
    if (!file.systems.empty() && scores.buckets.size() != file.systems.front().buckets.size()) {
      system.refuse("has other buckets than the first system");
    }
    if (file.sequence_accuracy == SequenceAccuracyMode::kNone && system.find("PSA") != nullptr) {
      system.refuse(
          "has PSA, but the file does not say whether outputs were cut for sequence accuracy; make it again "
          "by rnnsearch evaluate --sequence-accuracy whole or cut");
    }
    file.systems.push_back(std::move(scores));
  });
  if (file.systems.empty()) reader.refuse("has no systems");
  reader.each("comparisons", true, [&](const MemberReader& comparison) {
    evaluate::SignificanceTest test{};
    if (!value::read(comparison.text("method"), test) || test == evaluate::SignificanceTest::kNone) {
      comparison.refuse("has a method that is neither bootstrap nor randomization");
    }
    file.comparisons.push_back({test, comparison.text("baseline"), comparison.text("system"), comparison.text("metric"),
                                comparison.text("row"), comparison.number("difference", -kAnything, kAnything),
                                comparison.optional_number("p", 0, 1), comparison.count("samples"),
                                comparison.count("seed")});
  });
  reader.each("sentences", true,
              [&](const MemberReader& sentence) { file.sentences.push_back(sentence_of(sentence)); });
  return file;
}

std::vector<EvaluationFile> merged(std::vector<EvaluationFile> files) {
  std::vector<EvaluationFile> groups;
  for (EvaluationFile& file : files) {
    const auto group = std::find_if(groups.begin(), groups.end(),
                                    [&](const EvaluationFile& other) { return belong_together(other, file); });
    if (group == groups.end()) {
      groups.push_back(std::move(file));
      continue;
    }
    for (const SystemScores& scores : std::vector<SystemScores>(file.systems)) {
      if (!has(*group, scores.system)) continue;
      const std::string apart = fmt::format("{} ({})", scores.system, drawable(file.path.stem().string()));
      if (has(*group, apart) || has(file, apart)) {
        throw Error(
            "{} and {} both score a system named {}; give them names: rnnsearch evaluate --hypotheses NAME=FILE",
            file.path, group->path, scores.system);
      }
      rename(file, scores.system, apart);
    }
    const auto move_all = [](auto& from, auto& to) { std::move(from.begin(), from.end(), std::back_inserter(to)); };
    if (group->sequence_accuracy == SequenceAccuracyMode::kNone) group->sequence_accuracy = file.sequence_accuracy;
    move_all(file.systems, group->systems);
    move_all(file.comparisons, group->comparisons);
    merge_sentences(group->sentences, std::move(file.sentences));
  }
  return groups;
}

void check_same_test(const std::vector<EvaluationFile>& rounds) {
  for (auto round = rounds.begin(); round != rounds.end(); ++round) {
    for (auto other = rounds.begin(); other != round; ++other) {
      if (belong_together(*other, *round)) continue;
      throw Error(
          "{} and {} score different sentences or use different options, so their scores cannot be averaged; score all "
          "rounds with the same options of rnnsearch evaluate",
          round->path, other->path);
    }
  }
}

}  // namespace rnnsearch::report
