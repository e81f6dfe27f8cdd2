#include "comm/progress_thread.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <utility>

#include "rnnsearch/base/error.h"
#include "rnnsearch/base/packed.h"
#include "rnnsearch/base/stopwatch.h"

namespace rnnsearch::comm {
namespace {

constexpr int kQuestion = 1, kAnswer = 2, kLastWords = 3;
constexpr auto kRootIsSilent = std::chrono::seconds(30);
constexpr double kPatience = 10;  // stall timeouts after which a late rank that answers ends all ranks

}  // namespace

RollCall::RollCall(MPI_Comm comm, std::vector<std::string> hosts)
    : comm_(comm),
      ranks_(static_cast<int>(hosts.size())),
      hosts_(std::move(hosts)),
      answers_(hosts_.size()),
      asking_(hosts_.size(), MPI_REQUEST_NULL),
      answering_(hosts_.size(), MPI_REQUEST_NULL),
      answered_with_(hosts_.size()) {
  check(MPI_Comm_rank(comm_, &rank_), "MPI_Comm_rank");
}

std::optional<RollCall::Finding> RollCall::tick(const RankStatus& own, double stall_timeout) {
  answer(own);
  if (stall_timeout <= 0) return {};
  // Higher ranks ask a little later, so that usually one rank asks. All ranks then have most of the timeout to answer.
  const double impatience = stall_timeout / 4 + std::min(rank_ * 0.05, stall_timeout / 8);
  if (own.seconds < impatience) {
    asked_ = false;
    return {};
  }
  if (!asked_) {
    const std::chrono::duration<double> since = Clock::now() - others_asked_;
    if (others_asked_ != Clock::time_point{} && since.count() < 1.5 * stall_timeout) return {};
    ask();
    asked_ = true;
    evaluate_at_ = stall_timeout;
    return {};
  }
  if (own.seconds < evaluate_at_) return {};
  auto finding = evaluate(own, stall_timeout);
  ask();
  evaluate_at_ = own.seconds + stall_timeout;
  return finding;
}

void RollCall::answer(const RankStatus& own) {
  for (;;) {
    int waiting = 0;
    MPI_Status status;
    check(MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, comm_, &waiting, &status), "MPI_Iprobe");
    if (!waiting) break;
    const auto from = static_cast<std::size_t>(status.MPI_SOURCE);
    if (status.MPI_TAG == kQuestion) {
      check(MPI_Recv(nullptr, 0, MPI_BYTE, status.MPI_SOURCE, kQuestion, comm_, MPI_STATUS_IGNORE), "MPI_Recv");
      others_asked_ = Clock::now();
      int free = 0;
      check(MPI_Test(&answering_[from], &free, MPI_STATUS_IGNORE), "MPI_Test");
      if (!free) continue;  // the previous answer is still being sent, so another one would not leave either
      answered_with_[from] = own;
      check(MPI_Isend(&answered_with_[from], sizeof(RankStatus), MPI_BYTE, status.MPI_SOURCE, kAnswer, comm_,
                      &answering_[from]),
            "MPI_Isend");
    } else if (status.MPI_TAG == kLastWords) {
      int size = 0;
      check(MPI_Get_count(&status, MPI_BYTE, &size), "MPI_Get_count");
      std::string words(static_cast<std::size_t>(size), '\0');
      check(MPI_Recv(words.data(), size, MPI_BYTE, status.MPI_SOURCE, kLastWords, comm_, MPI_STATUS_IGNORE),
            "MPI_Recv");
      Unpacker unpacker(words);
      const int exit_code = unpacker.next<int>();
      end_all_ranks(exit_code, std::string(unpacker.next<std::string_view>()));
    } else {
      RankStatus theirs;
      check(MPI_Recv(&theirs, sizeof theirs, MPI_BYTE, status.MPI_SOURCE, kAnswer, comm_, MPI_STATUS_IGNORE),
            "MPI_Recv");
      answers_[from] = theirs;
    }
  }
}

void RollCall::end_all_ranks(int exit_code, const std::string& line) {
  try {
    if (rank_ != 0) tell_the_root(exit_code, line);
  } catch (const Error&) {  // it cannot be told
  }
  while (rank_ == 0 && has_spoken_.test_and_set()) ::pause();  // another thread ends this process
  log_line(line);
  Environment::abort(exit_code);
}

