#include "rnnsearch/report/evaluation_file.h"

#include <algorithm>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>

#include "report/figures/figure.h"
#include "report/json_file.h"
#include "rnnsearch/base/error.h"
#include "rnnsearch/evaluate/evaluation.h"

namespace rnnsearch::report {
namespace {

bool has(const EvaluationFile& file, const std::string& system) {
  return std::any_of(file.systems.begin(), file.systems.end(),
                     [&](const SystemEvaluation& scores) { return scores.system == system; });
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

EvaluationFile read_evaluation(const std::filesystem::path& path) {
  const Json json = read_json_file(path, "rnnsearch-evaluation", "rnnsearch evaluate --json");
  return {evaluate::from_json(json, path.string()), path};
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
    for (const SystemEvaluation& scores : std::vector<SystemEvaluation>(file.systems)) {
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
