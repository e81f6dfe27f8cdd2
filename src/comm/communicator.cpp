#include "rnnsearch/comm/communicator.h"

#include <mpi.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <cassert>
#include <chrono>
#include <cstdlib>
#include <exception>
#include <memory>
#include <system_error>
#include <thread>

#include "comm/check.h"
#include "comm/chunks.h"
#include "comm/progress_thread.h"
#include "comm/time_limit.h"
#include "rnnsearch/base/error.h"
#include "rnnsearch/base/host_name.h"
#include "rnnsearch/base/log.h"
#include "rnnsearch/base/packed.h"
#include "rnnsearch/comm/launch.h"
#include "rnnsearch/comm/meet.h"
#include "rnnsearch/comm/placement.h"

namespace rnnsearch::comm {
namespace {

static_assert(MPI_VERSION > 3 || (MPI_VERSION == 3 && MPI_SUBVERSION >= 1), "rnnsearch needs MPI 3.1 or later");

/// Whether an Environment has initialised MPI. If not, this process is the whole world, and collectives do nothing.
bool the_world_has_mpi = false;

bool with_mpi() {
  return the_world_has_mpi;
}

std::unique_ptr<ProgressThread>& the_progress_thread() {
  static std::unique_ptr<ProgressThread> instance;
  return instance;
}

const char* variable(const char* name) {
  return std::getenv(name);
}

void start_progress_thread() {
  try {
    the_progress_thread() = std::make_unique<ProgressThread>();
  } catch (const std::exception& error) {  // it may have failed on this rank only; the others would wait for it
    log_line(text_of("[comm] ", place(variable), " cannot begin: ", sentence_of(error), "; ending all ranks"));
    Environment::abort(1);
  }
}

std::string waits_too_long(const char* call, double seconds) {
  return text_of("[comm] ", place(variable), " has waited in ", call, " for ", seconds,
                 " s: another rank is stopped, gone or was never started, or the network between hosts does not "
                 "deliver; ending this rank, and with it all others");
}

/// values = combine(... combine(values of rank 0, values of rank 1) ..., values of the last rank), on every rank.
/// MPI_Allreduce may combine them in any order, which differs from library to library and with it the bits of a sum.
void reduce(std::span<double> values, double (*combine)(double, double)) {
  if (!with_mpi()) return;
  const std::vector<double> all = Communicator().all_gather(values);
  std::copy_n(all.begin(), values.size(), values.begin());
  for (std::size_t i = values.size(); i < all.size(); ++i) {
    double& value = values[i % values.size()];
    value = combine(value, all[i]);
  }
}

/// What the library that is loaded must offer; it may be older than the headers. Throws AgreedError.
void check_library(int thread_level) {
  int version = 0, subversion = 0;
  check(MPI_Get_version(&version, &subversion), "MPI_Get_version");
  if (version < 3 || (version == 3 && subversion < 1)) {
    throw AgreedError(text_of("comm: ", library(), " implements version ", version, ".", subversion,
                              " of the MPI standard, and rnnsearch needs 3.1 or later; use a newer MPI"));
  }
  if (thread_level < MPI_THREAD_MULTIPLE) {
    throw AgreedError(
        text_of("comm: ", library(),
                " does not let several threads call it at the same time; use a build of MPI that provides "
                "MPI_THREAD_MULTIPLE"));
  }
}

}  // namespace

ProgressThread* progress_thread() {
  return the_progress_thread().get();
}

void set_stall_timeout(double seconds) {
  if (progress_thread()) progress_thread()->set_stall_timeout(seconds);
}

Activity::Activity(const char* what) : former_(progress_thread() ? progress_thread()->set_activity(what) : nullptr) {}

Activity::~Activity() {
  if (progress_thread()) progress_thread()->set_activity(former_);
}

Environment::Environment() {
  const Lookup environment = variable;
  double timeout = kStartTimeout;
  try {
    timeout = start_timeout(environment);
  } catch (const UsageError&) {  // the caller asks again once the ranks can agree on it
  }
  // A world of one does not initialise MPI. Without a launcher, processes of Open MPI share a session folder in TMPDIR,
  // which one process may remove while another creates it: where many start and end, such as array jobs on one node,
  // MPI_Init fails at random.
  if (!launch_of(environment).needs_mpi) {
    check_launch(environment, 1, library());
    return;
  }
  int provided = 0;
  const TimeLimit limit(timeout,
                        text_of(waits_too_long("MPI_Init", timeout), " (RNNSEARCH_START_TIMEOUT sets the limit)"));
  // MPI_THREAD_MULTIPLE: the main thread and the progress thread both call MPI. Until the error handler is set, MPI
  // itself ends the process on an error.
  check(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided), "MPI_Init_thread");
  the_world_has_mpi = true;
  try {
    check(MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN), "MPI_Comm_set_errhandler");
    check_library(provided);
    check_launch(environment, Communicator().size(), library());
    if (Communicator().size() > 1) {
      start_progress_thread();
      // This stall timeout holds until the options are read.
      if (timeout > 0) set_stall_timeout(std::min(timeout, kStallTimeout));
    }
  } catch (...) {
    the_world_has_mpi = false;
    MPI_Finalize();  // safe, because every rank fails here in the same way
    throw;
  }
}

