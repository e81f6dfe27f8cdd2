#include "report/record_part.h"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <nlohmann/json.hpp>
#include <set>
#include <vector>

#include "report/figure.h"
#include "report/html.h"
#include "report/numbers.h"
#include "rnnsearch/base/error.h"

namespace rnnsearch::report {
namespace {

using Facts = std::vector<std::pair<std::string, std::string>>;

std::string text_of_value(const Json& value) {
  if (value.is_null()) return "none";
  return drawable(value.is_string() ? as_string(value) : json_text(value));
}

// Summarises the ranks: their number, the hosts with the ranks on each, and the numbers of threads and CPUs.
void add_ranks(const Json& ranks, Facts& facts) {
  std::vector<std::pair<std::string, std::size_t>> hosts;
  std::set<std::string> threads;
  for (const Json& rank : ranks) {
    const Json* host = find_member(rank, "host");
    const std::string name = host == nullptr ? "?" : text_of_value(*host);
    const auto known = std::find_if(hosts.begin(), hosts.end(), [&](const auto& pair) { return pair.first == name; });
    if (known == hosts.end()) {
      hosts.emplace_back(name, 1);
    } else {
      ++known->second;
    }
    if (const Json* count = find_member(rank, "threads")) threads.insert(text_of_value(*count));
  }
  facts.emplace_back("ranks", std::to_string(ranks.size()));
  std::string names;
  for (const auto& [host, count] : hosts) {
    names += (names.empty() ? "" : ", ") + host + (count > 1 ? fmt::format(" ({} ranks)", count) : "");
  }
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
        std::replace(shown.begin(), shown.end(), '_', ' ');
        facts.emplace_back(shown, text_of_value(value));
      }
    }
  }
  std::string resumed;
  for (const std::uint64_t update : run.resumed) resumed += (resumed.empty() ? "" : ", ") + grouped(update);
  facts.emplace_back("resumed at update", resumed.empty() ? "never" : resumed);
  return facts;
}

// Adds tables with rows in the order of first appearance and a column for each run. Facts that are the same in all runs
// are in a table of their own.
void add_facts(pugi::xml_node section, const Report& report, const std::vector<Facts>& all, const std::string& id,
               const std::string& title) {
  std::vector<std::string> names;
  for (const Facts& facts : all) {
    for (const auto& [name, _] : facts) {
      if (std::find(names.begin(), names.end(), name) == names.end()) names.push_back(name);
    }
  }
  const auto value_of = [](const Facts& facts, const std::string& name) -> std::string {
    const auto found = std::find_if(facts.begin(), facts.end(), [&](const auto& fact) { return fact.first == name; });
    return found == facts.end() ? "\u2013" : found->second;
  };
  Table different{.id = "table-" + id + "-different", .caption = title + ": what differs"};
  Table same{.id = "table-" + id, .caption = all.size() > 1 ? title + ": what all runs share" : title};
  different.columns = {{"", false}};
  different.columns.front().title = "setting";
  same.columns = {{"setting", false}, {"value", false, true}};
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
