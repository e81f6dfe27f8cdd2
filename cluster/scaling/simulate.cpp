// Simulates updates of a training on many nodes. The engine's src/comm/exchange.cpp sums the gradient over the messages
// of SimGrid's MPI, in the order and with the limits of src/comm/progress_thread.cpp; computing is simulated time.
//
//   smpirun -np 2N ... simulate SCENARIO
//
// Processes 0 to N - 1 run all-reduces, the others compute; process N + i is on the host of process i.
// SCENARIO is a file of lines, each a name and its values:
//   updates COUNT          number of updates
//   scale S                divide every size by S, so that a thousand ranks fit into memory (divide bandwidths, too,
//                          and multiply the seconds for each byte or value)
//   overlap 0|1            0: all-reduces begin when the last part is ready
//   part SECONDS FLOATS 0|1   a part of the gradient, ready SECONDS after the update began; 1: sent as bfloat16. Parts
//                          are listed in the order in which they are ready
//   compute SECONDS        time until the gradient is complete
//   optimiser SECONDS      time after the all-reduces
//   bits COUNT             bits of the unions before the first all-reduce
//   pace F F F ...         for each rank: its computing takes F times as long. One line per update
//   message SECONDS, byte SECONDS, value SECONDS, value_bfloat16 SECONDS      see wire.h
//   check 0|1              every rank sums different values; all must get the bits of the exact sum
//
// Prints the seconds of an update: the mean, and each.
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fstream>
#include <iostream>
#include <memory>
#include <sstream>
#include <string>
#include <vector>

#include "comm/exchange.h"
#include "comm/progress_thread.h"
#include "rnnsearch/base/error.h"
#include "wire.h"

namespace {

using rnnsearch::Error;
using rnnsearch::comm::Exchange;
using rnnsearch::comm::Grid;

struct Part {
  double seconds = 0;
  std::size_t floats = 0;
  bool bfloat16 = false;
};

struct Scenario {
  int updates = 1;
  std::size_t scale = 1, bits = 0;
  bool overlap = true, check = false;
  double compute = 0, optimiser = 0;
  std::vector<Part> parts;
  std::vector<std::vector<double>> pace;
  scaling::Wire::Costs costs;

  double pace_of(int update, int rank) const {
    if (pace.empty()) return 1;
    return pace[static_cast<std::size_t>(update) % pace.size()].at(static_cast<std::size_t>(rank));
  }
};

Scenario read_scenario(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw Error(rnnsearch::text_of("simulate: ", path, " cannot be read"));
  Scenario s;
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    std::istringstream words(line);
    std::string name;
    words >> name;
    if (name == "updates") {
      words >> s.updates;
    } else if (name == "scale") {
      words >> s.scale;
    } else if (name == "overlap") {
      words >> s.overlap;
    } else if (name == "part") {
      Part& part = s.parts.emplace_back();
      words >> part.seconds >> part.floats >> part.bfloat16;
    } else if (name == "compute") {
      words >> s.compute;
    } else if (name == "optimiser") {
      words >> s.optimiser;
    } else if (name == "bits") {
      words >> s.bits;
    } else if (name == "pace") {
      s.pace.emplace_back();
      for (double factor = 0; words >> factor;) s.pace.back().push_back(factor);
      words.clear();
    } else if (name == "message") {
      words >> s.costs.message;
    } else if (name == "byte") {
      words >> s.costs.byte;
    } else if (name == "value") {
      words >> s.costs.value;
    } else if (name == "value_bfloat16") {
      words >> s.costs.value_bfloat16;
    } else if (name == "check") {
      words >> s.check;
    } else {
      words.setstate(std::ios::failbit);
    }
    if (!words)
      throw Error(rnnsearch::text_of("simulate: ", path, ", line ", number, ": '", line, "' is not understood"));
  }
  return s;
}

constexpr int kAnnouncement = 0, kDone = 1;                   // tags between the two threads of a rank
constexpr double kShortestNap = 20e-6, kLongestNap = 200e-6;  // progress_thread.cpp

// All actors run in one process, one at a time, so they share what they read, and also the values if nobody checks
// them.
std::unique_ptr<Scenario> scenario;
std::vector<std::unique_ptr<scaling::Wire>> wires;
std::vector<float> anyones_values, anyones_residual;

int world_rank() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

scaling::Wire& own_wire() {
  return *wires[static_cast<std::size_t>(world_rank())];
}

std::size_t block_floats(const Scenario& s) {
  return rnnsearch::comm::kBlock / s.scale;
}
std::size_t floats_of(const Scenario& s, const Part& part) {
  return (part.floats + s.scale - 1) / s.scale;
}

/// The progress thread of a rank.
class Progress {
 public:
  Progress(const Scenario& s, MPI_Comm sums, int rank, int ranks)
      : s_(s), sums_(sums), rank_(rank), ranks_(ranks), grid_(rank, ranks), bits_((s.bits + 63) / 64) {
    std::size_t all = 0;
    for (const Part& part : s.parts) {
      first_.push_back(all);
      all += floats_of(s, part);
    }
    if (!s.check) return;
    values_.resize(all);
    residual_.resize(all);
  }