Environment::~Environment() {
  if (!with_mpi()) return;
  int ended = 0;
  MPI_Finalized(&ended);
  if (!ended) abort(1);
}

void Environment::finish(int exit_code) {
  if (!with_mpi()) return;
  const double timeout = progress_thread() ? progress_thread()->stall_timeout() : 0;
  // A rank that is late here may still have work to do (the root prints the results of all ranks). During the barrier
  // its progress thread still runs and can say so.
  Communicator().barrier();
  the_progress_thread().reset();
  // All work is done and only MPI's own shutdown is left, so the limit is generous and the exit code is no failure.
  const double limit_seconds = timeout > 0 ? std::max(timeout, 60.0) : 0;
  const TimeLimit limit(limit_seconds, waits_too_long("MPI_Finalize", limit_seconds), exit_code);
  check(MPI_Finalize(), "MPI_Finalize");
}

void end_all_ranks(int exit_code, const std::string& line) {
  static std::atomic_flag root_has_spoken = ATOMIC_FLAG_INIT;
  const bool root = Communicator().is_root();
  try {
    if (!root && progress_thread()) progress_thread()->roll_call().tell_the_root(exit_code, line);
  } catch (const Error&) {  // it cannot be told
  }
  while (root && root_has_spoken.test_and_set()) ::pause();  // another thread ends this process
  log_line(line);
  Environment::abort(exit_code);
}

void Environment::abort(int exit_code) {
  int begun = 0, ended = 0;
  MPI_Initialized(&begun);
  MPI_Finalized(&ended);
  if (begun && !ended) {
    // MPI_Abort tells the other ranks, which takes forever if the network to them is down. This process therefore ends
    // after 5 s in any case; the other ranks detect the stall themselves.
    try {
      std::thread([exit_code] {
        std::this_thread::sleep_for(std::chrono::seconds(5));
        std::_Exit(exit_code);
      }).detach();
    } catch (const std::system_error&) {  // no thread could be started: go on without the time limit
    }
    MPI_Abort(MPI_COMM_WORLD, exit_code);
  }
  std::_Exit(exit_code);
}

int Communicator::rank() const {
  if (!with_mpi()) return 0;
  int rank = 0;
  check(MPI_Comm_rank(MPI_COMM_WORLD, &rank), "MPI_Comm_rank");
  return rank;
}

int Communicator::size() const {
  if (!with_mpi()) return 1;
  int size = 0;
  check(MPI_Comm_size(MPI_COMM_WORLD, &size), "MPI_Comm_size");
  return size;
}

Communicator::Ticket Communicator::begin_all_reduce(std::span<float> values) const {
  return progress_thread() ? progress_thread()->begin(values) : 0;
}

Communicator::Ticket Communicator::begin_tree_reduce(std::uint64_t shards,
                                                     std::span<const std::span<float>> nodes) const {
  return progress_thread() ? progress_thread()->begin(shards, nodes) : 0;
}

Communicator::Ticket Communicator::begin_or_reduce(std::span<std::uint64_t> bits) const {
  return progress_thread() ? progress_thread()->begin(bits) : 0;
}

void Communicator::wait(Ticket ticket) const {
  if (progress_thread()) progress_thread()->wait(ticket);
}

void Communicator::wait_for_all() const {
  if (progress_thread()) progress_thread()->wait(progress_thread()->begun());
}

void Communicator::abandon() const {
  if (progress_thread()) progress_thread()->abandon();
}

Traffic Communicator::traffic() const {
  return progress_thread() ? progress_thread()->traffic() : Traffic{};
}

void Communicator::all_reduce(std::span<float> values) const {
  wait(begin_all_reduce(values));
}

void Communicator::all_reduce(std::span<double> values) const {
  reduce(values, [](double sum, double value) { return sum + value; });
}

void Communicator::max(std::span<double> values) const {
  reduce(values, [](double most, double value) { return std::max(most, value); });
}

std::vector<double> Communicator::all_gather(std::span<const double> values) const {
  if (!with_mpi() || values.empty()) return {values.begin(), values.end()};
  const ProgressThread::Watched watched(progress_thread(), "in a sum of a few numbers");
  const auto count = static_cast<int>(values.size());
  std::vector<double> all(values.size() * static_cast<std::size_t>(size()));
  check(MPI_Allgather(values.data(), count, MPI_DOUBLE, all.data(), count, MPI_DOUBLE, MPI_COMM_WORLD),
        "MPI_Allgather");
  return all;
}

