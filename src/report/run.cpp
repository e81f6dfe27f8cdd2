#include "rnnsearch/report/run.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <nlohmann/json.hpp>
#include <sstream>

#include "report/figure.h"
#include "rnnsearch/base/error.h"
#include "rnnsearch/base/file.h"
#include "rnnsearch/base/ini.h"
#include "rnnsearch/base/line_source.h"
#include "rnnsearch/base/number_text.h"

namespace rnnsearch::report {
namespace {

namespace fs = std::filesystem;

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN();

std::vector<std::pair<std::string, std::string>> read_config(const fs::path& path) {
  auto config = read_ini(read_text_file(path), path.string());
  for (auto& [name, value] : config) name = drawable(name), value = drawable(value);
  return config;
}

/// A record of the log, whose numbers are checked when they are read.
class Record {
 public:
  Record(Json json, std::string place) : json_(std::move(json)), place_(std::move(place)) {}

  std::string event() const {
    const Json* value = find_member(json_, "event");
    if (value == nullptr || !value->is_string()) refuse("no \"event\"");
    return as_string(*value);
  }
  std::uint64_t update() const {
    const Json* value = find_member(json_, "update");
    const double number = value != nullptr && value->is_number() ? as_number(*value) : -1;
    const double least = event() == "update" ? 1 : 0;  // a run may resume or stop before its first update
    if (!(number >= least && number < 1e15) || number != std::floor(number))
      refuse("no valid number of updates as \"update\"");
    return static_cast<std::uint64_t>(number);
  }
  double number(std::string_view name) const {
    const Json* value = find_member(json_, name);
    if (value == nullptr || value->is_null()) return kUnknown;
    if (!value->is_number()) refuse(fmt::format("a \"{}\" that is not a number", name));
    return as_number(*value);
  }
  void read(std::string_view name, double& figure) const {
    figure = number(name);
    if (name.ends_with("seconds") && (figure < 0 || figure > 1e12))
      refuse(fmt::format("a \"{}\" that is not a time", name));
  }
  void read(std::string_view name, std::uint64_t& count) const {
    const double value = number(name);
    if (value < 0 || value > 1e15) refuse(fmt::format("a \"{}\" that is not a count", name));
    count = std::isnan(value) ? 0 : static_cast<std::uint64_t>(value);
  }
  /// What base/number_text.h's utc() wrote, if it is there.
  std::optional<std::time_t> time() const {
    const Json* value = find_member(json_, "time");
    if (value == nullptr) return {};
    std::tm date{};
    const char* const end =
        value->is_string() ? ::strptime(as_string(*value).c_str(), "%Y-%m-%dT%H:%M:%SZ", &date) : nullptr;
    if (end == nullptr || *end != '\0') refuse("a \"time\" that is not one");
    return ::timegm(&date);
  }
  const Json& json() const { return json_; }

 private:
  [[noreturn]] void refuse(const std::string& what) const {
    throw Error("{}: the record has {}; this is not a log of rnnsearch train", place_, what);
  }

  Json json_;
  std::string place_;
};

class Log {
 public:
  explicit Log(Run& run) : run_(run) {}

  void see(const Record& record) {
    const std::string event = record.event();
    const std::uint64_t update = record.update();
    if (const auto time = record.time()) run_.logged = time;
    if (event == "update") {
      see_update(record, update);
    } else if (event == "validation") {
      const Json* best = find_member(record.json(), "best");
      const LoggedValidation validation{update,
                                        0,
                                        record.number("loss_per_word"),
                                        record.number("bleu"),
                                        best != nullptr && *best == true,
                                        record.number("share")};
      drop(run_.validations, update);
      run_.validations.push_back(validation);
      run_.stopped.reset();
    } else if (event == "resume") {
      drop(run_.updates, update + 1);
      drop(run_.validations, update + 1);
      std::erase_if(skipped_, [&](std::uint64_t skip) { return skip > update; });
      run_.resumed.push_back(update);
      run_.stopped.reset();
    } else if (event == "skip") {
      if (std::find(skipped_.begin(), skipped_.end(), update) == skipped_.end()) skipped_.push_back(update);
    } else if (event == "stop") {
      const Json* reason = find_member(record.json(), "reason");
      run_.stopped = reason != nullptr && reason->is_string() ? drawable(as_string(*reason)) : "";
    }
    // Unknown events of later versions are ignored.
  }

