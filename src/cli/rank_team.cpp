#include "cli/rank_team.h"

#include <exception>
#include <new>
#include <utility>

#include "cli/agreement.h"
#include "rnnsearch/base/error.h"

namespace rnnsearch::cli {
namespace {

// A message begins with one of them.
constexpr char kDone = '+', kFailed = '-';

template <class Act>
std::string outcome_of(const Act& act) {
  try {
    return kDone + act();
  } catch (const std::bad_alloc&) {
    return kFailed + std::string(kNoMemory);
  } catch (const std::exception& error) {
    return kFailed + std::string(error.what());
  }
}

}  // namespace

std::string RankTeam::meet(const std::function<std::string()>& part,
                           const std::function<std::string(std::vector<std::string> parts)>& combine) {
  std::string answer = outcome_of(part);
  if (size() > 1) {
    std::vector<std::string> parts = world_.gather(answer);
    if (world_.is_root()) answer.clear();
    for (std::size_t i = 0; i < parts.size() && answer.empty(); ++i) {
      if (parts[i].front() == kFailed) answer = i == 0 ? parts[i] : text_of(parts[i], " (rank ", i, ")");
    }
    if (world_.is_root() && answer.empty()) {
      answer = outcome_of([&] {
        for (std::string& one : parts) one.erase(0, 1);
        return combine(std::move(parts));
      });
    }
    world_.broadcast(answer);
  } else if (answer.front() == kDone) {
    answer = outcome_of([&] { return combine({answer.substr(1)}); });
  }
  if (answer.front() == kFailed) throw AgreedError(answer.substr(1));
  answer.erase(0, 1);
  return answer;
}

}  // namespace rnnsearch::cli
