#include "rnnsearch/comm/communicator.h"

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cstdlib>
#include <exception>
#include <map>
#include <optional>
#include <set>
#include <system_error>
#include <utility>

#include "comm/exchange.h"
#include "comm/progress_thread.h"
#include "rnnsearch/base/error.h"
#include "rnnsearch/base/machine.h"
#include "rnnsearch/comm/launch.h"
#include "rnnsearch/comm/meet.h"

namespace rnnsearch::comm {
namespace {

static_assert(MPI_VERSION > 3 || (MPI_VERSION == 3 && MPI_SUBVERSION >= 1), "rnnsearch needs MPI 3.1 or later");

constexpr double kSecondsToAbort = 5;

/// COLLECTIVE. None for one rank, which has nobody to send to.
std::unique_ptr<ProgressThread> thread_for(MPI_Comm comm) {
  int size = 0;
  check(MPI_Comm_size(comm, &size), "MPI_Comm_size");
  return size > 1 ? std::make_unique<ProgressThread>(comm) : nullptr;
}

std::string waits_too_long(const char* call, double seconds) {
  return fmt::format(
      "[comm] {} has waited in {} for {:g} s: another rank is stopped, gone or was never started, or the network "
      "between hosts does not deliver; ending this rank, and with it all others",
      rank_name(::getenv), call, seconds);
}

/// values = combine(... combine(values of rank 0, values of rank 1) ..., values of the last rank), on every rank.
/// MPI_Allreduce may combine them in any order, which differs from library to library and with it the bits of a sum.
void reduce(const Communicator& communicator, std::span<double> values, double (*combine)(double, double)) {
  const std::vector<double> all = communicator.all_gather(values);
  std::copy_n(all.begin(), values.size(), values.begin());
  for (std::size_t i = values.size(); i < all.size(); ++i) {
    double& value = values[i % values.size()];
    value = combine(value, all[i]);
  }
}

/// Calls act(first, count) for the chunks of so many bytes, one after the other, and tells the stall check of each.
void in_chunks(ProgressThread::Watched& watched, std::size_t size, std::size_t chunk_bytes, const auto& act) {
  for (std::size_t first = 0; first < size; first += chunk_bytes) {
    act(first, static_cast<int>(std::min(chunk_bytes, size - first)));
    watched.moved();
  }
}

/// What the library that is loaded must offer; it may be older than the headers. Throws AgreedError.
void check_library(int thread_level) {
  int version = 0, subversion = 0;
  check(MPI_Get_version(&version, &subversion), "MPI_Get_version");
  if (version < 3 || (version == 3 && subversion < 1)) {
    throw AgreedError(fmt::format(
        "comm: {} implements version {}.{} of the MPI standard, and rnnsearch needs 3.1 or later; use a newer MPI",
        library(), version, subversion));
  }
  if (thread_level < MPI_THREAD_MULTIPLE) {
    throw AgreedError(
        fmt::format("comm: {} does not let several threads call it at the same time; use a build of MPI that provides "
                    "MPI_THREAD_MULTIPLE",
                    library()));
  }
}

}  // namespace

Activity::Activity(const Communicator& communicator, const char* what)
    : thread_(communicator.thread_.get()), former_(thread_ ? thread_->set_activity(what) : nullptr) {}

Activity::~Activity() {
  if (thread_) thread_->set_activity(former_);
}

Environment::Environment() {
  const Lookup environment = ::getenv;
  double timeout = kStartTimeout;
  try {
    timeout = start_timeout(environment);
  } catch (const UsageError&) {  // the caller asks again once the ranks can agree on it
  }
  // A process that is alone does not initialise MPI. Without a launcher, processes of Open MPI share a session folder
  // in TMPDIR, which one process may remove while another creates it: where many start and end, such as array jobs on
  // one node, MPI_Init fails at random.
  if (!launch_of(environment).needs_mpi) {
    check_launch(environment, 1, library());
    return;
  }
  int provided = 0;
  const TimeLimit limit(
      timeout, fmt::format("{} (RNNSEARCH_START_TIMEOUT sets the limit)", waits_too_long("MPI_Init", timeout)));
  // MPI_THREAD_MULTIPLE: the main thread and the progress thread both call MPI. Until the error handler is set, MPI
  // itself ends the process on an error.
  check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided), "MPI_Init_thread");
  with_mpi_ = true;
  try {
    check(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    check_library(provided);
    int size = 0;
    check(MPI_Comm_size(MPI_COMM_WORLD, &size), "MPI_Comm_size");
    check_launch(environment, size, library());
  } catch (...) {
    MPI_Finalize();  // safe, because every rank fails here in the same way
    throw;
  }
  try {
    communicator_ = Communicator(thread_for(MPI_COMM_WORLD));
  } catch (const std::exception& error) {  // it may have failed on this rank only; the others would wait for it
    log_line(fmt::format("[comm] {} cannot begin: {}; ending all ranks", rank_name(::getenv), sentence_of(error)));
    abort(1);
  }
  // This stall timeout holds until the options are read.
  if (timeout > 0) communicator_.set_stall_timeout(std::min(timeout, kStallTimeout));
}

