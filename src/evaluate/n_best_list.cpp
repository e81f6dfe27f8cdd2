#include "rnnsearch/evaluate/n_best_list.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <numeric>
#include <string_view>

#include "rnnsearch/base/error.h"
#include "rnnsearch/base/json.h"
#include "rnnsearch/base/option.h"
#include "rnnsearch/base/printable.h"

namespace rnnsearch::evaluate {
namespace {

constexpr std::string_view kBar = " ||| ";
/// The largest magnitude of a feature, so that squares and weighted sums are finite.
constexpr double kLargest = 1e100;

/// Members of the objects that translate writes, and what the other format calls them.
constexpr std::array<std::pair<const char*, const char*>, 5> kJsonFeatures{{{"log_probability", "LogProbability"},
                                                                            {"length", "Length"},
                                                                            {"length_penalty", "LengthPenalty"},
                                                                            {"coverage_penalty", "CoveragePenalty"},
                                                                            {"word_bonus", "WordBonus"}}};

/// A hypothesis, and what its record says besides.
struct Record {
  std::uint64_t line = 0;
  std::vector<std::string> names;
  Hypothesis hypothesis;
};

/// The fields of a line in Moses's format; `rest` is what follows the score, with its bars.
struct MosesFields {
  std::string_view line, text, features, score, rest;
};

MosesFields moses_fields(std::string_view record) {
  MosesFields fields;
  std::string_view left = record;
  for (std::string_view* field : {&fields.line, &fields.text, &fields.features}) {
    const std::size_t bar = left.find(kBar);
    if (bar == std::string_view::npos)
      throw Error(
          "it has fewer than the four fields 'line ||| text ||| features ||| score'; take a list that translate "
          "--n-best-format moses or json wrote");
    *field = left.substr(0, bar);
    left.remove_prefix(bar + kBar.size());
  }
  const std::size_t bar = left.find(" |||");
  fields.score = left.substr(0, bar);
  if (bar != std::string_view::npos) fields.rest = left.substr(bar);
  return fields;
}

[[noreturn]] void refuse_value(const std::string& name, const std::string& value) {
  throw Error("feature {} is {}, not a number of at most {:g}", printable(name), printable(value), kLargest);
}

double number_of(const std::string& name, const std::string& text) {
  double number = 0;
  if (!value::read(text, number) || std::abs(number) > kLargest) refuse_value(name, fmt::format("'{}'", text));
  return number;
}

/// "Name= value Name= value value"
void read_features(std::string_view text, Record& record) {
  std::string name;
  std::vector<double> values;
  const auto complete = [&] {
    if (!name.empty() && values.empty()) throw Error("feature {} has no value", printable(name));
    for (std::size_t i = 0; i < values.size(); ++i) {
      record.names.push_back(values.size() == 1 ? name : fmt::format("{}.{}", name, i + 1));
      record.hypothesis.features.push_back(values[i]);
    }
    values.clear();
  };
  while (true) {
    const std::size_t begin = text.find_first_not_of(' ');
    if (begin == std::string_view::npos) break;
    text.remove_prefix(begin);
    const std::string_view word = text.substr(0, text.find(' '));
    text.remove_prefix(word.size());
    if (word.size() > 1 && word.ends_with('=')) {
      complete();
      name = word.substr(0, word.size() - 1);
      continue;
    }
    if (name.empty())
      throw Error(
          "the third field should hold features such as 'Name= value', but begins with '{}' (a text with ||| in it "
          "needs the json format)",
          printable(std::string(word)));
    values.push_back(number_of(name, std::string(word)));
  }
  complete();
}

Record moses_record(const std::string& text) {
  const MosesFields fields = moses_fields(text);
  Record record;
  if (!value::read(std::string(fields.line), record.line))
    throw Error("its first field is '{}', not a line number from 0", printable(std::string(fields.line)));
  record.hypothesis.text = fields.text;
  read_features(fields.features, record);
  return record;
}

Record json_record(const std::string& text) {
  const Json object = parse_json(text, "JSON");
  Record record;
  const std::int64_t line = as_integer(member(object, "line"));
  if (line < 0) throw Error("its line is {}, not a line number from 0", line);
  record.line = static_cast<std::uint64_t>(line);
  record.hypothesis.text = as_string(member(object, "text"));
  const auto add = [&](const std::string& name, const Json& number) {
    if (!number.is_number() || std::abs(as_number(number)) > kLargest) refuse_value(name, json_text(number));
    record.names.push_back(name);
    record.hypothesis.features.push_back(as_number(number));
  };
  for (const auto& [member, name] : kJsonFeatures) {
    if (const Json* number = find_member(object, member)) add(name, *number);
  }
  if (const Json* further = find_member(object, "features")) {
    for (const auto& [name, number] : as_object(*further).items()) add(name, number);
  }
  return record;
}

std::string listed(std::span<const std::string> names) {
  return names.empty() ? "none" : printable(fmt::to_string(fmt::join(names, ", ")));
}

}  // namespace

NBestList read_n_best_list(std::span<const std::string> lines, const std::string& name,
                           const std::function<void()>& check_stop) {
  NBestList list;
  if (!lines.empty() && lines.front().starts_with('{')) list.format = ListFormat::kJson;
  for (std::size_t i = 0; i < lines.size(); ++i) {
    if (check_stop) check_stop();
    try {
      Record record = list.format == ListFormat::kJson ? json_record(lines[i]) : moses_record(lines[i]);
      const std::size_t next = list.lines.size();
      if (record.line != next && record.line + 1 != next)
        throw Error("it translates source line {}, but {}; take a list of whole texts, in order", record.line,
                    next == 0 ? "a list begins with line 0"
                              : fmt::format("after those of line {} line {} is expected", next - 1, next));
      if (record.line == next) list.lines.emplace_back();
      if (i == 0) {
        list.features = record.names;
        check_feature_names({}, list.features);
      } else if (record.names != list.features) {
        throw Error(
            "its features are {}, but those of line 1 are {}; all translations of a list need the same ones, in one "
            "order",
            listed(record.names), listed(list.features));
      }
      record.hypothesis.record = lines[i];
      list.lines.back().push_back(std::move(record.hypothesis));
    } catch (const Error& error) {
      throw Error("{}, line {}: {}", name, i + 1, error.what());
    }
  }
  list.features_read = list.features.size();
  return list;
}

void check_line_count(const NBestList& list, const std::string& name, std::size_t lines, const std::string& other) {
  if (list.lines.size() == lines) return;
  throw Error("{} holds translations of {} source lines, but {} has {} lines; both must belong to the same text", name,
              list.lines.size(), other, lines);
}

void check_feature_names(const NBestList& list, std::span<const std::string> added) {
  std::vector<std::string> all = list.features;
  for (const std::string& name : added) {
    if (name.empty() || name.find_first_of(" \t=|") != std::string::npos)
      throw Error("'{}' cannot be the name of a feature: it must have at least one letter, and no space, '=' or '|'",
                  printable(name));
    if (std::ranges::count(all, name) > 0)
      throw Error("two features are named {}; give each another name", printable(name));
    all.push_back(name);
  }
}

void add_feature(NBestList& list, const std::string& name, std::span<const double> values) {
  list.features.push_back(name);
  std::size_t i = 0;
  for (auto& line : list.lines) {
    for (Hypothesis& hypothesis : line) hypothesis.features.push_back(values[i++]);
  }
  assert(i == values.size());
}

std::string written(const NBestList& list, const Hypothesis& hypothesis, std::size_t rank,
                    const std::optional<double>& score) {
  if (list.format == ListFormat::kJson) {
    Json object = parse_json(hypothesis.record, "JSON");
    object["rank"] = rank + 1;
    if (score) object["score"] = *score;
    for (std::size_t k = list.features_read; k < list.features.size(); ++k)
      object["features"][list.features[k]] = hypothesis.features[k];
    return json_text(object);
  }
  const MosesFields fields = moses_fields(hypothesis.record);
  std::string features(fields.features);
  for (std::size_t k = list.features_read; k < list.features.size(); ++k) {
    features +=
        fmt::format("{}{}= {}", features.empty() ? "" : " ", list.features[k], value::write(hypothesis.features[k]));
  }
  return fmt::format("{0}{1}{2}{1}{3}{1}{4}{5}", fields.line, kBar, fields.text, features,
                     score ? value::write(*score) : std::string(fields.score), fields.rest);
}

std::vector<double> weights_of(const NBestList& list, const std::string& name, std::span<const FeatureWeight> weights) {
  std::vector<double> all(list.features.size());
  for (const auto& [feature, weight] : weights) {
    const auto found = std::ranges::find(list.features, feature);
    if (found == list.features.end())
      throw Error(
          "there is a weight for {}, but the features of {} are {}; give the models the names that the weights have",
          printable(feature), name, listed(list.features));
    all[static_cast<std::size_t>(found - list.features.begin())] = weight;
  }
  return all;
}

double weighted_sum(std::span<const double> features, std::span<const double> weights) {
  double sum = 0;
  for (std::size_t k = 0; k < features.size(); ++k) sum += features[k] * weights[k];
  return sum;
}

std::vector<std::size_t> ranking(std::span<const Hypothesis> hypotheses, std::span<const double> weights) {
  std::vector<double> sums;
  for (const Hypothesis& hypothesis : hypotheses) {
    const double sum = weighted_sum(hypothesis.features, weights);
    sums.push_back(std::isnan(sum) ? -std::numeric_limits<double>::infinity() : sum);  // of enormous weights
  }
  std::vector<std::size_t> order(hypotheses.size());
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::ranges::stable_sort(order, std::greater{}, [&](std::size_t i) { return sums[i]; });
  return order;
}

std::vector<FeatureWeight> read_weights(const std::string& text, const std::string& name) {
  const Json file = parse_json(text, name);
  const Json* const weights = find_member(file, "weights");
  if (!weights || !weights->is_object())
    throw Error("{} has no object \"weights\"; write {{\"weights\": {{\"Name\": number}}}}", name);
  std::vector<FeatureWeight> result;
  for (const auto& [feature, weight] : as_object(*weights).items()) {
    if (!weight.is_number()) throw Error("{}: the weight of {} is not a number", name, printable(feature));
    result.emplace_back(feature, as_number(weight));
  }
  return result;
}

}  // namespace rnnsearch::evaluate