  void finish() {
    run_.skipped_updates = skipped_.size();
    double elapsed = 0;
    std::uint64_t before = 0;
    for (LoggedUpdate& line : run_.updates) {
      line.updates = line.update - before;
      if (std::isfinite(line.seconds)) elapsed += static_cast<double>(line.updates) * line.seconds;
      line.elapsed_seconds = elapsed;
      before = line.update;
    }
    for (LoggedValidation& validation : run_.validations) validation.elapsed_seconds = elapsed_at(validation.update);
  }

  bool empty() const { return run_.updates.empty(); }
  std::uint64_t last_update() const { return run_.updates.back().update; }

 private:
  void see_update(const Record& record, std::uint64_t update) {
    LoggedUpdate line;
    line.update = update;
    for_each_figure(line, [&](const char* name, auto& figure) { record.read(name, figure); });
    drop(run_.updates, update);
    drop(run_.validations, update);
    std::erase_if(skipped_, [&](std::uint64_t skip) { return skip > update; });
    run_.stopped.reset();
    run_.updates.push_back(line);
  }

  template <class Line>
  static void drop(std::vector<Line>& lines, std::uint64_t from) {
    while (!lines.empty() && lines.back().update >= from) lines.pop_back();
  }

  // Interpolates between the neighbouring logged updates.
  double elapsed_at(std::uint64_t update) const {
    const LoggedUpdate* before = nullptr;
    for (const LoggedUpdate& line : run_.updates) {
      if (line.update < update) {
        before = &line;
        continue;
      }
      const double share = static_cast<double>(line.update - update) / static_cast<double>(line.updates);
      const double begin = before == nullptr ? 0 : before->elapsed_seconds;
      return line.elapsed_seconds - share * (line.elapsed_seconds - begin);
    }
    return before == nullptr ? 0 : before->elapsed_seconds;
  }

  Run& run_;
  std::vector<std::uint64_t> skipped_;
};

/// Reads the record with which the line ends, whatever is in front of it; an attempt may have begun to write behind an
/// incomplete line.
bool read_line(const std::string& line, const std::string& place, Log& log) try {
  const std::size_t begin = line.rfind("{\"event\"");
  log.see({parse_json(std::string_view(line).substr(begin == line.npos ? 0 : begin), place), place});
  return begin == 0 || begin == line.npos;
} catch (const Error&) {
  return false;
}

void read_log(const fs::path& path, Run& run) {
  const std::string content = read_file(path);
  Log log(run);
  std::istringstream stream(content);
  std::uint64_t number = 0;
  for (std::string line; std::getline(stream, line);) {
    ++number;
    const bool being_written = stream.eof() && line.starts_with('{') && line.find('\0') == line.npos;
    if (!read_line(line, fmt::format("{}, line {}", path, number), log) && !being_written) {
      run.damaged_lines.push_back(number);
    }
  }
  if (log.empty()) {
    throw NoUpdateYet("{} has no update yet; wait until the training has logged one (its log-every){}", path,
                      run.damaged_lines.empty() ? "" : "; " + sentence_of_damage(run));
  }
  log.finish();
}

}  // namespace

std::string sentence_of_damage(const Run& run) {
  constexpr std::size_t kNamed = 5;
  const auto& lines = run.damaged_lines;
  if (lines.empty()) return "";
  std::string text = fmt::format("{} of log.jsonl {} damaged and not counted (", counted(lines.size(), "line"),
                                 lines.size() == 1 ? "is" : "are");
  for (std::size_t i = 0; i < std::min(lines.size(), kNamed); ++i)
    text += fmt::format("{}{}", i > 0 ? ", " : "line ", lines[i]);
  return text + (lines.size() > kNamed ? ", ...)" : ")");
}

Run read_run(const fs::path& path, std::string name) {
  std::error_code ignored;
  if (!fs::exists(path, ignored)) throw Error("there is no run {}; give --run a run directory", path);
  if (!fs::is_directory(path, ignored) || !fs::exists(path / "config.ini", ignored))
    throw Error("{} is not a run directory: it has no config.ini; give --run a folder that train --run created", path);
  Run run;
  run.name = drawable(name);
  run.path = path;
  run.config = read_config(path / "config.ini");
  if (fs::exists(path / "environment.json", ignored)) {
    const fs::path file = path / "environment.json";
    run.environment = std::make_shared<const Json>(parse_json(read_text_file(file), file.string()));
    if (!run.environment->is_object())
      throw Error("{} does not hold a JSON object, so it does not belong to a run", file);
  }
  if (!fs::exists(path / "log.jsonl", ignored))
    throw NoUpdateYet("{} has no log.jsonl yet; wait until the training has logged an update", path);
  read_log(path / "log.jsonl", run);
  return run;
}

}  // namespace rnnsearch::report
