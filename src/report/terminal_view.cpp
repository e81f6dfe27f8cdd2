#include "rnnsearch/report/run.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdlib>
#include <map>
#include <nlohmann/json.hpp>

#include "report/html.h"
#include "rnnsearch/base/printable.h"
#include "rnnsearch/report/table.h"

namespace rnnsearch::report {
namespace {

constexpr std::size_t kLinesOfSpeed = 50;

double limit_of(const Run& run, std::string_view option) {
  for (const auto& [name, value] : run.config) {
    if (name == option) return std::strtod(value.c_str(), nullptr);
  }
  return 0;
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
  std::string text = fmt::format("{}, {} threads on {}:", counted(ranks->size(), "rank"), fixed(threads, 0),
                                 counted(hosts.size(), "host"));
  const char* separator = " ";
  for (const auto& [host, of] : hosts) {
    text += fmt::format("{}{} ({}x{})", separator, host, of.first, fixed(of.second / static_cast<double>(of.first), 0));
    separator = ", ";
  }
  return text;
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
  if (of_epochs > 0 && last.epochs() > 0) {
    consider((of_epochs / last.epochs() - 1) * static_cast<double>(last.update) * seconds / updates);
  }
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
