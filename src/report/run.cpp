#include "rnnsearch/report/run.h"

#include <algorithm>
#include <cmath>
#include <nlohmann/json.hpp>
#include <sstream>

#include "report/html.h"
#include "rnnsearch/base/file.h"
#include "rnnsearch/base/json.h"
#include "rnnsearch/base/line_source.h"
#include "rnnsearch/base/option.h"
#include "rnnsearch/base/printable.h"

namespace rnnsearch::report {
namespace {

namespace fs = std::filesystem;

constexpr double kUnknown = std::numeric_limits<double>::quiet_NaN(), kMostSeconds = 1e12;
constexpr std::uint64_t kMostUpdates = 1'000'000'000'000'000;

std::vector<std::pair<std::string, std::string>> read_config(const fs::path& path) {
  auto config = read_ini(read_text_file(path), path.string());
  for (auto& [name, value] : config) name = drawable(name), value = drawable(value);
  return config;
}

double number_of(const JsonReader& record, const char* name) {
  constexpr double kMost = std::numeric_limits<double>::max();
  double number = kUnknown;
  record.if_any(name, number, -kMost, kMost);
  return number;
}

class Log {
 public:
  explicit Log(Run& run) : run_(run) {}

  void see(const JsonReader& record) {
    std::string event;
    std::uint64_t update = 0;
    record("event", event);
    record("update", update);
    // A run may resume or stop before its first update.
    record.check(update >= (event == "update" ? 1 : 0) && update < kMostUpdates, "has no valid number of updates");
    if (record.has("time")) run_.logged = time_of(record);
    if (event == "update") {
      see_update(record, update);
    } else if (event == "validation") {
      LoggedValidation validation{
          update, 0, number_of(record, "loss_per_word"), number_of(record, "bleu"), false, number_of(record, "share")};
      record.if_any("best", validation.best);
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
      std::string reason;
      record.if_any("reason", reason);
      run_.stopped = drawable(reason);
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
  /// What base/printable.h's utc() wrote.
  static std::time_t time_of(const JsonReader& record) {
    std::string text;
    record("time", text);
    std::tm date{};
    const char* const end = ::strptime(text.c_str(), "%Y-%m-%dT%H:%M:%SZ", &date);
    record.check(end != nullptr && *end == '\0', "has a time that is none");
    return ::timegm(&date);
  }

  void see_update(const JsonReader& record, std::uint64_t update) {
    LoggedUpdate line;
    line.update = update;
    for_each_figure(line, [&](const char* name, auto& figure) {
      if constexpr (std::is_same_v<decltype(figure), double&>) {
        figure = number_of(record, name);
        const bool time = std::string_view(name).ends_with("seconds");
        record.check(!time || !(figure < 0 || figure > kMostSeconds), "has a time that is none");
      } else {
        record.if_any(name, figure);
      }
    });
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
bool read_line(const std::string& line, const std::string& location, Log& log) try {
  const std::size_t begin = line.rfind("{\"event\"");
  const Json record = parse_json(std::string_view(line).substr(begin == line.npos ? 0 : begin), location);
  log.see({record, location});
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