// The root ends all ranks, and so this one, when it has printed the line. Returns only if it does not respond.
void RollCall::tell_the_root(int exit_code, const std::string& line) const {
  Packer packer;
  packer.add(exit_code);
  packer.add(line);
  const std::string words = packer.take();
  MPI_Request request = MPI_REQUEST_NULL;
  check(MPI_Isend(words.data(), static_cast<int>(words.size()), MPI_BYTE, 0, kLastWords, comm_, &request), "MPI_Isend");
  for (const auto from = Clock::now(); Clock::now() - from < kRootIsSilent;) {
    int sent = 0;
    check(MPI_Test(&request, &sent, MPI_STATUS_IGNORE), "MPI_Test");
    std::this_thread::sleep_for(std::chrono::milliseconds(10));
  }
}

void RollCall::ask() {
  std::fill(answers_.begin(), answers_.end(), std::nullopt);
  for (int to = 0; to < ranks_; ++to) {
    if (to == rank_) continue;
    MPI_Request& request = asking_[static_cast<std::size_t>(to)];
    int free = 0;
    check(MPI_Test(&request, &free, MPI_STATUS_IGNORE), "MPI_Test");
    if (free) check(MPI_Isend(nullptr, 0, MPI_BYTE, to, kQuestion, comm_, &request), "MPI_Isend");
  }
}

std::optional<RollCall::Finding> RollCall::evaluate(const RankStatus& own, double stall_timeout) {
  answers_[static_cast<std::size_t>(rank_)] = own;
  const std::string waits = fmt::format("rank {} on {} waits for {} s ({}): ", rank_,
                                        hosts_[static_cast<std::size_t>(rank_)], std::lround(own.seconds), own.doing);
  std::vector<int> silent;
  for (int rank = 0; rank < ranks_; ++rank) {
    if (!answers_[static_cast<std::size_t>(rank)]) silent.push_back(rank);
  }
  if (!silent.empty()) {
    return Finding{fmt::format("{}{}{} no sign of life; the process is stopped or gone, or its network is down", waits,
                               list(silent, false), silent.size() == 1 ? " gives" : " give"),
                   true};
  }
  // A rank that is ahead of the slowest ones only waits for them.
  std::uint64_t least = own.entered;
  for (const auto& answer : answers_) least = std::min(least, answer->entered);
  std::vector<int> late;
  bool moves = false;
  for (int rank = 0; rank < ranks_; ++rank) {
    const RankStatus& where = *answers_[static_cast<std::size_t>(rank)];
    if (where.entered != least) continue;
    if (!where.waits) late.push_back(rank);
    moves |= where.waits && where.seconds < stall_timeout / 4;
  }
  if (!late.empty()) {
    return Finding{fmt::format("{}{}{} late but alive", waits, list(late, true), late.size() == 1 ? " is" : " are"),
                   own.seconds >= kPatience * stall_timeout};
  }
  if (moves) return {};
  return Finding{fmt::format("{}all ranks answer and none is late, but nothing moves; the network between some of them "
                             "does not deliver messages",
                             waits),
                 true};
}

std::string RollCall::list(const std::vector<int>& ranks, bool with_doing) const {
  constexpr std::size_t kMost = 8;
  std::string text;
  for (std::size_t i = 0; i < std::min(kMost, ranks.size()); ++i) {
    const auto rank = static_cast<std::size_t>(ranks[i]);
    text += fmt::format("{}rank {} on {}", i > 0 ? ", " : "", rank, hosts_[rank]);
    if (with_doing) text += fmt::format(" ({})", answers_[rank]->doing);
  }
  if (ranks.size() > kMost) text += fmt::format(" and {} more", ranks.size() - kMost);
  return text;
}

TimeLimit::TimeLimit(double limit, std::string sentence, int exit_code) {
  if (limit <= 0) return;
  thread_ = std::jthread([seconds = limit, text = std::move(sentence), exit_code](std::stop_token met) mutable {
    constexpr double kTick = 1;
    std::mutex mutex;
    std::condition_variable_any changed;  // when it is met
    std::unique_lock lock(mutex);
    while (seconds > 0) {
      const Stopwatch watch;
      changed.wait_for(lock, met, std::chrono::duration<double>(std::min(kTick, seconds)), [] { return false; });
      if (met.stop_requested()) return;
      seconds -= std::min(kTick, watch.seconds());
    }
    if (!text.empty()) log_line(text);
    std::_Exit(exit_code);  // an MPI call, such as MPI_Abort, could wait here as well
  });
}

}  // namespace rnnsearch::comm
