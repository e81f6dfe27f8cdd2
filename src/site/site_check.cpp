#include "rnnsearch/site/site_check.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <cmath>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <map>
#include <thread>
#include <utility>

#include "rnnsearch/base/error.h"
#include "rnnsearch/base/packed.h"
#include "rnnsearch/base/printable.h"
#include "rnnsearch/base/stopwatch.h"
#include "rnnsearch/site/placement.h"
#include "rnnsearch/storage/sealed_file.h"

namespace rnnsearch::site {
namespace {

namespace fs = std::filesystem;

// RNNsearch-50 of the paper: 80.6 million parameters. A checkpoint has three numbers of 4 bytes for each (weight and
// Adadelta's two); a run keeps the newest two and the best while it writes the next.
constexpr double kPaperGradientBytes = 4 * 80.6e6;
constexpr double kPaperRunBytes = 4 * 3 * kPaperGradientBytes;

/// Hosts in the order of their first ranks, and how many ranks each has.
std::vector<std::pair<std::string, std::size_t>> hosts_of(const std::vector<NodeFacts>& ranks) {
  std::vector<std::pair<std::string, std::size_t>> hosts;
  for (const auto& rank : ranks) {
    auto host = std::ranges::find(hosts, rank.host, &std::pair<std::string, std::size_t>::first);
    if (host == hosts.end()) host = hosts.insert(host, {rank.host, 0});
    ++host->second;
  }
  return hosts;
}

/// COLLECTIVE. Runs `act` on the ranks that `takes_part` names; at the root why it failed, one text a rank, empty where
/// it did not.
std::vector<std::string> failures(const comm::Communicator& communicator, bool takes_part,
                                  const std::function<void()>& act) {
  std::string failure;
  if (takes_part) {
    try {
      act();
    } catch (const std::exception& error) {
      failure = sentence_of(error);
    }
  }
  return communicator.gather(failure);
}

/// The first failure with rank and host; empty when there is none.
std::string first_of(const std::vector<std::string>& failures, const std::vector<std::string>& hosts) {
  for (std::size_t rank = 0; rank < failures.size(); ++rank) {
    if (!failures[rank].empty()) return fmt::format("rank {} on {}: {}", rank, hosts[rank], failures[rank]);
  }
  return "";
}

/// Tries what a training does to files, in a folder of its own that is removed again.
class FolderTrial {
 public:
  FolderTrial(const comm::Communicator& communicator, const fs::path& folder)
      : communicator_(communicator), hosts_(communicator.hosts()), folder_(folder) {
    // One name for all ranks.
    std::string name = fmt::format(".node-check-{}-{}", hosts_.front(), ::getpid());
    communicator.broadcast(name);
    trial_ = folder_ / name;
  }

  /// COLLECTIVE. At the root what was found; nothing elsewhere.
  std::vector<Finding> run() {
    const std::string there = failure_at_root([&] { make_folder(); });
    if (!there.empty()) {
      add({Level::kFailed, "folder", there, "name a --folder that this user may write"});
      return std::move(findings_);
    }
    try_all();
    std::error_code ignored;
    communicator_.barrier();
    if (communicator_.is_root()) fs::remove_all(trial_, ignored);
    return std::move(findings_);
  }

 private:
  static constexpr std::size_t kFloats = 1 << 24;  // 64 MiB

