// The JSON files that the report reads: the outputs of `rnnsearch align --json` and `rnnsearch evaluate --json`, and
// sections that an experiment writes itself. align writes its file with the functions below.
#pragma once

#include <cstdint>
#include <filesystem>
#include <span>
#include <string>
#include <vector>

#include "rnnsearch/base/json.h"
#include "rnnsearch/evaluate/evaluation.h"
#include "rnnsearch/report/heat_map.h"
#include "rnnsearch/report/table.h"

namespace rnnsearch::report {

// Alignments are written sentence by sentence, because the matrices of a corpus need not fit into memory.

struct AlignedSentence {
  std::uint64_t line = 0;  // from 1
  AttentionMatrix alignment;
  double log_probability = 0;
  std::string label;  // the name of the sentence in the experiment, such as "(a)"; may be empty
};

struct AlignmentFile {
  std::filesystem::path path;
  std::string model;  // as given to align
  std::string note;   // how the sentences were selected; may be empty
  std::vector<AlignedSentence> sentences;
};

/// `note` and the `label` of each sentence may be added by hand to the output of align. Throws Error, naming the file
/// and the location in it, for invalid JSON, another format, a newer version, and matrices that are not target x source
/// or have values outside of [0, 1].
AlignmentFile read_alignment(const std::filesystem::path& path);

/// The text before the first sentence. Sentences follow, separated by commas, and then alignment_file_end.
std::string alignment_file_begin(const std::string& model);
/// `weights`: [target, source], row-major. Each is written as the shortest number that reads back as this float.
std::string alignment_file_sentence(std::uint64_t line, std::span<const std::string> source,
                                    std::span<const std::string> target, std::span<const float> weights,
                                    double log_probability);
/// `gold`: the scores against links drawn by people; null if there are none.
std::string alignment_file_end(const Json& gold);

using evaluate::BucketScore;
using evaluate::MetricScore;
using evaluate::SentenceEvaluation;
using evaluate::SystemEvaluation;

struct EvaluationFile : evaluate::Evaluation {
  std::filesystem::path path;
};

/// Throws Error, naming the file and the location in it, for invalid JSON, another format, a newer version, and members
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

// A section of the page: paragraphs, tables, and texts to compare side by side. The format of the file is in
// src/cli/commands/report.md.

struct SectionText {
  std::string name, language, text;
  std::string rest;  // the end of the text, which the page marks; may be empty
};

struct SectionSentence {
  std::string title;
  std::vector<SectionText> texts;
};

struct SectionFile {
  std::filesystem::path path;
  std::string title;
  std::vector<std::string> text;
  std::vector<Table> tables;  // as many cells in a row as columns
  std::vector<SectionSentence> sentences;
};

/// Throws Error, naming the file and the location in it, for invalid JSON, another format, a newer version, rows whose
/// number of cells is not the number of columns, and an empty section.
SectionFile read_section(const std::filesystem::path& path);

}  // namespace rnnsearch::report
