#include "comm/progress_thread.h"

#include <algorithm>
#include <cstdio>
#include <exception>
#include <utility>

#include "rnnsearch/base/error.h"
#include "rnnsearch/base/machine.h"

namespace rnnsearch::comm {
namespace {

using std::chrono::microseconds;
constexpr auto kTick = std::chrono::milliseconds(100);
// While messages are in flight, the thread sleeps between two polls so that it does not take time from the computing
// threads. The naps grow as long as nothing arrives. In 200 us, 25 kB arrive at 1 Gb/s and 2.5 MB at 100 Gb/s.
constexpr microseconds kShortestNap(20), kLongestNap(200), kSpin(100);

MPI_Comm duplicate(MPI_Comm comm) {
  MPI_Comm copy = MPI_COMM_NULL;
  check(MPI_Comm_dup(comm, &copy), "MPI_Comm_dup");  // with the error handler
  return copy;
}

int rank_in(MPI_Comm comm) {
  int rank = 0;
  check(MPI_Comm_rank(comm, &rank), "MPI_Comm_rank");
  return rank;
}

std::vector<std::string> hosts_of(MPI_Comm comm) {
  struct Machine {
    char name[256] = "", boot[64] = "";
  };
  Machine own;
  std::snprintf(own.name, sizeof own.name, "%s", host_name().c_str());
  std::snprintf(own.boot, sizeof own.boot, "%s", boot_id().c_str());
  int size = 0;
  check(MPI_Comm_size(comm, &size), "MPI_Comm_size");
  std::vector<Machine> all(static_cast<std::size_t>(size));
  check(MPI_Allgather(&own, sizeof own, MPI_BYTE, all.data(), sizeof own, MPI_BYTE, comm), "MPI_Allgather");
  std::vector<std::string> names, boots;
  for (const Machine& machine : all) {
    names.emplace_back(machine.name);
    boots.emplace_back(machine.boot);
  }
  return distinct_hosts(std::move(names), boots);
}

}  // namespace

ProgressThread::ProgressThread(MPI_Comm comm)
    : collectives_(duplicate(comm)),
      sums_(duplicate(comm)),
      rolls_(duplicate(comm)),
      rank_(rank_in(comm)),
      hosts_(hosts_of(collectives_)),
      grid_(rank_, size(), ranks_of_each_host(hosts_)),
      roll_call_(rolls_, hosts_),
      last_tick_(Clock::now()),
      thread_([this] { run(); }) {}

ProgressThread::~ProgressThread() {
  {
    const std::lock_guard lock(mutex_);
    stop_ = true;
  }
  work_.notify_one();
  if (thread_.joinable()) thread_.join();
  for (MPI_Comm* comm : {&collectives_, &sums_, &rolls_}) MPI_Comm_free(comm);
}

void ProgressThread::abandon() {
  {
    const std::lock_guard lock(mutex_);
    abandoned_ = true;
  }
  work_.notify_one();
  if (thread_.joinable()) thread_.join();
}

std::uint64_t ProgressThread::begin(std::uint64_t shards, std::span<const std::span<float>> nodes) {
  const std::lock_guard lock(mutex_);
  const std::span<float> values = nodes.back();
  for (std::size_t first = 0; first < values.size(); first += kBlock) {
    const std::size_t size = std::min(kBlock, values.size() - first);
    Job job;
    job.ticket = ++begun_;
    job.sum.values = values.subspan(first, size);
    job.sum.shards = shards;
    for (const auto& node : nodes.first(nodes.size() - 1)) job.sum.earlier.push_back(node.subspan(first, size));
    queue_.push_back(std::move(job));
    ++entered_;
  }
  work_.notify_one();
  return begun_;
}

std::uint64_t ProgressThread::begin(std::span<std::uint64_t> bits) {
  const std::lock_guard lock(mutex_);
  if (bits.empty()) return begun_;
  Job job;
  job.ticket = ++begun_;
  job.bits = bits;
  queue_.push_back(job);
  ++entered_;
  work_.notify_one();
  return begun_;
}

void ProgressThread::wait(std::uint64_t ticket) {
  std::unique_lock lock(mutex_);
  waits_in_ = "in the sum of a gradient";
  work_.notify_one();
  finished_.wait(lock, [&] { return finished_up_to_ >= ticket; });
  waits_in_ = nullptr;
}

Traffic ProgressThread::traffic() const {
  const std::lock_guard lock(mutex_);
  return traffic_;
}

ProgressThread::Watched::Watched(ProgressThread& thread, const char* what) : thread_(thread) {
  ++thread_.entered_;
  thread_.waits_in_ = what;
}

ProgressThread::Watched::~Watched() { thread_.waits_in_ = nullptr; }

void ProgressThread::Watched::moved() { ++thread_.main_moves_; }

void ProgressThread::run() {
  try {
    for (;;) {
      const bool idle = !take_jobs();
      {
        const std::lock_guard lock(mutex_);
        if ((stop_ && idle) || abandoned_) return;
      }
      const bool moved = advance();
      call_the_roll();
      rest(moved, idle);
    }
  } catch (const std::exception& error) {
    // Without this thread the rank cannot go on, and the main thread may wait where no exception can reach it.
    log_line(fmt::format("[comm] {}; ending all ranks", sentence_of(error)));
    Environment::abort(1);
  }
}

// Returns false if no job is in progress.
bool ProgressThread::take_jobs() {
  bool any = false;
  for (Slot& slot : slots_) {
    if (!slot.busy) {
      {
        const std::lock_guard lock(mutex_);
        if (queue_.empty()) continue;
        slot.job = std::move(queue_.front());
        queue_.pop_front();
      }
      slot.busy = true;
      begin(slot);
    }
    any = true;
  }
  if (any && !under_way_) under_way_since_ = Clock::now();
  under_way_ = any;
  return any;
}

void ProgressThread::begin(Slot& slot) {
  if (slot.job.bits.empty()) {
    slot.exchange.begin(sums_, grid_, slot.job.ticket, slot.job.sum);
  } else {
    check(MPI_Iallreduce(MPI_IN_PLACE, slot.job.bits.data(), static_cast<int>(slot.job.bits.size()), MPI_UINT64_T,
                         MPI_BOR, sums_, &slot.or_request),
          "MPI_Iallreduce");
  }
}

// Returns true when the job is complete.
bool ProgressThread::advance(Slot& slot) {
  if (slot.job.bits.empty()) {
    const std::uint64_t before = slot.exchange.messages_complete();
    const bool done = slot.exchange.advance();
    moves_ += slot.exchange.messages_complete() - before;
    return done;
  }
  int done = 0;
  check(MPI_Test(&slot.or_request, &done, MPI_STATUS_IGNORE), "MPI_Test");
  return done != 0;
}

// Returns true if any message or block was completed.
bool ProgressThread::advance() {
  const std::uint64_t before = moves_;
  bool busy = false;
  std::uint64_t bytes = 0;
  for (Slot& slot : slots_) {
    if (!slot.busy) continue;
    if (advance(slot)) {
      slot.busy = false;
      ++moves_;
      bytes += slot.job.bits.empty() ? slot.exchange.bytes_sent() : slot.job.bits.size_bytes();
    } else {
      busy = true;
    }
  }
  const std::lock_guard lock(mutex_);
  if (under_way_ && !busy) {
    traffic_.busy_seconds += std::chrono::duration<double>(Clock::now() - under_way_since_).count();
    under_way_ = false;
  }
  traffic_.bytes_sent += bytes;
  // A ticket counts as finished when all tickets up to it are.
  std::uint64_t finished = begun_ - queue_.size();
  for (const Slot& slot : slots_) {
    if (slot.busy) finished = std::min(finished, slot.job.ticket - 1);
  }
  if (finished > finished_up_to_) {
    finished_up_to_ = finished;
    finished_.notify_all();
  }
  return moves_ > before;
}

void ProgressThread::call_the_roll() {
  const auto now = Clock::now();
  if (now - last_tick_ < kTick) return;
  // The time during which the process was suspended does not count as waiting.
  const double elapsed = std::min(1.0, std::chrono::duration<double>(now - last_tick_).count());
  last_tick_ = now;
  const char* waits_in = waits_in_;
  const std::uint64_t moves = moves_ + main_moves_ + entered_;
  const bool moved = moves != seen_moves_;
  seen_moves_ = moves;
  stalled_ = waits_in && !moved ? stalled_ + elapsed : 0;
  RankStatus own;
  own.entered = entered_;
  own.seconds = stalled_;
  own.waits = waits_in != nullptr;
  std::snprintf(own.doing, sizeof own.doing, "%s", waits_in ? waits_in : activity_.load());
  const auto finding = roll_call_.tick(own, stall_timeout_);
  if (!finding) return;
  log_line(fmt::format("[comm] {}{}", finding->text,
                       finding->final ? "; ending all ranks (training can be resumed from its last checkpoint)" : ""));
  if (finding->final) Environment::abort(1);
}

void ProgressThread::rest(bool moved, bool idle) {
  if (idle) {
    std::unique_lock lock(mutex_);
    work_.wait_for(lock, kTick, [this] { return stop_ || abandoned_ || !queue_.empty(); });
    nap_ = microseconds(0);
    return;
  }
  const auto now = Clock::now();
  if (moved) {
    nap_ = microseconds(0);
    last_move_ = now;
  }
  if (waits_in_) {
    // The main thread waits, so polling takes no time from computation: poll without a pause for a while, then with
    // short naps. On shared cores a sleeping thread is woken in time, while one that only yields is scheduled last.
    if (now - last_move_ > kSpin) std::this_thread::sleep_for(kShortestNap);
    return;
  }
  nap_ = std::clamp(nap_ * 2, kShortestNap, kLongestNap);
  std::this_thread::sleep_for(nap_);
}

}  // namespace rnnsearch::comm