  void try_all() {
    if (communicator_.is_root()) add(space());

    // As checkpoints are written by the root and read by others.
    double seconds = 0;
    const fs::path file = trial_ / "first.h5";
    const auto write_failure = failure_at_root([&] {
      const Stopwatch watch;
      write(file, 1, kFloats);
      seconds = watch.seconds();
    });
    if (!write_failure.empty()) {
      add({Level::kFailed, "write", write_failure, "choose a --folder with room, on a file system that can fsync"});
      return;
    }
    const double megabytes = 4e-6 * static_cast<double>(kFloats);
    add({Level::kOk, "write",
         fmt::format("{:.0f} MB as HDF5, fsync, read back and rename in {:.2f} s: {:.0f} MB/s", megabytes, seconds,
                     megabytes / seconds),
         ""});

    constexpr const char* kShare = "give a --folder on a file system that all hosts share, mounted under one path";
    double waited = 0;
    const auto read_failures = failures(communicator_, true, [&] { waited = read_at_last(file, 1); });
    if (!report("read", first_of(read_failures, hosts_), "every rank reads what rank 0 wrote", kShare)) return;
    say_of_delay("read", waited, "a file that rank 0 had written became visible to all ranks");

    // A second checkpoint under the same name: what `latest` and `best` do.
    const auto replace_failure = failure_at_root([&] { write(file, 2, 1); });
    const auto replaced = failures(communicator_, replace_failure.empty(), [&] { waited = read_at_last(file, 2); });
    const auto second_failure = replace_failure.empty() ? first_of(replaced, hosts_) : replace_failure;
    if (report("rename", second_failure, "every rank sees the file that replaced another", kShare)) {
      say_of_delay("rename", waited, "a file that replaced another became visible to all ranks");
    }

    // The root of the next attempt may be on any host.
    const auto own = [&](std::size_t rank) { return trial_ / fmt::format("rank-{}.h5", rank); };
    const auto rank = static_cast<std::size_t>(communicator_.rank());
    const auto is_first_of_host = [&](std::size_t r) { return &*std::ranges::find(hosts_, hosts_[r]) == &hosts_[r]; };
    auto from_all = failures(communicator_, is_first_of_host(rank), [&] { write(own(rank), 3, 1); });
    for (std::size_t r = 0; r < from_all.size(); ++r) {  // the root
      if (!from_all[r].empty() || !is_first_of_host(r)) continue;
      try {
        read_at_last(own(r), 3);
      } catch (const std::exception& error) {
        from_all[r] = fmt::format("rank 0 cannot read what it wrote: {}", sentence_of(error));
      }
    }
    report("write anywhere", first_of(from_all, hosts_), "one rank of every host writes, rank 0 reads", kShare);

    const auto lock_failures = failures(communicator_, true, [&] { lock(trial_ / "lock"); });
    const char* const set = std::getenv("HDF5_USE_FILE_LOCKING");
    add(lock_finding(first_of(lock_failures, hosts_), set ? set : ""));
  }

  void make_folder() const {
    if (!fs::is_directory(folder_)) throw Error("{} is not a folder", folder_);
    std::error_code reason;
    fs::create_directory(trial_, reason);
    if (reason) throw Error("cannot write in {}: {}", folder_, reason.message());
  }

  Finding space() const {
    struct statvfs status {};
    if (::statvfs(folder_.c_str(), &status) != 0) {
      return {Level::kWarning, "space", fmt::format("cannot be determined: {}", std::strerror(errno)), "see df"};
    }
    const double bytes = static_cast<double>(status.f_bavail) * static_cast<double>(status.f_frsize);
    const std::string text = fmt::format("{:.1f} GB free in {}", bytes / 1e9, folder_);
    if (bytes >= kPaperRunBytes) return {Level::kOk, "space", text + " (quotas are not seen)", ""};
    return {Level::kWarning, "space",
            fmt::format("{}, and a run of the paper's size needs {:.1f} GB", text, kPaperRunBytes / 1e9),
            "make room, or choose another --folder"};
  }

  /// The project's own way of writing: a temporary, HDF5, fsync, read back, rename.
  static void write(const fs::path& path, std::int64_t content, std::size_t floats) {
    storage::SealedWriter writer(path);
    storage::write_format(writer.file(), "rnnsearch-node-check");
    writer.file().write_attribute("/", "content", content);
    std::vector<float> values(floats);
    for (std::size_t i = 0; i < floats; ++i) values[i] = static_cast<float>(i % 1021);
    writer.file().write<float>("/values", values);
    writer.publish();
  }

  /// Network file systems may show a change late: tries for some seconds, and returns how many it took.
  static double read_at_last(const fs::path& path, std::int64_t content) {
    constexpr double kPatience = 10;
    const Stopwatch watch;
    for (;;) {
      std::string failure;
      try {
        const auto file = storage::open_sealed(path, "node-check");
        if (file.attribute<std::int64_t>("/", "content") == content) return watch.seconds();
        failure = fmt::format("{} still holds what it held before", path);
      } catch (const Error& error) {
        failure = error.what();
      }
      if (watch.seconds() > kPatience) throw Error("{}, after {:.0f} s", failure, kPatience);
      std::this_thread::sleep_for(std::chrono::milliseconds(50));
    }
  }