  void update(int number) {
    if (s_.check) {
      for (std::size_t i = 0; i < values_.size(); ++i) values_[i] = value(number, rank_, i);
    }
    if (!bits_.empty()) {
      MPI_Allreduce(MPI_IN_PLACE, bits_.data(), static_cast<int>(bits_.size()), MPI_UINT64_T, MPI_BOR, sums_);
    }
    std::size_t announced = 0;
    int part = 0;
    MPI_Request announcement = MPI_REQUEST_NULL;
    const auto listen = [&] {
      if (announced == s_.parts.size() || announcement != MPI_REQUEST_NULL) return;
      MPI_Irecv(&part, 1, MPI_INT, rank_ + ranks_, kAnnouncement, MPI_COMM_WORLD, &announcement);
    };
    listen();
    for (;;) {
      own_wire().look(&announcement);
      if (announcement == MPI_REQUEST_NULL && announced < s_.parts.size()) {
        cut(announced++);
        listen();
        continue;
      }
      take_jobs();
      bool busy = false, finished = false;
      for (Slot& slot : slots_) {
        if (!slot.busy) continue;
        slot.busy = !slot.exchange.advance();
        finished = finished || !slot.busy;
        busy = busy || slot.busy;
      }
      const bool computing = announced < s_.parts.size();
      if (!busy && queue_.empty() && !computing) break;
      if (finished) {
        if (computing) sleep(kShortestNap);
        continue;
      }
      const double begun = MPI_Wtime();
      own_wire().wait(&announcement);
      if (!computing || !busy) continue;  // the thread polls without sleeping, or is woken
      // It sees the message at its next poll; naps get longer while nothing comes.
      double nap = 0, at = begun;
      const double now = MPI_Wtime();
      do {
        nap = std::clamp(2 * nap, kShortestNap, kLongestNap);
        at += nap;
      } while (at < now);
      sleep(at - now);
    }
    MPI_Send(&number, 1, MPI_INT, rank_ + ranks_, kDone, MPI_COMM_WORLD);
    if (s_.check) check(number);
  }

 private:
  struct Slot {
    bool busy = false;
    Exchange exchange;
  };
  struct Job {
    std::uint64_t number = 0;
    Exchange::Block block;
  };

  static void sleep(double seconds) { smpi_usleep(static_cast<useconds_t>(std::lround(seconds * 1e6))); }

  /// Upper bound of the terms of a sum.
  static double magnitude(std::size_t i) { return std::ldexp(1.0, -static_cast<int>(i % 17)); }
  static float value(int update, int rank, std::size_t i) {
    std::uint64_t x = (static_cast<std::uint64_t>(update) << 56U) ^ (static_cast<std::uint64_t>(rank) << 40U) ^ i;
    x = (x + 0x9e3779b97f4a7c15U) * 0xbf58476d1ce4e5b9U;  // SplitMix64
    x = (x ^ x >> 27U) * 0x94d049bb133111ebU;
    x ^= x >> 31U;
    return static_cast<float>(static_cast<std::int32_t>(x) * 0x1p-31 * magnitude(i));
  }

  void check(int number) {
    std::uint64_t digest = 14695981039346656037U;  // FNV-1a
    double worst = 0;
    for (std::size_t i = 0; i < values_.size(); ++i) {
      std::uint32_t bits = 0;
      std::memcpy(&bits, &values_[i], sizeof bits);
      digest = (digest ^ bits) * 1099511628211U;
      double sum = 0;
      for (int r = 0; r < ranks_; ++r) sum += value(number, r, i);
      worst = std::max(worst, std::abs(values_[i] - sum) / (ranks_ * magnitude(i)));
    }
    std::array<std::uint64_t, 2> low{digest, ~digest};
    MPI_Allreduce(MPI_IN_PLACE, low.data(), 2, MPI_UINT64_T, MPI_MIN, sums_);
    if (low[0] != ~low[1]) throw Error("simulate: the ranks do not have the same bits");
    // float32: a rounding error of 2^-24 for each addition. bfloat16: 2^-8 of what a rank sends and of the sum, and as
    // much again for the error-feedback residual.
    const bool rounds = std::any_of(s_.parts.begin(), s_.parts.end(), [](const Part& part) { return part.bfloat16; });
    const double bound = rounds ? 4.0 / 256 : ranks_ * 0x1p-24;
    if (worst > bound) throw Error(rnnsearch::text_of("simulate: a sum is wrong by ", worst, " of its terms"));
    if (rank_ == 0) std::printf("check: same bits on %d ranks, wrong by %.1e of the terms at most\n", ranks_, worst);
  }

