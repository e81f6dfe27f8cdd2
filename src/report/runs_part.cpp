#include "report/page_parts.h"

#include <fmt/format.h>

#include <nlohmann/json.hpp>
#include <set>

#include "report/html.h"
#include "rnnsearch/report/evaluation_tables.h"

namespace rnnsearch::report {
namespace {

constexpr double kMinute = 60, kHour = 3600, kDay = 86400;
constexpr std::size_t kSmoothFrom = 40;   // logged lines from which on curves are smoothed
constexpr std::size_t kSmoothParts = 40;  // the window of the mean is this fraction (1/40) of the lines

struct TimeUnit {
  const char* name;
  double seconds;
};

TimeUnit unit_for(const std::vector<Run>& runs) {
  double most = 0;
  for (const Run& run : runs) most = std::max(most, run.updates.back().elapsed_seconds);
  if (most < 5 * kMinute) return {"seconds", 1};
  if (most < 3 * kHour) return {"minutes", kMinute};
  if (most < 3 * kDay) return {"hours", kHour};
  return {"days", kDay};
}

// The share of the update time spent waiting for data and other ranks, in percent.
double waiting(const LoggedUpdate& line) {
  return line.seconds > 0 ? 100 * (line.communication_seconds + line.data_seconds) / line.seconds
                          : std::numeric_limits<double>::quiet_NaN();
}

/// Adds the chart of a value by update, and by time as well unless it is said otherwise.
template <class Logged>
void add_curves(PageContext& page, const Report& report, pugi::xml_node grid, const std::string& id,
                const std::string& title, const Axis& y, std::vector<Logged> Run::*lines,
                const std::function<double(const Logged&)>& value, bool smooth = false, bool by_time = true) {
  const TimeUnit unit = unit_for(report.runs);
  for (const bool time : {false, true}) {
    if (time && !by_time) continue;
    LineChart chart{.title = title + (time ? " by time" : " by update"), .x = {}, .y = y};
    chart.x = {.name = time ? fmt::format("{} of updates", unit.name) : std::string("update"), .from_zero = true};
    if (y.name == "BLEU") chart.decimals = 2;
    std::size_t widest = 1;
    for (const Run& run : report.runs) {
      Line line{.name = run.name, .style = page.style_of(run.name)};
      for (const Logged& logged : run.*lines) {
        const double height = value(logged);
        if (!std::isfinite(height) || (y.scale == Scale::kLog && height <= 0)) continue;
        line.points.push_back(
            {time ? logged.elapsed_seconds / unit.seconds : static_cast<double>(logged.update), height});
      }
      if (line.points.empty()) continue;
      if (smooth && line.points.size() >= kSmoothFrom) {
        chart.lines.push_back(line);
        chart.lines.back().faint = true;
        const std::size_t window = line.points.size() / kSmoothParts * 2 + 1;
        widest = std::max(widest, window);
        line.points = smoothed(line.points, window);
      }
      chart.lines.push_back(std::move(line));
    }
    if (chart.lines.empty()) continue;
    const auto note = [&] {
      return fmt::format("Thin: each line of the log. Thick: the mean of up to {} neighbouring lines.", widest);
    };
    page.chart(grid, fmt::format("chart-{}{}", id, time ? "-time" : ""), chart, widest > 1 ? note() : "");
  }
}

double median(std::vector<double> values) {
  std::erase_if(values, [](double value) { return !std::isfinite(value); });
  if (values.empty()) return std::numeric_limits<double>::quiet_NaN();
  const auto middle = values.begin() + static_cast<std::ptrdiff_t>(values.size() / 2);
  std::nth_element(values.begin(), middle, values.end());
  return *middle;
}

std::string standing(const Run& run) {
  if (run.stopped) return run.stopped->empty() ? "ended" : "ended: " + *run.stopped;
  return "not ended: still running, or killed";
}

/// The best finite value of the validations, with its update. sign: 1 if the largest is best, -1 if the least is.
std::string best_of(const Run& run, double LoggedValidation::*value, double sign, int decimals) {
  const LoggedValidation* best = nullptr;
  for (const LoggedValidation& v : run.validations) {
    if (std::isfinite(v.*value) && (best == nullptr || sign * v.*value > sign * best->*value)) best = &v;
  }
  return best == nullptr ? "\u2013" : fmt::format("{} ({})", fixed(best->*value, decimals), grouped(best->update));
}

std::string target_speed(const Run& run) {
  std::vector<double> speeds;
  for (const LoggedUpdate& line : run.updates) speeds.push_back(line.target_words_per_second);
  return fixed(median(speeds), 0);
}

std::string resumed(const Run& run) {
  const std::size_t times = run.resumed.size();
  return times == 0 ? "never" : times == 1 ? "once" : fmt::format("{} times", times);
}

Table summary(const Report& report) {
  const auto any = [&](const auto& is) { return std::ranges::any_of(report.runs, is); };
  const bool validated = any([](const Run& run) { return !run.validations.empty(); });
  const bool bleu = any([](const Run& run) {
    return std::ranges::any_of(run.validations, [](const auto& v) { return std::isfinite(v.bleu); });
  });
  struct Fact {
    Column column;
    std::function<std::string(const Run&)> text;
    bool there = true;
  };
  const Fact facts[] = {
      {{"run", false}, [](const Run& run) { return run.name; }},
      {{"updates"}, [](const Run& run) { return grouped(run.updates.back().update); }},
      {{"epochs"}, [](const Run& run) { return fixed(run.updates.back().epochs(), 2); }},
      {{"time"}, [](const Run& run) { return duration(run.updates.back().elapsed_seconds); }},
      {{"training loss, last"}, [](const Run& run) { return fixed(run.updates.back().loss_per_word, 3); }},
      {{"dev loss, least (update)"},
       [](const Run& run) { return best_of(run, &LoggedValidation::loss_per_word, -1, 3); },
       validated},
      {{"dev BLEU, best (update)"}, [](const Run& run) { return best_of(run, &LoggedValidation::bleu, 1, 2); }, bleu},
      {{"target words/s, median"}, target_speed},
      {{"skipped updates"}, [](const Run& run) { return grouped(run.skipped_updates); }, any([](const Run& run) {
         return run.skipped_updates > 0;
       })},
      {{"resumed"}, resumed, any([](const Run& run) { return !run.resumed.empty(); })},
      {{"state", false}, standing}};
  Table table{.id = "table-training", .caption = "Progress of each run"};
  table.rows.resize(report.runs.size());
  for (const Fact& fact : facts) {
    if (!fact.there) continue;
    table.columns.push_back(fact.column);
    for (std::size_t r = 0; r < report.runs.size(); ++r) table.rows[r].push_back({fact.text(report.runs[r])});
  }
  table.notes.push_back(
      "Losses are in nats per target word. Times are sums over updates; an update that was repeated counts once, with "
      "its last time. They do not include validations, checkpoints and waiting in a queue.");
  for (const Run& run : report.runs) {
    if (!run.damaged_lines.empty()) table.notes.push_back(fmt::format("{}: {}.", run.name, sentence_of_damage(run)));
  }
  return table;
}

constexpr std::array kParts{"compute", "optimiser", "communication", "data"};

struct Split {
  std::array<double, kParts.size()> seconds{};  // over the whole training
  double all = 0;
  std::uint64_t updates = 0;
};

Split split_of(const Run& run) {
  Split split;
  for (const LoggedUpdate& line : run.updates) {
    const double parts[] = {line.compute_seconds, line.optimizer_seconds, line.communication_seconds,
                            line.data_seconds};
    for (std::size_t i = 0; i < kParts.size(); ++i) {
      if (std::isfinite(parts[i])) split.seconds[i] += static_cast<double>(line.updates) * parts[i];
    }
    split.updates += line.updates;
  }
  for (const double seconds : split.seconds) split.all += seconds;
  return split;
}

void add_split(pugi::xml_node where, const Report& report) {
  const auto figure = add(where, "figure", {{"class", "chart"}, {"id", "chart-split"}});
  add(figure, "figcaption", {}, "Time of each part of an update");
  const auto legend = add(figure, "ul", {{"class", "legend parts"}});
  for (std::size_t i = 0; i < kParts.size(); ++i) {
    const auto item = add(legend, "li");
    add(add_svg(item, "key", 14, 14, ""), "rect",
        {{"class", fmt::format("part p{}", i)}, {"width", "14"}, {"height", "14"}});
    add(item, "span", {{"class", "name"}}, kParts[i]);
  }
  Table table{
      .id = "table-split", .caption = "Seconds per update, and share of the time", .columns = {{"part", false}}};
  for (const char* part : kParts) table.rows.push_back({{part}});
  for (const Run& run : report.runs) {
    const Split split = split_of(run);
    if (split.all <= 0) continue;
    table.columns.push_back({run.name});
    std::vector<Part> parts;
    for (std::size_t i = 0; i < kParts.size(); ++i) {
      parts.push_back({kParts[i], split.seconds[i] / split.all});
      const double seconds = split.seconds[i] / static_cast<double>(split.updates);
      table.rows[i].push_back({fmt::format("{} ({}%)", fixed(seconds, 4), fixed(100 * parts.back().share, 1))});
    }
    add(figure, "p", {{"class", "bar-name"}}, run.name);
    add_bar(figure, run.name, parts);
  }
  if (table.columns.size() == 1) {
    where.remove_child(figure);
    return;
  }
  add_table(figure, table);
  add(figure, "p", {{"class", "note"}},
      "These are times of updates only, without validations and checkpoints. Communication is the part of the "
      "all-reduces that was not hidden behind computation.");
}

using Facts = std::vector<std::pair<std::string, std::string>>;

std::string text_of_value(const Json& value) {
  if (value.is_null()) return "none";
  return drawable(value.is_string() ? as_string(value) : json_text(value));
}

// Summarises the ranks: their number, the hosts with the ranks on each, and the numbers of threads and CPUs.
void add_ranks(const Json& ranks, Facts& facts) {
  using Host = std::pair<std::string, std::size_t>;  // its name and number of ranks
  std::vector<Host> hosts;
  std::set<std::string> threads;
  for (const Json& rank : ranks) {
    const Json* host = find_member(rank, "host");
    const std::string name = host == nullptr ? "?" : text_of_value(*host);
    auto known = std::ranges::find(hosts, name, &Host::first);
    if (known == hosts.end()) known = hosts.insert(known, {name, 0});
    ++known->second;
    if (const Json* count = find_member(rank, "threads")) threads.insert(text_of_value(*count));
  }
  facts.emplace_back("ranks", std::to_string(ranks.size()));
  std::string names;
  for (const auto& [host, count] : hosts)
    names += (names.empty() ? "" : ", ") + host + (count > 1 ? fmt::format(" ({} ranks)", count) : "");
  facts.emplace_back("hosts", names);
  facts.emplace_back("threads of a rank", fmt::to_string(fmt::join(threads, ", ")));
}

Facts facts_of(const Run& run) {
  Facts facts{{"run directory", drawable(run.path.string())}};
  if (run.environment) {
    for (const auto& [name, value] : run.environment->items()) {
      if (name == "ranks" && value.is_array()) {
        add_ranks(value, facts);
      } else {
        std::string shown = drawable(name);
        std::ranges::replace(shown, '_', ' ');
        facts.emplace_back(shown, text_of_value(value));
      }
    }
  }
  std::string updates;
  for (const std::uint64_t update : run.resumed) updates += (updates.empty() ? "" : ", ") + grouped(update);
  facts.emplace_back("resumed at update", updates.empty() ? "never" : updates);
  return facts;
}

// Adds tables with rows in the order of first appearance and a column for each run. Facts that are the same in all runs
// are in a table of their own.
void add_facts(pugi::xml_node section, const Report& report, const std::vector<Facts>& all, const std::string& id,
               const std::string& title) {
  std::vector<std::string> names;
  for (const Facts& facts : all) {
    for (const auto& [name, _] : facts) add_once(names, name);
  }
  const auto value_of = [](const Facts& facts, const std::string& name) -> std::string {
    const auto found = std::ranges::find(facts, name, &Facts::value_type::first);
    return found == facts.end() ? "\u2013" : found->second;
  };
  const Column setting{"setting", false};
  Table different{.id = "table-" + id + "-different", .caption = title + ": what differs", .columns = {setting}};
  Table same{.id = "table-" + id,
             .caption = all.size() > 1 ? title + ": what all runs share" : title,
             .columns = {setting, {"value", false, true}}};
  for (const Run& run : report.runs) different.columns.push_back({run.name, false, true});
  for (const std::string& name : names) {
    std::vector<Cell> cells{{name}};
    std::set<std::string> values;
    for (const Facts& facts : all) {
      cells.push_back({value_of(facts, name)});
      values.insert(cells.back().text);
    }
    if (values.size() > 1) {
      different.rows.push_back(std::move(cells));
    } else {
      cells.resize(2);
      same.rows.push_back(std::move(cells));
    }
  }
  if (!different.rows.empty()) add_table(section, different);
  if (same.rows.empty()) return;
  const auto details = add(section, "details");
  add(details, "summary", {}, fmt::format("{} ({})", same.caption, same.rows.size()));
  add_table(details, same);
}

}  // namespace

void add_training(PageContext& page, const Report& report) {
  if (report.runs.empty()) return;
  const auto section = page.section("training", "Training");
  add_table(section, summary(report));
  const auto grid = add(section, "div", {{"class", "charts"}});
  const Axis loss{.name = "nats a word"}, percent{.name = "% of the time", .from_zero = true};
  const auto of_updates = [&](const char* id, const char* title, const Axis& y,
                              const std::function<double(const LoggedUpdate&)>& value, bool smooth, bool by_time) {
    add_curves(page, report, grid, id, title, y, &Run::updates, value, smooth, by_time);
  };
  const auto of_validations = [&](const char* id, const char* title, const Axis& y,
                                  const std::function<double(const LoggedValidation&)>& value) {
    add_curves(page, report, grid, id, title, y, &Run::validations, value);
  };
  of_updates("loss", "Training loss", loss, &LoggedUpdate::loss_per_word, true, true);
  of_validations("dev-loss", "Dev loss", loss, &LoggedValidation::loss_per_word);
  of_validations("dev-bleu", "Dev BLEU", {.name = "BLEU", .from_zero = true}, &LoggedValidation::bleu);
  of_updates("speed", "Words a second", {.name = "target words/s", .from_zero = true},
             &LoggedUpdate::target_words_per_second, true, true);
  of_updates("rate", "Learning rate", {.name = "learning rate", .from_zero = true}, &LoggedUpdate::learning_rate, false,
             false);
  of_updates("norm", "Norm of the gradient", {.name = "norm", .scale = Scale::kLog}, &LoggedUpdate::gradient_norm, true,
             false);
  of_updates("waiting", "Communication and data", percent, waiting, true, false);
  add_split(grid, report);
}

void add_record(PageContext& page, const Report& report) {
  if (report.runs.empty()) return;
  const auto section = page.section("record", "Record of the experiment");
  std::vector<Facts> configurations, environments;
  for (const Run& run : report.runs) {
    configurations.push_back(run.config);
    environments.push_back(facts_of(run));
  }
  add_facts(section, report, configurations, "configuration", "Configuration");
  add_facts(section, report, environments, "environment", "Environment");
}

}  // namespace rnnsearch::report
