// Reads the output of `rnnsearch evaluate --json` for the report.
#pragma once

#include <array>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "rnnsearch/evaluate/sequence_accuracy.h"
#include "rnnsearch/evaluate/significance.h"
#include "rnnsearch/evaluate/word_accuracy.h"

namespace rnnsearch::report {

/// The score of a group of sentences.
struct ScoreRow {
  std::string label;  // such as "up to 10" or "all"
  std::uint64_t sentences = 0;
  bool reliable = true;
  double bleu = 0;                  // 0 to 100; 0 without sentences
  std::optional<double> low, high;  // 95% interval; empty without a bootstrap or without sentences
  std::optional<double> ratio;      // length ratio of hypothesis to reference
};

/// The metrics that an evaluation may hold in addition to BLEU, in the order of tables.
inline constexpr std::array kOtherMetrics{"chrF", "chrF++", "TER", "PSA", "LCSR", "GeoMean"};

struct OtherScore {
  std::string metric;  // one of kOtherMetrics
  double score = 0;
  std::optional<double> low, high;
  std::string signature;  // may be empty
};

struct SystemScores {
  std::string system, signature;
  ScoreRow all;
  std::optional<ScoreRow> without_unknown_words;
  std::vector<ScoreRow> buckets, by_unknown_share, by_rarest_word;  // the last two may be empty
  std::vector<evaluate::WordAccuracy> words_by_frequency;           // may be empty
  std::vector<OtherScore> others;
};

struct ScoredSentence {
  struct Hypothesis {
    std::string system, text;
    double bleu = 0;
    std::optional<double> chrf;
  };
  std::uint64_t line = 0;             // from 1
  std::optional<std::string> source;  // empty if unknown
  std::vector<std::string> references;
  std::string bucket;
  std::vector<Hypothesis> hypotheses;  // one for each system
};

struct EvaluationFile {
  std::filesystem::path path;
  std::optional<std::string> set;                // such as "test/news"
  std::string source_language, target_language;  // empty if unknown
  std::uint64_t references = 1;
  std::string length;  // the side whose words determine the length buckets: "reference", "source" or "longest"
  std::vector<std::uint64_t> edges;
  std::optional<std::uint64_t> bootstrap_samples;  // empty if there are no intervals
  evaluate::SequenceAccuracyMode sequence_accuracy = evaluate::SequenceAccuracyMode::kNone;
  std::vector<SystemScores> systems;  // at least one
  std::vector<evaluate::Comparison> comparisons;
  std::vector<ScoredSentence> sentences;
};

/// Throws Error, naming the file and the place in it, for invalid JSON, another format, a newer version, and members
/// that are missing, of the wrong type or out of range.
EvaluationFile read_evaluation(const std::filesystem::path& path);

/// Merges files with the same set, references, buckets and numbers of sentences into one with the systems side by side.
/// The others stay separate, in the order given, and so do files with sequence accuracy of whole outputs and files with
/// that of cut outputs. If two systems have the same name, the name of the file is added. Throws Error if the names are
/// still equal.
std::vector<EvaluationFile> merged(std::vector<EvaluationFile> files);

/// Throws Error if two of these differ in set, references, buckets, numbers of sentences, or in whether outputs were
/// cut for sequence accuracy.
void check_same_test(const std::vector<EvaluationFile>& rounds);

}  // namespace rnnsearch::report
