#include "rnnsearch/report/input_files.h"

#include <iterator>
#include <nlohmann/json.hpp>

#include "report/html.h"
#include "rnnsearch/base/line_source.h"
#include "rnnsearch/base/printable.h"
#include "rnnsearch/base/version.h"

namespace rnnsearch::report {
namespace {

/// Reads a file and checks its "format" and its "format_version", which must be 1. Names and texts are converted with
/// `drawable` of html.h. maker: the command that writes such files, for errors. Throws Error.
Json read_json_file(const std::filesystem::path& path, const std::string& format, const std::string& maker) {
  const std::string location = path.string();
  Json json = with_texts(parse_json(read_text_file(path), location), drawable);
  const Json* found = find_member(json, "format");
  const std::string name = found != nullptr && found->is_string() ? as_string(*found) : "";
  if (name != format)
    throw Error("{} is not a file of the format {} ({}); make one with {}", location, format,
                name.empty() ? "it names no format" : "its format is " + name, maker);
  std::uint64_t version = 0;
  JsonReader(json, location)("format_version", version);
  if (version != 1)
    throw Error("{} has format_version {}, but this version of rnnsearch reads only 1; {} with {}", location, version,
                version > 1 ? "use a newer rnnsearch" : "make it again", maker);
  return json;
}

/// The words without U+FFED, with which the tokenizer marks where words touch.
void read_words(const JsonReader& words, std::vector<std::string>& into) {
  words.read(into);
  for (std::string& word : into) replace_all(word, "\uFFED", "");
}

// The shortest number that reads back as this float, not the many digits of its double.
Json json_of(float weight) {
  double number = 0;
  value::read(value::write(weight), number);
  return number;
}

bool has(const EvaluationFile& file, const std::string& system) {
  return std::ranges::count(file.systems, system, &SystemEvaluation::system) > 0;
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
    for (auto& translation : sentence.systems) change(translation.system);
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
    for (const BucketScore& row : file.systems.front().buckets) rows.emplace_back(row.label, row.sentences);
    return rows;
  };
  return a.set == b.set && a.references == b.references && a.length == b.length && a.edges == b.edges &&
         a.systems.front().signature == b.systems.front().signature && counts(a) == counts(b) && same_output(a, b) &&
         first_reference(a) == first_reference(b);
}

// Merges the sentences by line; sentences that only one file has stay unchanged.
void merge_sentences(std::vector<SentenceEvaluation>& into, std::vector<SentenceEvaluation> more) {
  std::map<std::uint64_t, std::size_t> index_of_line;
  for (std::size_t i = 0; i < into.size(); ++i) index_of_line.emplace(into[i].line, i);
  for (SentenceEvaluation& sentence : more) {
    const auto known = index_of_line.find(sentence.line);
    if (known == index_of_line.end()) {
      into.push_back(std::move(sentence));
      continue;
    }
    std::move(sentence.systems.begin(), sentence.systems.end(), std::back_inserter(into[known->second].systems));
  }
}

}  // namespace

static void fields(const JsonReader& visit, AlignedSentence& sentence) {
  visit("line", sentence.line);
  visit.if_any("log_probability", sentence.log_probability);
  visit.if_any("label", sentence.label);
  AttentionMatrix& alignment = sentence.alignment;
  read_words(visit.member("source"), alignment.source);
  read_words(visit.member("target"), alignment.target);
  std::vector<std::vector<double>> rows;
  visit("alignment", rows, 0.0, 1 + 1e-4);
  visit.check(rows.size() == alignment.target.size(), "has more or fewer rows of weights than target words");
  for (const auto& row : rows) {
    visit.check(row.size() == alignment.source.size(), "has a row with more or fewer weights than source words");
    alignment.weights.insert(alignment.weights.end(), row.begin(), row.end());
  }
}

AlignmentFile read_alignment(const std::filesystem::path& path) {
  const Json json = read_json_file(path, "rnnsearch-alignment", "rnnsearch align --json");
  const JsonReader visit(json, path.string());
  AlignmentFile file;
  file.path = path;
  visit.if_any("model", file.model);
  visit.if_any("note", file.note);
  visit("sentences", file.sentences);
  visit.check(!file.sentences.empty(), "has no sentences");
  return file;
}

