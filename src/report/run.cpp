#include "rnnsearch/report/page.h"

#include <fmt/format.h>

#include <cstdlib>
#include <nlohmann/json.hpp>
#include <set>
#include <sstream>

#include "report/html.h"
#include "rnnsearch/base/file.h"
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
      skipped_.erase(skipped_.upper_bound(update), skipped_.end());
      run_.resumed.push_back(update);
      run_.stopped.reset();
    } else if (event == "skip") {
      skipped_.insert(update);
    } else if (event == "stop") {
      std::string reason;
      record.if_any("reason", reason);
      run_.stopped = reason.empty() ? "" : drawable(fmt::format("{} after update {}", reason, grouped(update)));
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
    skipped_.erase(skipped_.upper_bound(update), skipped_.end());
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
  std::set<std::uint64_t> skipped_;
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
    if (!read_line(line, fmt::format("{}, line {}", path, number), log) && !being_written)
      run.damaged_lines.push_back(number);
  }
  if (log.empty())
    throw NoUpdateYet(
        "{} has no update yet; wait until the training has logged one, or give a short training a smaller log-every{}",
        path, run.damaged_lines.empty() ? "" : "; " + sentence_of_damage(run));
  log.finish();
}

}  // namespace

std::string sentence_of_damage(const Run& run) {
  constexpr std::size_t kNamed = 5;
  const auto& lines = run.damaged_lines;
  if (lines.empty()) return "";
  return fmt::format("{} of log.jsonl {} damaged and not counted (line {}{})", counted(lines.size(), "line"),
                     lines.size() == 1 ? "is" : "are",
                     fmt::to_string(fmt::join(std::span(lines).first(std::min(lines.size(), kNamed)), ", ")),
                     lines.size() > kNamed ? ", ..." : "");
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

namespace {

constexpr std::size_t kLinesOfSpeed = 50;

double limit_of(const Run& run, std::string_view option) {
  const auto found =
      std::ranges::find(run.config, option, [](const auto& pair) { return std::string_view(pair.first); });
  return found == run.config.end() ? 0 : std::strtod(found->second.c_str(), nullptr);
}

// Eight heights, for the means of as many equal parts of the finite values as there are columns.
std::string course(const std::vector<double>& values, std::size_t columns) {
  constexpr std::array kHeights{"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  columns = std::min(columns, values.size());
  std::vector<double> means;
  for (std::size_t i = 0; i < columns; ++i) {
    const std::size_t first = values.size() * i / columns, last = values.size() * (i + 1) / columns;
    double sum = 0;
    for (std::size_t k = first; k < last; ++k) sum += values[k];
    means.push_back(sum / static_cast<double>(last - first));
  }
  const auto [low, high] = std::minmax_element(means.begin(), means.end());
  std::string text;
  for (const double mean : means) {
    const double height = *high > *low ? (mean - *low) / (*high - *low) : 0;
    text += kHeights[static_cast<std::size_t>(std::lround(height * 7))];
  }
  return text;
}

std::string ranks_by_host(const Run& run) {
  const Json* ranks = run.environment ? find_member(*run.environment, "ranks") : nullptr;
  if (ranks == nullptr || !ranks->is_array() || ranks->empty()) return "";
  std::map<std::string, std::pair<std::uint64_t, double>> hosts;  // ranks and threads
  double threads = 0;
  for (const Json& rank : *ranks) {
    const Json *host = find_member(rank, "host"), *count = find_member(rank, "threads");
    if (host == nullptr || !host->is_string() || count == nullptr || !count->is_number()) return "";
    auto& of = hosts[drawable(as_string(*host))];
    ++of.first;
    of.second += as_number(*count);
    threads += as_number(*count);
  }
  std::vector<std::string> texts;
  for (const auto& [host, of] : hosts)
    texts.push_back(fmt::format("{} ({}x{})", host, of.first, fixed(of.second / static_cast<double>(of.first), 0)));
  return fmt::format("{}, {} threads on {}: {}", counted(ranks->size(), "rank"), fixed(threads, 0),
                     counted(hosts.size(), "host"), fmt::to_string(fmt::join(texts, ", ")));
}

std::string state_of(const Run& run, std::time_t now) {
  if (run.stopped) return fmt::format("ended: {}", *run.stopped);
  if (!run.logged) return "has not ended";
  const double silent = std::max(0.0, std::difftime(now, *run.logged));
  // A line comes at least every few updates, validations and checkpoints aside.
  const LoggedUpdate& last = run.updates.back();
  const double usual = std::isfinite(last.seconds) ? last.seconds * static_cast<double>(last.updates) : 0;
  const bool late = silent > 60 + 10 * usual;
  return fmt::format("{}{}{}", late ? "no line in its log for " : "training, last line of its log ", duration(silent),
                     late ? ": it validates, waits or was killed" : " ago");
}

std::string validation_text(const LoggedValidation& v) {
  return fmt::format("loss {}{} at update {}", significant(v.loss_per_word, 4),
                     std::isfinite(v.bleu) ? fmt::format(", BLEU {}", fixed(v.bleu, 2)) : "", grouped(v.update));
}

}  // namespace

std::optional<double> seconds_left(const Run& run) {
  if (run.stopped || run.updates.empty()) return {};
  const LoggedUpdate& last = run.updates.back();
  double seconds = 0, updates = 0;
  for (std::size_t i = run.updates.size(); i-- > 0 && run.updates.size() - i <= kLinesOfSpeed;) {
    const LoggedUpdate& line = run.updates[i];
    if (!std::isfinite(line.seconds)) continue;
    seconds += line.seconds * static_cast<double>(line.updates);
    updates += static_cast<double>(line.updates);
  }
  std::optional<double> left;
  const auto consider = [&](double value) {
    if (std::isfinite(value)) left = std::min(left.value_or(value), std::max(0.0, value));
  };
  const double of_updates = limit_of(run, "max-updates"), of_epochs = limit_of(run, "max-epochs");
  if (of_updates > 0 && updates > 0) consider((of_updates - static_cast<double>(last.update)) * seconds / updates);
  if (of_epochs > 0 && last.epochs() > 0)
    consider((of_epochs / last.epochs() - 1) * static_cast<double>(last.update) * seconds / updates);
  if (const double minutes = limit_of(run, "max-minutes"); minutes > 0) consider(60 * minutes - last.elapsed_seconds);
  return left;
}

std::string terminal_view(const Run& run, std::time_t now, std::size_t width) {
  const LoggedUpdate& last = run.updates.back();
  std::string text;
  const auto line = [&](const std::string& content) {
    text += cut(printable(content), std::max<std::size_t>(width, 40)) + "\n";
  };
  line(fmt::format("{}: {}", run.name, state_of(run, now)));

  const double of_updates = limit_of(run, "max-updates");
  const auto left = seconds_left(run);
  line(fmt::format("  update {}{}, epoch {} {}%, {} trained{}", grouped(last.update),
                   of_updates > 0 ? fmt::format(" of {}", grouped(static_cast<std::uint64_t>(of_updates))) : "",
                   last.epoch + 1, fixed(100 * last.epoch_share, 0), duration(last.elapsed_seconds),
                   left ? fmt::format(", {} left", duration(*left)) : ""));

  std::vector<double> losses;
  for (const LoggedUpdate& update : run.updates) {
    if (std::isfinite(update.loss_per_word)) losses.push_back(update.loss_per_word);
  }
  const std::string loss = fmt::format("  loss {} ", significant(last.loss_per_word, 4));
  line(losses.empty() ? loss : loss + course(losses, std::max<std::size_t>(width, 40) - loss.size()));
  if (run.skipped_updates > 0) line(fmt::format("  {} skipped: not finite", counted(run.skipped_updates, "update")));

  if (!run.damaged_lines.empty()) line("  " + sentence_of_damage(run));

  if (!run.validations.empty()) {
    const auto best =
        std::find_if(run.validations.rbegin(), run.validations.rend(), [](const auto& v) { return v.best; });
    const LoggedValidation& newest = run.validations.back();
    const bool other = best != run.validations.rend() && best->update != newest.update;
    line(fmt::format("  dev set: {}{}{}", validation_text(newest),
                     other                            ? fmt::format("; best: {}", validation_text(*best))
                     : best != run.validations.rend() ? ", the best"
                                                      : "",
                     std::isfinite(newest.share)
                         ? fmt::format("; validations take {}% of the time", fixed(100 * newest.share, 0))
                         : ""));
  }

  const auto share = [&](double seconds) { return fmt::format("{}%", fixed(100 * seconds / last.seconds, 0)); };
  line(fmt::format("  {} + {} words/s; compute {}, optimizer {}, communication {}, data {}",
                   fixed(last.source_words_per_second, 0), fixed(last.target_words_per_second, 0),
                   share(last.compute_seconds), share(last.optimizer_seconds), share(last.communication_seconds),
                   share(last.data_seconds)));
  if (const std::string ranks = ranks_by_host(run); !ranks.empty()) line("  " + ranks);
  return text;
}

}  // namespace rnnsearch::report