  void cut(std::size_t part) {
    const std::size_t all = floats_of(s_, s_.parts[part]), most = block_floats(s_);
    for (std::size_t first = 0; first < all; first += most) {
      const std::size_t size = std::min(most, all - first);
      auto* values = s_.check ? values_.data() + first_[part] + first : anyones_values.data();
      auto* residual = s_.check ? residual_.data() + first_[part] + first : anyones_residual.data();
      Job job{++jobs_, {{values, size}}};
      if (s_.parts[part].bfloat16) job.block.residual = {residual, size};
      queue_.push_back(job);
    }
  }

  void take_jobs() {
    for (Slot& slot : slots_) {
      if (slot.busy || queue_.empty()) continue;
      slot.exchange.begin(sums_, grid_, queue_.front().number, queue_.front().block);
      slot.busy = true;
      queue_.pop_front();
    }
  }

  const Scenario& s_;
  MPI_Comm sums_;
  int rank_, ranks_;
  Grid grid_;
  std::vector<std::uint64_t> bits_;
  std::vector<std::size_t> first_;  // of each part in values_
  std::vector<float> values_, residual_;
  std::array<Slot, rnnsearch::comm::kUnderWay> slots_;
  std::deque<Job> queue_;
  std::uint64_t jobs_ = 0;
};

/// The main thread of a rank.
void compute(const Scenario& s, MPI_Comm others, int rank) {
  std::vector<double> seconds;
  const int partner = rank;  // the process that runs the all-reduces
  MPI_Barrier(others);
  for (int update = 0; update < s.updates; ++update) {
    const double begun = MPI_Wtime();
    const double pace = s.pace_of(update, rank);
    double now = 0;
    const auto until = [&](double at) {
      if (at > now) smpi_execute((at - now) * pace);
      now = std::max(now, at);
    };
    if (!s.overlap) until(s.compute);
    for (std::size_t i = 0; i < s.parts.size(); ++i) {
      until(s.parts[i].seconds);
      const int part = static_cast<int>(i);
      MPI_Send(&part, 1, MPI_INT, partner, kAnnouncement, MPI_COMM_WORLD);
    }
    until(s.compute);
    int done = 0;
    MPI_Recv(&done, 1, MPI_INT, partner, kDone, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    std::array<double, 4> sums{};
    MPI_Allreduce(MPI_IN_PLACE, sums.data(), static_cast<int>(sums.size()), MPI_DOUBLE, MPI_SUM, others);
    if (s.optimiser > 0) smpi_execute(s.optimiser);
    seconds.push_back(MPI_Wtime() - begun);
  }
  MPI_Allreduce(MPI_IN_PLACE, seconds.data(), s.updates, MPI_DOUBLE, MPI_MAX, others);
  if (rank != 0) return;
  double sum = 0;
  for (const double one : seconds) sum += one;
  std::printf("seconds %.9g :", sum / s.updates);
  for (const double one : seconds) std::printf(" %.9g", one);
  std::printf("\n");
}

void run(const std::string& path) {
  int size = 0;
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  const int rank = world_rank(), ranks = size / 2;
  if (!scenario) {
    scenario = std::make_unique<Scenario>(read_scenario(path));
    anyones_values.resize(block_floats(*scenario));
    anyones_residual.resize(block_floats(*scenario));
    for (int r = 0; r < ranks; ++r) wires.push_back(std::make_unique<scaling::Wire>(scenario->costs));
  }
  const Scenario& s = *scenario;
  MPI_Group world = MPI_GROUP_NULL, group = MPI_GROUP_NULL;
  MPI_Comm_group(MPI_COMM_WORLD, &world);
  int range[1][3] = {{rank < ranks ? 0 : ranks, rank < ranks ? ranks - 1 : 2 * ranks - 1, 1}};
  MPI_Group_range_incl(world, 1, range, &group);
  MPI_Comm own = MPI_COMM_NULL;
  MPI_Comm_create(MPI_COMM_WORLD, group, &own);
  if (rank < ranks) {
    Progress progress(s, own, rank, ranks);
    for (int update = 0; update < s.updates; ++update) progress.update(update);
  } else {
    compute(s, own, rank - ranks);
  }
  MPI_Barrier(MPI_COMM_WORLD);
}

}  // namespace

namespace scaling {

int send(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* handle) {
  own_wire().send(data, count, type, to, tag, comm, handle);
  return MPI_SUCCESS;
}
int receive(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request* handle) {
  own_wire().receive(data, count, type, from, tag, comm, handle);
  return MPI_SUCCESS;
}
int test_some(int count, MPI_Request* handles, int* complete, int* indices, MPI_Status* /*statuses*/) {
  own_wire().test_some(count, handles, complete, indices);
  return MPI_SUCCESS;
}

}  // namespace scaling

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  try {
    if (argc != 2) throw Error("simulate: give one scenario file");
    run(argv[1]);
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    std::_Exit(1);  // all ranks are this process, and SMPI's MPI_Abort would exit with 0
  }
  MPI_Finalize();
}
