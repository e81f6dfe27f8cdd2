#include "rnnsearch/comm/meet.h"

#include <algorithm>
#include <exception>
#include <utility>

#include "rnnsearch/base/machine.h"
#include "rnnsearch/base/packed.h"
#include "rnnsearch/base/signals.h"

namespace rnnsearch::comm {
namespace {

Outcome outcome_of(const std::function<std::string()>& act) {
  using Kind = Outcome::Kind;
  const std::string host = host_name();
  try {
    return {Kind::kDone, act(), host};
  } catch (const Interrupted&) {
    return {Kind::kInterrupted, "", host};
  } catch (const Stopped& stopped) {
    return {Kind::kInterrupted, stopped.what(), host};
  } catch (const UsageError& error) {
    return {Kind::kUsageError, error.what(), host};
  } catch (const std::exception& error) {
    return {Kind::kFailed, sentence_of(error), host};
  }
}

std::string rank_name(std::size_t rank, std::span<const Outcome> outcomes) {
  return fmt::format("rank {} on {}", rank, outcomes[rank].host);
}

/// Throws what is wrong with the outcomes.
void refuse(const Step& step, std::span<const Outcome> outcomes) {
  // What the root finds wrong, which reads most carefully, is wrong for all.
  const Outcome& root = outcomes[0];
  if (root.failed()) root.fail(root.text);
  for (std::size_t rank = 1; rank < outcomes.size(); ++rank) {
    const Outcome& other = outcomes[rank];
    if (other.failed()) {
      other.fail(fmt::format("{} ({}; {} has it{}); {}", other.text, rank_name(rank, outcomes), rank_name(0, outcomes),
                             root.text.empty() ? "" : ", with " + root.text, step.advice));
    }
    if (other.text == root.text || root.interrupted() || other.interrupted()) continue;
    throw Error("{}: {} has {}, {} has {}; {}", step.thing, rank_name(rank, outcomes), other.text,
                rank_name(0, outcomes), root.text, step.advice);
  }
}

void stop_if_interrupted(std::span<const Outcome> outcomes) {
  if (std::any_of(outcomes.begin(), outcomes.end(), [](const Outcome& o) { return o.interrupted(); })) throw Stopped();
}

}  // namespace

void Outcome::fail(const std::string& words) const {
  if (kind == Kind::kUsageError) throw UsageError(words);
  throw Error(words);
}

std::string meet(const Communicator& communicator, const std::function<std::string()>& act,
                 const std::function<std::string(std::span<const Outcome>)>& conclude) {
  Outcome own = outcome_of(act), conclusion;
  if (communicator.size() == 1) {
    conclusion = outcome_of([&] { return conclude(std::span(&own, 1)); });
  } else {
    const std::vector<std::string> messages = communicator.gather(packed(own));
    std::string bytes;
    if (communicator.is_root()) {
      std::vector<Outcome> outcomes;
      outcomes.reserve(messages.size());
      for (const std::string& message : messages) outcomes.push_back(unpacked<Outcome>(message));
      bytes = packed(outcome_of([&] { return conclude(outcomes); }));
    }
    communicator.broadcast(bytes);
    conclusion = unpacked<Outcome>(bytes);
  }
  if (conclusion.failed()) throw AgreedError(conclusion.text, conclusion.kind == Outcome::Kind::kUsageError);
  if (conclusion.interrupted()) throw Stopped(conclusion.text);
  return std::move(conclusion.text);
}

void agree(const Communicator& communicator, const Step& step) {
  const Activity activity(communicator, "opens its files");
  meet(
      communicator,
      [&] {
        std::string found = step.run();
        stop_if_signal_came();
        return found;
      },
      [&](std::span<const Outcome> outcomes) {
        refuse(step, outcomes);
        stop_if_interrupted(outcomes);
        return std::string();
      });
}

std::string at_root(const Communicator& communicator, const std::function<std::string()>& act) {
  const Activity activity(communicator, "opens its files");
  return meet(
      communicator,
      [&] {
        std::string text = communicator.is_root() ? act() : "";
        stop_if_signal_came();
        return text;
      },
      [](std::span<const Outcome> outcomes) {
        if (outcomes[0].failed()) outcomes[0].fail(outcomes[0].text);
        stop_if_interrupted(outcomes);
        return outcomes[0].text;
      });
}

void root_does(const Communicator& communicator, const std::function<void()>& act) {
  at_root(communicator, [&] {
    act();
    return std::string();
  });
}

void agree_on_lines(const Communicator& communicator, const std::string& thing, const std::string& advice,
                    const std::function<std::vector<std::string>()>& lines) {
  meet(
      communicator, [&] { return packed(lines()); },
      [&](std::span<const Outcome> outcomes) {
        for (std::size_t rank = 0; rank < outcomes.size(); ++rank) {
          const Outcome& outcome = outcomes[rank];
          if (outcome.failed())
            outcome.fail(fmt::format("{}{}", outcome.text, rank == 0 ? "" : " (" + rank_name(rank, outcomes) + ")"));
        }
        stop_if_interrupted(outcomes);
        std::vector<std::vector<std::string>> of_ranks;
        for (const Outcome& outcome : outcomes) of_ranks.push_back(unpacked<std::vector<std::string>>(outcome.text));
        const auto& root = of_ranks[0];
        std::size_t rank = 0, first = 0;  // that differs, and the line in which it does
        for (std::size_t r = 1; r < of_ranks.size(); ++r) {
          const auto& own = of_ranks[r];
          if (own == root) continue;
          const auto at = std::mismatch(own.begin(), own.end(), root.begin(), root.end()).first - own.begin();
          if (rank > 0 && static_cast<std::size_t>(at) >= first) continue;
          rank = r, first = static_cast<std::size_t>(at);
        }
        if (rank == 0) return std::string();
        const auto line_of = [&](std::size_t r) { return first < of_ranks[r].size() ? of_ranks[r][first] : "none"; };
        throw Error("{}: {} has {}, {} has {}; {}", thing, rank_name(rank, outcomes), line_of(rank),
                    rank_name(0, outcomes), line_of(0), advice);
      });
}

bool stop_signal_came_anywhere(const Communicator& communicator) {
  double came = stop_signal_came() ? 1 : 0;
  if (communicator.size() > 1) communicator.max(std::span(&came, 1));
  return came > 0;
}

}  // namespace rnnsearch::comm