  /// As HDF5 locks: flock, shared, without waiting.
  static void lock(const fs::path& path) {
    const int file = ::open(path.c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0666);
    if (file < 0) throw Error("cannot open {}: {}", path, std::strerror(errno));
    const bool locked = ::flock(file, LOCK_SH | LOCK_NB) == 0;
    const int reason = errno;
    ::close(file);
    if (!locked) throw Error(std::strerror(reason));
  }

  /// COLLECTIVE. Why `act` failed at the root, on all ranks; empty if it did not.
  std::string failure_at_root(const std::function<void()>& act) const {
    return agreed(first_of(failures(communicator_, communicator_.is_root(), act), hosts_));
  }

  /// The root's text, on all ranks.
  std::string agreed(std::string text) const {
    communicator_.broadcast(text);
    return text;
  }

  /// COLLECTIVE. True: there was no failure.
  bool report(const char* topic, const std::string& failure, const char* good, const char* next_step) {
    const std::string known = agreed(failure);
    if (known.empty()) {
      add({Level::kOk, topic, good, ""});
    } else {
      add({Level::kFailed, topic, known, next_step});
    }
    return known.empty();
  }

  /// COLLECTIVE. Seconds beyond what the reading itself takes.
  void say_of_delay(const char* topic, double waited, const char* what) {
    communicator_.max(std::span(&waited, 1));
    constexpr double kNoticeable = 1;
    if (waited < kNoticeable) return;
    add({Level::kWarning, topic, fmt::format("{} after {:.1f} s", what, waited),
         "expect that delay where a command reads a checkpoint that was just written on another host"});
  }

  void add(Finding finding) {
    if (communicator_.is_root()) findings_.push_back(std::move(finding));
  }

