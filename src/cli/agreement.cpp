#include "cli/agreement.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <exception>
#include <fstream>
#include <limits>
#include <new>
#include <utility>
#include <vector>

#include "rnnsearch/base/json.h"
#include "rnnsearch/base/parallel.h"
#include "rnnsearch/base/version.h"
#include "rnnsearch/storage/digest.h"
#include "rnnsearch/train/signals.h"

namespace rnnsearch::cli {
namespace {

const train::StopSignals* signals = nullptr;

enum class Outcome { kDone, kFailed, kInterrupted };

std::pair<Outcome, std::string> outcome_of(const Step& step) {
  try {
    std::string found = step.run();
    return {signal_came() ? Outcome::kInterrupted : Outcome::kDone, std::move(found)};
  } catch (const Interrupted&) {
    return {Outcome::kInterrupted, ""};
  } catch (const std::bad_alloc&) {
    return {Outcome::kFailed, kNoMemory};
  } catch (const std::exception& error) {
    return {Outcome::kFailed, error.what()};
  }
}

std::string place_of(std::size_t rank, const std::vector<std::string>& hosts) {
  return text_of("rank ", rank, " on ", hosts[rank]);
}

std::string refusal_of(const Step& step, const std::vector<std::pair<Outcome, std::string>>& outcomes,
                       const std::vector<std::string>& hosts) {
  // What the root finds wrong, which reads most carefully, is wrong for all.
  if (outcomes[0].first == Outcome::kFailed) return outcomes[0].second;
  for (std::size_t rank = 1; rank < outcomes.size(); ++rank) {
    const auto& [outcome, text] = outcomes[rank];
    if (outcome == Outcome::kFailed) {
      return text_of(text, " (", place_of(rank, hosts), "; ", place_of(0, hosts), " has it",
                     outcomes[0].second.empty() ? "" : ", with " + outcomes[0].second, "); ", step.advice);
    }
    if (text == outcomes[0].second || outcomes[0].first == Outcome::kInterrupted || outcome == Outcome::kInterrupted) {
      continue;
    }
    return text_of(step.thing, ": ", place_of(rank, hosts), " has ", text, ", ", place_of(0, hosts), " has ",
                   outcomes[0].second, "; ", step.advice);
  }
  return "";
}

// A program that is built anew while it runs is no longer where it was; the kernel still shows what runs.
std::string digest_of_program() {
  std::ifstream stream("/proc/self/exe", std::ios::binary);
  storage::Digest digest;
  std::array<char, 1 << 16> part;
  while (stream.read(part.data(), part.size()) || stream.gcount() > 0) {
    digest.add(std::string_view(part.data(), static_cast<std::size_t>(stream.gcount())));
  }
  return digest.hex();
}

}  // namespace

void catch_signals() {
  // Never destroyed: a signal that comes while the program leaves must not turn its success into failure.
  if (!signals) signals = new train::StopSignals;
}

bool signal_came() {
  return signals && signals->received() != 0;
}

void stop_if_signal_came() {
  if (signal_came()) throw Interrupted();
}

bool signal_came_anywhere(const comm::Communicator& world) {
  double came = signal_came() ? 1 : 0;
  if (world.size() > 1) world.max(std::span(&came, 1));
  return came > 0;
}

void agree(const comm::Communicator& world, const Step& step) {
  const comm::Activity activity("opens its files");
  const auto [outcome, text] = outcome_of(step);
  if (world.size() == 1) {
    if (outcome == Outcome::kFailed) throw AgreedError(text);
    if (outcome == Outcome::kInterrupted) throw Stopped();
    return;
  }
  const auto hosts = world.hosts();
  const auto gathered = world.gather(Json::array({static_cast<int>(outcome), text}).dump());
  std::string verdict;  // of the root: a word and a sentence, as JSON
  if (world.is_root()) {
    std::vector<std::pair<Outcome, std::string>> outcomes;
    bool interrupted = false;
    for (const auto& message : gathered) {
      const Json json = Json::parse(message, "what a rank found");
      outcomes.emplace_back(static_cast<Outcome>(json.items()[0].integer()), json.items()[1].string());
      interrupted = interrupted || outcomes.back().first == Outcome::kInterrupted;
    }
    const std::string refusal = refusal_of(step, outcomes, hosts);
    verdict = Json::array({!refusal.empty() ? "refused" : interrupted ? "stopped" : "agreed", refusal}).dump();
  }
  world.broadcast(verdict);
  const Json agreed = Json::parse(verdict, "what the ranks agreed on");
  if (agreed.items()[0].string() == "refused") throw AgreedError(agreed.items()[1].string());
  if (agreed.items()[0].string() == "stopped") throw Stopped();
}

void check_same_program(const comm::Communicator& world) {
  if (world.size() == 1) return;
  agree(world, {"rnnsearch", "install one build on all hosts, or on a file system that they share",
                [] { return text_of("version ", kVersion, ", digest ", digest_of_program()); }});
}

void check_same_options(const comm::Communicator& world, const Options& options) {
  if (world.size() == 1) return;
  std::vector<std::string> own;  // a repeated option has a line for each of its values
  for (const auto& [name, value] : options.values()) own.push_back(text_of(name, " = ", value));
  Json message = Json::array();
  for (const auto& line : own) message.push_back(line);
  std::string text = message.dump();
  world.broadcast(text);
  std::vector<std::string> roots;
  const Json lines = Json::parse(text, "the options of rank 0");
  for (const Json& line : lines.items()) roots.push_back(line.string());
  // The first line in which some rank differs from the root.
  const auto [here, there] = std::mismatch(own.begin(), own.end(), roots.begin(), roots.end());
  const bool alike = here == own.end() && there == roots.end();
  double first = alike ? -std::numeric_limits<double>::infinity() : -static_cast<double>(here - own.begin());
  world.max(std::span(&first, 1));
  if (std::isinf(first)) return;
  const auto line = static_cast<std::size_t>(-first);
  agree(world, {"options", "give all ranks the same command line and the same --config",
                [&] { return line < own.size() ? own[line] : std::string("none"); }});
}

}  // namespace rnnsearch::cli