void Communicator::barrier() const {
  if (!with_mpi()) return;
  const ProgressThread::Watched watched(progress_thread(), "in a barrier");
  check(MPI_Barrier(MPI_COMM_WORLD), "MPI_Barrier");
}

void Communicator::broadcast(std::string& text, int from) const {
  std::uint64_t bytes = text.size();
  broadcast(std::span(&bytes, 1), from);
  text.resize(bytes);
  broadcast_in_chunks(std::as_writable_bytes(std::span(text)), from, kChunk);
}

void Communicator::broadcast(std::span<float> values, int from) const {
  broadcast_in_chunks(std::as_writable_bytes(values), from, kChunk);
}

void Communicator::broadcast(std::span<std::uint64_t> values, int from) const {
  broadcast_in_chunks(std::as_writable_bytes(values), from, kChunk);
}

std::vector<std::string> Communicator::gather(const std::string& text) const {
  return gather_in_chunks(text, kChunk);
}

std::vector<std::string> Communicator::hosts() const {
  Packer packer;
  const std::vector<std::string> names = gather(host_name()), boots = gather(boot_id());
  for (const std::string& host : distinct_hosts(names, boots)) packer.add_text(host);
  std::string bytes = packer.take();
  broadcast(bytes);
  std::vector<std::string> hosts;
  for (Unpacker unpacker(bytes); !unpacker.empty();) hosts.emplace_back(unpacker.next_text());
  return hosts;
}

void broadcast_in_chunks(std::span<std::byte> bytes, int from, std::size_t chunk) {
  if (!with_mpi()) {
    assert(from == 0);
    return;
  }
  ProgressThread::Watched watched(progress_thread(), "in a broadcast");
  for (std::size_t first = 0; first < bytes.size(); first += chunk) {
    const auto part = bytes.subspan(first, std::min(chunk, bytes.size() - first));
    check(MPI_Bcast(part.data(), static_cast<int>(part.size()), MPI_BYTE, from, MPI_COMM_WORLD), "MPI_Bcast");
    watched.moved();
  }
}

std::vector<std::string> gather_in_chunks(const std::string& text, std::size_t chunk) {
  if (!with_mpi()) return {text};
  const Communicator world;
  ProgressThread::Watched watched(progress_thread(), "while it gathers text");
  constexpr int kTag = 1;
  const auto count_of = [chunk](std::size_t first, std::size_t size) {
    return static_cast<int>(std::min(chunk, size - first));
  };
  std::vector<std::uint64_t> sizes(world.is_root() ? static_cast<std::size_t>(world.size()) : 0);
  const std::uint64_t size = text.size();
  check(MPI_Gather(&size, 1, MPI_UINT64_T, sizes.data(), 1, MPI_UINT64_T, 0, MPI_COMM_WORLD), "MPI_Gather");
  if (!world.is_root()) {
    for (std::size_t first = 0; first < text.size(); first += chunk) {
      check(MPI_Send(text.data() + first, count_of(first, text.size()), MPI_BYTE, 0, kTag, MPI_COMM_WORLD), "MPI_Send");
      watched.moved();
    }
    return {};
  }
  std::vector<std::string> texts(sizes.size());
  texts[0] = text;
  for (std::size_t rank = 1; rank < texts.size(); ++rank) {
    texts[rank].resize(sizes[rank]);
    for (std::size_t first = 0; first < texts[rank].size(); first += chunk) {
      check(MPI_Recv(texts[rank].data() + first, count_of(first, texts[rank].size()), MPI_BYTE, static_cast<int>(rank),
                     kTag, MPI_COMM_WORLD, MPI_STATUS_IGNORE),
            "MPI_Recv");
      watched.moved();
    }
  }
  return texts;
}

std::string library() {
  // This call is allowed before MPI_Init, and thus in a world of one (MPI 3.1, section 8.1.1).
  std::string text(MPI_MAX_LIBRARY_VERSION_STRING, ' ');
  int length = 0;
  check(MPI_Get_library_version(text.data(), &length), "MPI_Get_library_version");
  text.resize(static_cast<std::size_t>(length));
  text = text.substr(0, text.find_first_of(",\n"));  // what follows is where and by whom the library was built
  std::replace(text.begin(), text.end(), '\t', ' ');
  return text;
}

bool library_is_open_mpi() {
  return library().starts_with("Open MPI");
}

std::string launch_without_binding() {
  return text_of(library_is_open_mpi() ? "mpirun --bind-to none" : "mpiexec -bind-to none",
                 ", or srun --cpu-bind=none");
}

}  // namespace rnnsearch::comm