  const comm::Communicator& communicator_;
  std::vector<std::string> hosts_;
  fs::path folder_, trial_;
  std::vector<Finding> findings_;
};

/// COLLECTIVE. One size; every rank returns the same.
Sum time_sum(const comm::Communicator& communicator, std::size_t bytes, std::size_t repetitions) {
  const auto ranks = static_cast<double>(communicator.size());
  std::vector<float> values(bytes / sizeof(float));
  std::vector<double> seconds(repetitions);
  double wrong = 0;
  for (std::size_t i = 0; i <= repetitions; ++i) {  // the first is not timed
    std::fill(values.begin(), values.end(), static_cast<float>(communicator.rank() + 1));
    communicator.barrier();
    const Stopwatch watch;
    communicator.all_reduce(std::span<float>(values));
    if (i > 0) seconds[i - 1] = watch.seconds();
    const auto expected = static_cast<float>(ranks * (ranks + 1) / 2);
    if (std::any_of(values.begin(), values.end(), [&](float value) { return value != expected; })) wrong = 1;
  }
  communicator.max(std::span<double>(seconds));
  communicator.max(std::span(&wrong, 1));
  std::nth_element(seconds.begin(), seconds.begin() + static_cast<std::ptrdiff_t>(repetitions / 2), seconds.end());
  return {bytes, wrong > 0 ? 0.0 : seconds[repetitions / 2]};
}

std::string seconds_text(double seconds) {
  if (seconds < 1e-3) return fixed(seconds * 1e6, 1) + " us";
  return seconds < 1 ? fixed(seconds * 1e3, 2) + " ms" : fixed(seconds, 2) + " s";
}

std::string size_text(std::size_t bytes) {
  return bytes < 1000000 ? counted(bytes, "byte") : fmt::format("{} MB", bytes / 1000000);
}

}  // namespace

std::vector<NodeFacts> gather_facts(const comm::Communicator& communicator, const NodeFacts& own) {
  std::vector<NodeFacts> facts;
  for (const std::string& of_rank : communicator.gather(packed(own))) facts.push_back(unpacked<NodeFacts>(of_rank));
  return facts;
}

std::size_t host_count(const std::vector<NodeFacts>& ranks) { return hosts_of(ranks).size(); }

Finding ranks_finding(const std::vector<NodeFacts>& ranks, std::size_t tasks, const std::string& library) {
  const auto hosts = hosts_of(ranks);
  std::vector<std::string> names;
  for (const auto& [host, count] : hosts) names.push_back(fmt::format("{}: {}", host, count));
  const std::string text = fmt::format("{} on {} ({}), {}", counted(ranks.size(), "rank"),
                                       counted(hosts.size(), "host"), listed(std::move(names)), library);
  if (tasks > 0 && tasks != ranks.size()) {
    return {Level::kWarning, "ranks", fmt::format("{}; SLURM granted {}", text, counted(tasks, "task")),
            "start as many ranks as there are tasks, unless the others are meant to be idle"};
  }
  return {Level::kOk, "ranks", text, ""};
}

std::vector<Finding> processor_findings(const std::vector<NodeFacts>& ranks) {
  const auto finding = [&](const char* topic, const std::function<std::string(const NodeFacts&)>& of,
                           const std::string& next_step) -> Finding {
    std::map<std::string, std::string> hosts;  // first of each kind
    for (const auto& rank : ranks) hosts.emplace(of(rank), rank.host);
    if (hosts.size() == 1)
      return {Level::kOk, topic, hosts.begin()->first + (ranks.size() > 1 ? " everywhere" : ""), ""};
    std::vector<std::string> kinds;
    for (const auto& [kind, host] : hosts) kinds.push_back(fmt::format("{} has {}", host, kind));
    return {Level::kWarning, topic, "differs: " + listed(std::move(kinds)), next_step};
  };
  auto instructions = finding(
      "instructions", [](const NodeFacts& rank) { return rank.instruction_set; },
      "ask for hosts of one kind: training refuses to mix SSE2 with others, whose sums have other last digits");
  // AVX2 and AVX-512 give the same bits, and so do AVX512-BF16 and its emulation; SSE2 and AMX give others.
  if (std::ranges::none_of(ranks, [](const NodeFacts& rank) { return rank.instruction_set == "sse2"; }))
    instructions = {Level::kOk, instructions.topic, instructions.text, ""};
  const bool amx = std::ranges::any_of(ranks, [](const NodeFacts& rank) { return rank.bfloat16_unit == "amx"; });
  return {
      std::move(instructions),
      finding(
          "bfloat16", [](const NodeFacts& rank) { return rank.bfloat16_unit.empty() ? "none" : rank.bfloat16_unit; },
          amx ? "ask for hosts of one kind, train with --precision f32, or set RNNSEARCH_SIMD=avx512 on all: a run "
                "in bf16 is rejected on these hosts"
              : "ask for hosts of one kind, or train with --precision f32: with --precision bf16 a host without a unit "
                "emulates it, and all others wait")};
}

std::vector<double> clocks_ahead(const comm::Communicator& communicator) {
  constexpr std::size_t kRounds = 11;
  std::vector<std::vector<double>> ahead(static_cast<std::size_t>(communicator.size()));
  for (std::size_t round = 0; round < kRounds; ++round) {
    communicator.barrier();
    const double now = unix_seconds();
    const std::vector<double> moments = communicator.all_gather(std::span(&now, 1));
    for (std::size_t r = 0; r < moments.size(); ++r) ahead[r].push_back(moments[r] - moments[0]);
  }
  std::vector<double> medians;
  for (auto& of_rank : ahead) {
    std::nth_element(of_rank.begin(), of_rank.begin() + kRounds / 2, of_rank.end());
    medians.push_back(of_rank[kRounds / 2]);
  }
  return medians;
}

Finding clock_finding(const std::vector<NodeFacts>& ranks, const std::vector<double>& seconds_ahead) {
  constexpr double kMost = 2;  // seconds; less is lost in what a deadline leaves for air
  const auto further = [](double a, double b) { return std::fabs(a) < std::fabs(b); };
  const auto most = std::max_element(seconds_ahead.begin(), seconds_ahead.end(), further);
  const auto& host = ranks[static_cast<std::size_t>(most - seconds_ahead.begin())].host;
  if (std::fabs(*most) < kMost) return {Level::kOk, "clocks", "apart by at most " + seconds_text(std::fabs(*most)), ""};
  return {Level::kWarning, "clocks",
          fmt::format("that of {} is {:.1f} s {} that of {}", host, std::fabs(*most), *most > 0 ? "ahead of" : "behind",
                      ranks.front().host),
          "have them set by NTP: a training stops by rank 0's clock, and make and rsync compare times of files"};
}

std::vector<Finding> check_folder(const comm::Communicator& communicator, const fs::path& folder) {
  return FolderTrial(communicator, folder).run();
}

Finding lock_finding(const std::string& failure, const std::string& setting) {
  if (failure.empty()) return {Level::kOk, "locks", "flock works", ""};
  std::string upper = setting;
  std::transform(upper.begin(), upper.end(), upper.begin(), [](unsigned char c) { return std::toupper(c); });
  if (upper == "TRUE" || upper == "1") {
    return {Level::kFailed, "locks",
            fmt::format("flock does not work ({}) and HDF5_USE_FILE_LOCKING={}", failure, setting),
            "set HDF5_USE_FILE_LOCKING=FALSE: rnnsearch needs no locks"};
  }
  if (upper == "FALSE" || upper == "0" || upper == "BEST_EFFORT") {
    return {Level::kOk, "locks", fmt::format("flock does not work ({}), and nothing asks for it", failure), ""};
  }
  return {Level::kWarning, "locks", fmt::format("flock does not work ({}); rnnsearch opens its files without", failure),
          "set HDF5_USE_FILE_LOCKING=FALSE for other programs that read them (h5py, h5dump)"};
}

std::vector<Sum> time_sums(const comm::Communicator& communicator) {
  std::vector<Sum> sums;
  if (communicator.size() == 1) return sums;
  for (const auto& [bytes, repetitions] : {std::pair<std::size_t, std::size_t>{8, 101}, {1000000, 21}, {64000000, 5}}) {
    sums.push_back(time_sum(communicator, bytes, repetitions));
  }
  return sums;
}

std::vector<Finding> sum_findings(const std::vector<Sum>& sums, std::size_t ranks, std::size_t hosts) {
  std::vector<Finding> findings;
  for (const Sum& sum : sums) {
    if (sum.seconds <= 0) {
      findings.push_back({Level::kFailed, "allreduce", size_text(sum.bytes) + ": the sum is wrong",
                          fmt::format("try another MPI, or another transport of it{}",
                                      comm::library_is_open_mpi() ? " (OMPI_MCA_btl, OMPI_MCA_pml)" : "")});
      continue;
    }
    findings.push_back({Level::kOk, "allreduce",
                        fmt::format("{} in {}{}", size_text(sum.bytes), seconds_text(sum.seconds),
                                    sum.bytes < 1000 ? "" : fmt::format(", {:.2f} GB/s", sum.gigabytes_per_second())),
                        ""});
  }
  if (!sums.empty() && sums.back().seconds > 0) {
    findings.push_back(bandwidth_finding(ranks, hosts, sums.back().gigabytes_per_second()));
  }
  return findings;
}

Finding bandwidth_finding(std::size_t ranks, std::size_t hosts, double gigabytes_per_second) {
  const double seconds = kPaperGradientBytes / 1e9 / gigabytes_per_second;
  const std::string text =
      fmt::format("the gradient of the paper's model, {:.0f} MB, would take {} s among {}", kPaperGradientBytes / 1e6,
                  fixed(seconds, seconds < 1 ? 2 : 1), counted(ranks, "rank"));
  // 10 Gb/s Ethernet does some 0.5; whoever has less is on a network that was not meant for this.
  constexpr double kSlow = 0.2;
  if (hosts == 1 || gigabytes_per_second >= kSlow) return {Level::kOk, "bandwidth", text, ""};
  return {
      Level::kWarning, "bandwidth", text,
      fmt::format("see whether MPI uses the fast network{}",
                  comm::library_is_open_mpi() ? " (ompi_info; OMPI_MCA_btl_tcp_if_include names an interface)" : "")};
}

}  // namespace rnnsearch::site