Environment::~Environment() {
  if (!with_mpi_) return;
  int ended = 0;
  MPI_Finalized(&ended);
  if (!ended) abort(1);
}

void Environment::finish(int exit_code) {
  if (!with_mpi_) return;
  const double timeout = communicator_.thread_ ? communicator_.thread_->stall_timeout() : 0;
  // A rank that is late here may still have work to do (the root prints the results of all ranks). During the barrier
  // its progress thread still runs and can say so.
  communicator_.barrier();
  // All work is done and only MPI's own shutdown is left, so the limit is generous and the exit code is no failure.
  const double limit_seconds = timeout > 0 ? std::max(timeout, 60.0) : 0;
  const TimeLimit limit(limit_seconds, waits_too_long("MPI_Finalize", limit_seconds), exit_code);
  communicator_ = Communicator();
  check(MPI_Finalize(), "MPI_Finalize");
}

void Environment::abort(int exit_code) {
  int begun = 0, ended = 0;
  MPI_Initialized(&begun);
  MPI_Finalized(&ended);
  if (begun && !ended) {
    // MPI_Abort tells the other ranks, which takes forever if the network to them is down. This process therefore ends
    // soon in any case; the other ranks detect the stall themselves.
    std::optional<TimeLimit> limit;
    try {
      limit.emplace(kSecondsToAbort, "", exit_code);
    } catch (const std::system_error&) {  // no thread could be started: go on without the time limit
    }
    MPI_Abort(MPI_COMM_WORLD, exit_code);
  }
  std::_Exit(exit_code);
}

Communicator::Communicator() = default;
Communicator::Communicator(std::unique_ptr<ProgressThread> thread) : thread_(std::move(thread)) {}
Communicator::~Communicator() = default;
Communicator::Communicator(Communicator&&) noexcept = default;
Communicator& Communicator::operator=(Communicator&&) noexcept = default;

int Communicator::rank() const { return thread_ ? thread_->rank() : 0; }

int Communicator::size() const { return thread_ ? thread_->size() : 1; }

Communicator::Ticket Communicator::begin_all_reduce(std::span<float> values) const {
  return thread_ ? thread_->begin(0, std::array{values}) : 0;
}

Communicator::Ticket Communicator::begin_tree_reduce(std::uint64_t shards,
                                                     std::span<const std::span<float>> nodes) const {
  return thread_ ? thread_->begin(shards, nodes) : 0;
}

Communicator::Ticket Communicator::begin_or_reduce(std::span<std::uint64_t> bits) const {
  return thread_ ? thread_->begin(bits) : 0;
}

void Communicator::wait(Ticket ticket) const {
  if (thread_) thread_->wait(ticket);
}

void Communicator::wait_for_all() const {
  if (thread_) thread_->wait(thread_->begun());
}

void Communicator::abandon() const {
  if (thread_) thread_->abandon();
}

Traffic Communicator::traffic() const { return thread_ ? thread_->traffic() : Traffic{}; }

void Communicator::all_reduce(std::span<float> values) const { wait(begin_all_reduce(values)); }

void Communicator::all_reduce(std::span<double> values) const {
  reduce(*this, values, [](double sum, double value) { return sum + value; });
}

void Communicator::max(std::span<double> values) const {
  reduce(*this, values, [](double most, double value) { return std::max(most, value); });
}

std::vector<double> Communicator::all_gather(std::span<const double> values) const {
  if (!thread_ || values.empty()) return {values.begin(), values.end()};
  const ProgressThread::Watched watched(*thread_, "in a sum of a few numbers");
  const auto count = static_cast<int>(values.size());
  std::vector<double> all(values.size() * static_cast<std::size_t>(size()));
  check(MPI_Allgather(values.data(), count, MPI_DOUBLE, all.data(), count, MPI_DOUBLE, thread_->collectives()),
        "MPI_Allgather");
  return all;
}

void Communicator::barrier() const {
  if (!thread_) return;
  const ProgressThread::Watched watched(*thread_, "in a barrier");
  check(MPI_Barrier(thread_->collectives()), "MPI_Barrier");
}

void Communicator::broadcast(std::string& text, int from) const {
  std::uint64_t bytes = text.size();
  broadcast(std::span(&bytes, 1), from);
  text.resize(bytes);
  broadcast(std::as_writable_bytes(std::span(text)), from);
}