std::string alignment_file_begin(const std::string& model) {
  Json head = Json::object(
      {{"format", "rnnsearch-alignment"}, {"format_version", 1}, {"created_by", kCreatedBy}, {"model", model}});
  std::string text = json_text(head);
  text.back() = ',';
  return text + "\n\"sentences\":[";
}

std::string alignment_file_sentence(std::uint64_t line, std::span<const std::string> source,
                                    std::span<const std::string> target, std::span<const float> weights,
                                    double log_probability) {
  Json rows = Json::array();
  for (std::size_t i = 0; i < target.size(); ++i) {
    Json row = Json::array();
    for (const float weight : weights.subspan(i * source.size(), source.size())) row.push_back(json_of(weight));
    rows.push_back(std::move(row));
  }
  Json result = Json::object();
  result["line"] = line;
  result["source"] = source;
  result["target"] = target;
  result["alignment"] = std::move(rows);
  result["log_probability"] = log_probability;
  return json_text(result);
}

std::string alignment_file_end(const Json& gold) {
  return "\n]" + (gold.is_null() ? "" : ",\n\"gold\":" + json_text(gold)) + "}\n";
}

EvaluationFile read_evaluation(const std::filesystem::path& path) {
  const Json json = read_json_file(path, "rnnsearch-evaluation", "rnnsearch evaluate --json");
  return {evaluate::from_json(json, path.string()), path};
}

std::vector<EvaluationFile> merged(std::vector<EvaluationFile> files) {
  std::vector<EvaluationFile> groups;
  for (EvaluationFile& file : files) {
    const auto group = std::ranges::find_if(groups, [&](const auto& other) { return belong_together(other, file); });
    if (group == groups.end()) {
      groups.push_back(std::move(file));
      continue;
    }
    for (const SystemEvaluation& scores : std::vector<SystemEvaluation>(file.systems)) {
      if (!has(*group, scores.system)) continue;
      const std::string apart = fmt::format("{} ({})", scores.system, drawable(file.path.stem().string()));
      if (has(*group, apart) || has(file, apart))
        throw Error(
            "{} and {} both score a system named {}; give them names: rnnsearch evaluate --hypotheses NAME=FILE",
            file.path, group->path, scores.system);
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

static void fields(const JsonReader& visit, Column& column) {
  visit("title", column.title);
  visit.if_any("number", column.number);
}

static void fields(const JsonReader& visit, Cell& cell) { visit.read(cell.text); }

static void fields(const JsonReader& visit, Table& table) {
  visit("caption", table.caption);
  visit("columns", table.columns);
  visit.check(!table.columns.empty(), "has no columns");
  visit("rows", table.rows);
  for (const auto& row : table.rows)
    visit.check(row.size() == table.columns.size(), "has a row with more or fewer cells than there are columns");
  visit.if_any("notes", table.notes);
}

static void fields(const JsonReader& visit, SectionText& text) {
  visit("name", text.name);
  visit.if_any("language", text.language);
  visit("text", text.text);
  visit.if_any("rest", text.rest);
}

static void fields(const JsonReader& visit, SectionSentence& sentence) {
  visit("title", sentence.title);
  visit("texts", sentence.texts);
}

SectionFile read_section(const std::filesystem::path& path) {
  const Json json = read_json_file(path, "rnnsearch-section", "the pipeline that wrote it (pipelines/paper is one)");
  const JsonReader visit(json, path.string());
  SectionFile section;
  section.path = path;
  visit("title", section.title);
  visit.if_any("text", section.text);
  visit.if_any("tables", section.tables);
  visit.if_any("sentences", section.sentences);
  visit.check(!section.text.empty() || !section.tables.empty() || !section.sentences.empty(),
              "has neither text nor tables nor sentences");
  return section;
}

}  // namespace rnnsearch::report
