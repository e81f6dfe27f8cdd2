#include "rnnsearch/cli/command.h"

#include <iostream>
#include <nlohmann/json.hpp>

#include "cli/options/common.h"
#include "rnnsearch/base/json.h"
#include "rnnsearch/base/printable.h"
#include "rnnsearch/corpus/corpus.h"
#include "rnnsearch/corpus/format.h"
#include "rnnsearch/model/options.h"
#include "rnnsearch/storage/sealed_file.h"
#include "rnnsearch/train/checkpoint.h"
#include "rnnsearch/train/options.h"
#include "rnnsearch/train/run_directory.h"

namespace rnnsearch::cli {
namespace {

namespace fs = std::filesystem;
using storage::File;

Json head_of(const File& file, const std::string& format) {
  Json json;
  json["format"] = format;
  json["format_version"] = file.attribute<std::int64_t>("/", "format_version");
  json["created_by"] = file.text_attribute("/", "created_by");
  for (const char* name : {"compiler", "libraries"}) {
    if (file.has_attribute("/", name)) json[name] = file.text_attribute("/", name);
  }
  const auto pipeline = corpus::read_pipeline(file);
  json["source_language"] = pipeline.source_language;
  json["target_language"] = pipeline.target_language;
  json["tokenizer"] = pipeline.tokenizer;
  json["normalization"] = pipeline.normalization;
  json["lowercase"] = pipeline.lowercase;
  if (pipeline.copies) json["copy_patterns"] = copy_patterns_of(pipeline);
  json["subwords"] = subwords_of(pipeline);
  if (!pipeline.libraries.text.empty()) json["split_with"] = pipeline.libraries.text;
  if (pipeline.source_subwords) {
    json["source_subwords"] = pipeline.source_subwords.description();
    json["target_subwords"] = pipeline.target_subwords.description();
  }
  for (const std::string side : {"source", "target"})
    json[side + "_vocabulary"] = file.shape("/vocabulary/" + side + "_count")[0];
  return json;
}

Json value_of(const File& file, const std::string& object, const std::string& name) {
  try {
    return file.text_attribute(object, name);
  } catch (const Error&) {  // a number: the file knows of which kind
  }
  try {
    return file.attribute<std::uint64_t>(object, name);
  } catch (const Error&) {
    return file.attribute<double>(object, name);
  }
}

Json of_checkpoint(const File& file) {
  Json json = head_of(file, "rnnsearch-checkpoint");
  json["update"] = file.attribute<std::uint64_t>("/", "update");
  if (file.has_attribute("/", "average_of")) json["average_of"] = file.text_attribute("/", "average_of");
  json["moving_average"] = file.exists("/average");
  train::Config config;
  for (const std::string& name : file.attributes("/config")) config[name] = file.text_attribute("/config", name);
  json["system"] = model::system_of(train::model_options_of(config));
  auto parameters = train::check_parameters(file, "parameters", config).parameters;
  std::ranges::sort(parameters, [](const auto& a, const auto& b) { return a.name < b.name; });
  std::uint64_t count = 0;
  Json shapes = Json::object();
  for (const model::Parameter& parameter : parameters) {
    shapes[parameter.name] = parameter.shape;
    count += parameter.count();
  }
  json["parameter_count"] = count;
  json["parameters"] = std::move(shapes);
  for (const std::string& name : file.attributes("/config")) json["config"][name] = value_of(file, "/config", name);
  for (const std::string& name : file.attributes("/state")) json["state"][name] = value_of(file, "/state", name);
  return json;
}

Json history_of(const File& file) {
  Json history = Json::object();
  const auto table = [&](const std::string& group, std::initializer_list<const char*> columns) {
    Json rows = Json::array();
    const auto updates = file.read<std::uint64_t>(group + "/update");
    std::vector<std::vector<double>> values;
    for (const char* column : columns) {
      values.push_back(file.read<double>(group + "/" + column));
      if (values.back().size() == updates.size()) continue;
      throw Error("checkpoint: {} at {}/{} has {} values for {} updates; use another copy or the previous checkpoint",
                  file.name(), group, column, values.back().size(), updates.size());
    }
    for (std::size_t i = 0; i < updates.size(); ++i) {
      Json row;
      row["update"] = updates[i];
      std::size_t k = 0;
      for (const char* column : columns) row[column] = values[k++][i];
      rows.push_back(std::move(row));
    }
    return rows;
  };
  history["updates"] = table("/history", {"loss_per_word", "learning_rate", "target_words_per_second"});
  history["validations"] = table("/history/validation", {"loss_per_word", "bleu"});
  return history;
}

std::string text_of_value(const Json& value) {
  if (value.is_string()) return as_string(value);
  if (!value.is_array()) return json_text(value);
  std::string text = "[";
  for (const Json& item : value) text += (text.size() > 1 ? ", " : "") + json_text(item);
  return text + "]";
}

// Members one a line, objects indented below their name; history as columns.
void print(const Json& json, const std::string& indent) {
  for (const auto& [name, value] : as_object(json).items()) {
    if (value.is_array() && !value.empty() && value.front().is_object()) {
      std::cout << indent << name << "\n" << indent << " ";
      for (const auto& [column, _] : value.front().items()) std::cout << " " << column;
      std::cout << "\n";
      for (const Json& row : value) {
        std::cout << indent << " ";
        for (const auto& [column, cell] : as_object(row).items()) {
          std::cout << " "
                    << (cell.is_null()       ? fmt::format("{:>{}}", "-", column.size())
                        : column == "update" ? fmt::format("{:{}.0f}", as_number(cell), column.size())
                                             : fmt::format("{:{}.5g}", as_number(cell), column.size()));
        }
        std::cout << "\n";
      }
    } else if (value.is_object()) {
      std::cout << indent << name << "\n";
      print(value, indent + "  ");
    } else {
      std::string label = name;
      label.resize(std::max<std::size_t>(label.size() + 1, 26), ' ');
      std::cout << indent << label << text_of_value(value) << "\n";
    }
  }
}

struct Settings {
  fs::path path;
  bool verify = true, history = false, hash = false;
  fs::path json;
  std::size_t pairs = 3;
};

void declare(Options& options, Settings& s) {
  options.add("file", s.path, kBasic, kInputRun, kRequired,
              "corpus, checkpoint, or run directory; the option's name may be left out");
  options.add("verify", s.verify,
              "verify the digest of the whole file first; --verify=false checks only the beginning and the end of the "
              "file, which is immediate");
  options.add("pairs", s.pairs, Bounds{.to = 1e6},
              "number of training pairs of a corpus to print as plain text, starting with the first");
  options.add("history", s.history, "also print the losses and scores of the training so far");
  options.add("hash", s.hash,
              "print only the digest of the parameters that translate, or of a corpus: of its vocabularies and "
              "training text. It is the same wherever the same command computed it");
  add_json(options, s.json, "what the file holds");
  options.first_argument_of("file");
}

void check(const Options& options, Settings& s) {
  options.refuse(s.hash, {"json", "history", "pairs"}, "--hash prints the digest alone; leave --{0} out");
}

int work(const Options& options, Settings& s, const comm::Communicator&) {
  const File file = train::read_newest(
      [path = s.path] { return train::checkpoint_of(path); },
      [&](const fs::path& found) {
        s.path = found;
        return storage::open_sealed(found, "file",
                                    s.verify && !s.hash ? storage::SealCheck::kDigest : storage::SealCheck::kFooter);
      });
  const std::string format = storage::format_of(file);
  if (s.hash) {  // whoever reads the values verifies the file
    std::cout << (format == corpus::kCorpusFormat
                      ? corpus::Corpus(s.path, s.verify ? corpus::Verify::kDigest : corpus::Verify::kSkip).fingerprint()
                      : train::digest_of(train::load_model(s.path).model))
              << "\n";
    return 0;
  }
  Json result;
  if (format == corpus::kCorpusFormat) {
    if (s.history) throw Error("--history is for checkpoints, and {} is a corpus", s.path);
    result = head_of(file, format);
    corpus::describe_corpus(corpus::Corpus(s.path, corpus::Verify::kSkip), s.pairs, result);
  } else if (format == "rnnsearch-checkpoint") {
    if (options.given("pairs")) throw Error("--pairs is for corpora, and {} is a checkpoint", s.path);
    result = of_checkpoint(file);
    if (s.history && !file.exists("/history"))
      throw Error("{} is a mean of checkpoints, which has no history; look at one of those", s.path);
    if (s.history) result["history"] = history_of(file);
  } else {
    throw Error("{} says that its format is '{}', which this version does not know", s.path, format);
  }
  if (s.verify) result["verified"] = true;
  const auto text = [&] {
    const Json shown = with_texts(result, printable);  // names and texts of a file that somebody sent, for a terminal
    if (format != corpus::kCorpusFormat) return print(shown, "");
    try {
      corpus::print_corpus(shown, std::cout);
    } catch (const Error& error) {  // a number beyond all that is counted
      throw Error("{} is not a valid corpus ({}); use another copy of it", s.path, error.what());
    }
  };
  print_results(
      s.json, [&] { return result; }, text);
  return 0;
}

}  // namespace

std::unique_ptr<Invocation> make_inspect() {
  return invocation_of<Settings>(
      {"inspect",
       "Shows what a corpus holds (pairs, words, lengths, unknown words, which pairs were dropped and why, sets) or "
       "what a checkpoint holds (system, parameters with their shapes, options, progress of the training).",
       "corpus.h5"},
      declare, check, work);
}

}  // namespace rnnsearch::cli
