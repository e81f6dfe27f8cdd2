#include "cli/prepare.h"

#include <cstdio>
#include <iostream>
#include <sstream>

#include "cli/progress.h"
#include "rnnsearch/base/error.h"
#include "rnnsearch/base/json.h"
#include "rnnsearch/corpus/prepare.h"

namespace rnnsearch::cli {
namespace {

namespace fs = std::filesystem;

// NAME:SOURCE:REFERENCE[:REFERENCE]...
corpus::EvaluationFiles evaluation_files(const std::string& text) {
  std::vector<std::string> parts;
  std::istringstream stream(text);
  for (std::string part; std::getline(stream, part, ':');) parts.push_back(part);
  bool complete = parts.size() >= 3;
  for (const std::string& part : parts) complete = complete && !part.empty();
  if (!complete)
    throw Error("--test is '" + text + "' but must be NAME:SOURCE:REFERENCE, a name and two files or more");
  return {parts[0], parts[1], {parts.begin() + 2, parts.end()}};
}

std::string grouped(std::uint64_t number) {
  const std::string digits = std::to_string(number);
  std::string text;
  for (std::size_t i = 0; i < digits.size(); ++i) {
    if (i > 0 && (digits.size() - i) % 3 == 0) text += ',';
    text += digits[i];
  }
  return text;
}

void print(const corpus::PrepareReport& report, const fs::path& output) {
  const auto& dropped = report.dropped;
  std::cout << "pairs read     " << grouped(report.pairs_read) << "\n"
            << "pairs kept     " << grouped(report.pairs_kept) << "\n"
            << "pairs dropped  " << grouped(dropped.total()) << ": empty source " << grouped(dropped.empty_source)
            << ", empty target " << grouped(dropped.empty_target) << ", source too long "
            << grouped(dropped.long_source) << ", target too long " << grouped(dropped.long_target) << "\n";
  const auto side = [](const char* name, const corpus::PrepareReport::Side& s) {
    char coverage[16];
    std::snprintf(coverage, sizeof coverage, "%.2f%%", 100 * s.coverage());
    std::cout << name << grouped(s.words) << " words, " << grouped(s.distinct_words) << " distinct; vocabulary "
              << grouped(s.vocabulary) << " covers " << coverage << ", " << grouped(s.unknown_words) << " are <unk>\n";
  };
  side("source         ", report.source);
  side("target         ", report.target);
  for (const auto& [name, pairs] : report.sets) {
    std::string label = name;
    label.resize(std::max<std::size_t>(label.size() + 1, 15), ' ');
    std::cout << label << grouped(pairs) << " pairs\n";
  }
  std::cout << "fingerprint    " << report.fingerprint << "\nwritten to     " << output.string() << "\n";
}

Json to_json(const corpus::PrepareReport& report, const fs::path& output) {
  const auto side = [](const corpus::PrepareReport::Side& s) {
    Json json;
    json["words"] = s.words;
    json["distinct_words"] = s.distinct_words;
    json["vocabulary"] = s.vocabulary;
    json["unknown_words"] = s.unknown_words;
    json["coverage"] = s.coverage();
    return json;
  };
  Json json;
  json["output"] = output.string();
  json["fingerprint"] = report.fingerprint;
  json["pairs_read"] = report.pairs_read;
  json["pairs_kept"] = report.pairs_kept;
  json["dropped"]["empty_source"] = report.dropped.empty_source;
  json["dropped"]["empty_target"] = report.dropped.empty_target;
  json["dropped"]["long_source"] = report.dropped.long_source;
  json["dropped"]["long_target"] = report.dropped.long_target;
  json["source"] = side(report.source);
  json["target"] = side(report.target);
  json["sets"] = Json::object();
  for (const auto& [name, pairs] : report.sets) json["sets"][name] = pairs;
  return json;
}

}  // namespace

int run_prepare(const Arguments& arguments) {
  corpus::PrepareOptions settings;
  fs::path dev_source, dev_target;
  std::vector<std::string> tests;
  bool json = false;
  Options options(
      "prepare",
      "Makes one HDF5 corpus of parallel text: tokenises, cuts vocabularies, drops empty and long pairs, and "
      "keeps the raw references that BLEU is scored against. Files are UTF-8, one sentence a line.");
  options.group("Text");
  options.add("train-source", settings.train_source, {.help = "training text", .value = "FILE", .required = true});
  options.add("train-target", settings.train_target, {.help = "its translation", .value = "FILE", .required = true});
  options.add("dev-source", dev_source, {.help = "development set, to choose the best checkpoint by", .value = "FILE"});
  options.add("dev-target", dev_target, {.help = "its translation", .value = "FILE"});
  options.add("test", tests,
              {.help = "a test set; further references of it follow after further colons", .value = "NAME:SRC:REF"});
  options.add("output", settings.output, {.help = "the corpus to write", .value = "FILE", .required = true});
  options.add("overwrite", settings.overwrite, {.help = "replace a file that stands there, once the new one is whole"});
  options.group("Words");
  options.add("source-language", settings.pipeline.source_language, {.help = "a name for the record", .value = "NAME"});
  options.add("target-language", settings.pipeline.target_language, {.help = "likewise", .value = "NAME"});
  options.add(
      "tokenizer", settings.pipeline.tokenizer,
      {.help = "words: splits punctuation from words, reversibly; none: the text is tokenised, white space splits it",
       .choices = {"words", "none"}});
  options.add("lowercase", settings.pipeline.lowercase, {.help = "lower-case everything"});
  options.add(
      "source-words", settings.source_words,
      {.help = "size of the source vocabulary, 3 special symbols included [the 30000 most frequent words, or all "
               "if there are fewer]",
       .low = 4,
       .high = 1e8});
  options.add("target-words", settings.target_words, {.help = "likewise of the target", .low = 4, .high = 1e8});
  options.add("vocabulary-of", settings.vocabulary_of,
              {.help = "a corpus whose vocabularies are taken in place of new ones, so that systems trained on "
                       "different selections of a text know the same words",
               .value = "FILE"});
  options.add("max-length", settings.max_length,
              {.help = "training pairs with more words on either side are dropped", .low = 1, .high = 1e6});
  options.group("Report");
  options.add("json", json, {.help = "report as JSON"});
  if (!options.parse(arguments)) return 0;
  if (dev_source.empty() != dev_target.empty()) {
    throw Error(text_of(dev_source.empty() ? "--dev-source" : "--dev-target",
                        " is missing: a development set needs both its sides"));
  }
  if (!dev_source.empty()) settings.dev = corpus::EvaluationFiles{"dev", dev_source, {dev_target}};
  for (const std::string& test : tests) settings.tests.push_back(evaluation_files(test));
  if (!settings.vocabulary_of.empty() && (settings.source_words || settings.target_words)) {
    throw Error(text_of(settings.source_words ? "--source-words" : "--target-words",
                        " is not for --vocabulary-of, which says what the vocabularies are; leave one of them out"));
  }

  std::optional<Progress> progress(std::in_place);
  const auto report = corpus::prepare(settings, [&](const corpus::PrepareProgress& p) {
    const auto percent = p.bytes_in_all == 0 ? 100 : 100 * p.bytes / p.bytes_in_all;
    progress->show(text_of("[prepare] ", p.pass == 1 ? "counting words: " : "writing: ", percent, "%, ",
                           grouped(p.pairs), " pairs"));
  });
  progress.reset();
  if (json) {
    std::cout << to_json(report, settings.output).dump(2) << "\n";
  } else {
    print(report, settings.output);
  }
  return 0;
}

}  // namespace rnnsearch::cli