void Communicator::broadcast(std::span<float> values, int from) const {
  broadcast(std::as_writable_bytes(values), from);
}

void Communicator::broadcast(std::span<std::uint64_t> values, int from) const {
  broadcast(std::as_writable_bytes(values), from);
}

void Communicator::broadcast(std::span<std::byte> bytes, int from, std::size_t chunk_bytes) const {
  assert(thread_ || from == 0);
  if (!thread_) return;
  ProgressThread::Watched watched(*thread_, "in a broadcast");
  in_chunks(watched, bytes.size(), chunk_bytes, [&](std::size_t first, int count) {
    check(MPI_Bcast(bytes.data() + first, count, MPI_BYTE, from, thread_->collectives()), "MPI_Bcast");
  });
}

std::vector<std::string> Communicator::gather(const std::string& text, std::size_t chunk_bytes) const {
  if (!thread_) return {text};
  const MPI_Comm comm = thread_->collectives();
  ProgressThread::Watched watched(*thread_, "while it gathers text");
  constexpr int kTag = 1;
  std::vector<std::uint64_t> sizes(is_root() ? static_cast<std::size_t>(size()) : 0);
  const std::uint64_t own_size = text.size();
  check(MPI_Gather(&own_size, 1, MPI_UINT64_T, sizes.data(), 1, MPI_UINT64_T, 0, comm), "MPI_Gather");
  if (!is_root()) {
    in_chunks(watched, text.size(), chunk_bytes, [&](std::size_t first, int count) {
      check(MPI_Send(text.data() + first, count, MPI_BYTE, 0, kTag, comm), "MPI_Send");
    });
    return {};
  }
  std::vector<std::string> texts(sizes.size());
  texts[0] = text;
  for (std::size_t rank = 1; rank < texts.size(); ++rank) {
    texts[rank].resize(sizes[rank]);
    in_chunks(watched, texts[rank].size(), chunk_bytes, [&](std::size_t first, int count) {
      check(
          MPI_Recv(texts[rank].data() + first, count, MPI_BYTE, static_cast<int>(rank), kTag, comm, MPI_STATUS_IGNORE),
          "MPI_Recv");
    });
  }
  return texts;
}

std::vector<std::string> Communicator::hosts() const { return thread_ ? thread_->hosts() : std::vector{host_name()}; }

void Communicator::set_stall_timeout(double seconds) const {
  if (thread_) thread_->set_stall_timeout(seconds);
}

void Communicator::end_all_ranks(int exit_code, const std::string& line) const {
  if (thread_) thread_->roll_call().end_all_ranks(exit_code, line);
  log_line(line);
  Environment::abort(exit_code);
}

std::vector<std::string> distinct_hosts(std::vector<std::string> names, const std::vector<std::string>& boots) {
  std::map<std::string, std::vector<std::string>> machines;  // by their name, in the order of their first ranks
  for (std::size_t rank = 0; rank < names.size(); ++rank) {
    auto& alike = machines[names[rank]];
    const auto at = std::find(alike.begin(), alike.end(), boots[rank]) - alike.begin();
    if (at == static_cast<std::ptrdiff_t>(alike.size())) alike.push_back(boots[rank]);
    if (at > 0) names[rank] += fmt::format("#{}", at + 1);
  }
  return names;
}

int ranks_of_each_host(const std::vector<std::string>& hosts) {
  std::size_t each = 1;
  while (each < hosts.size() && hosts[each] == hosts[0]) ++each;
  if (hosts.size() % each != 0) return 1;
  std::set<std::string> seen;
  for (std::size_t first = 0; first < hosts.size(); first += each) {
    const auto begin = hosts.begin() + static_cast<std::ptrdiff_t>(first);
    if (!seen.insert(*begin).second ||
        std::count(begin, begin + static_cast<std::ptrdiff_t>(each), *begin) != static_cast<std::ptrdiff_t>(each)) {
      return 1;
    }
  }
  return static_cast<int>(each);
}

std::string library() {
  // This call is allowed before MPI_Init, and thus in a process that is alone (MPI 3.1, section 8.1.1).
  std::string text(MPI_MAX_LIBRARY_VERSION_STRING, ' ');
  int length = 0;
  check(MPI_Get_library_version(text.data(), &length), "MPI_Get_library_version");
  text.resize(static_cast<std::size_t>(length));
  text = text.substr(0, text.find_first_of(",\n"));  // what follows is where and by whom the library was built
  std::replace(text.begin(), text.end(), '\t', ' ');
  return text;
}

bool library_is_open_mpi() { return library().starts_with("Open MPI"); }

std::string launch_without_binding() {
  return fmt::format("{}, or srun --cpu-bind=none",
                     library_is_open_mpi() ? "mpirun --bind-to none" : "mpiexec -bind-to none");
}

}  // namespace rnnsearch::comm
