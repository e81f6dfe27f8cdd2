// Simulates updates of a training on many nodes with SimGrid. The engine's src/comm/exchange.cpp sums the gradient over
// simulated messages (wire.h), in the order and with the limits of src/comm/progress_thread.cpp; computing is simulated
// time.
//
//   simulate PLATFORM SCENARIO [--cfg=NAME:VALUE...]
//
// PLATFORM is a file of SimGrid with the hosts "n0", "n1", ...; if "n0" is the only host, every rank is on it. SCENARIO
// is a file of lines, each a name and its values:
//   ranks COUNT            number of ranks
//   ranks_of_host COUNT    number of ranks on each host [1]
//   dealt_out 0|1          0: the first ranks are on host n0, the next on n1, and so on, and are added within hosts
//                          first; 1: rank i is on host n<i modulo the number of hosts>, and they are not
//   updates COUNT          number of updates
//   scale S                divide every size by S, so that a thousand ranks fit into memory (divide bandwidths, too,
//                          and multiply the seconds for each byte or value)
//   overlap 0|1            0: all-reduces begin when the last part is ready
//   part SECONDS FLOATS    a part of the gradient, ready SECONDS after the update began. Parts are listed in the order
//                          in which they are ready
//   compute SECONDS        time until the gradient is complete
//   optimiser SECONDS      time after the all-reduces
//   bits COUNT             bits of the unions before the first all-reduce
//   pace F F F ...         for each rank: its computing takes F times as long. One line per update
//   message SECONDS, byte SECONDS, value SECONDS, streams COUNT      see wire.h
//   shards COUNT           0, or sums are added in the order of so many shards, whose sums on one rank are one node of
//                          the tree (src/comm/exchange.h)
//   check 0|1              every rank sums different values; all must get the bits of the exact sum
//
// Prints the seconds of an update: the mean, and each.
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cassert>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <fstream>
#include <functional>
#include <map>
#include <numeric>
#include <simgrid/s4u.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "comm/exchange.h"
#include "comm/progress_thread.h"
#include "rnnsearch/base/error.h"
#include "wire.h"

namespace {

namespace s4u = simgrid::s4u;
using rnnsearch::Error;
using rnnsearch::comm::Exchange;
using rnnsearch::comm::Grid;

struct Part {
  double seconds = 0;
  std::size_t floats = 0;
};

struct Scenario {
  int ranks = 1, ranks_of_host = 1, updates = 1;
  std::size_t scale = 1, bits = 0;
  std::uint64_t shards = 0;
  bool overlap = true, dealt_out = false, check = false;
  double compute = 0, optimiser = 0;
  std::vector<Part> parts;
  std::vector<std::vector<double>> pace;
  scaling::Costs costs;

  double pace_of(int update, int rank) const {
    if (pace.empty()) return 1;
    return pace[static_cast<std::size_t>(update) % pace.size()].at(static_cast<std::size_t>(rank));
  }
};

Scenario read_scenario(const std::string& path) {
  std::ifstream file(path);
  if (!file) throw Error("simulate: {} cannot be read", path);
  Scenario s;
  int number = 0;
  for (std::string line; std::getline(file, line);) {
    ++number;
    std::istringstream words(line);
    std::string name;
    words >> name;
    if (name == "ranks") {
      words >> s.ranks;
    } else if (name == "ranks_of_host") {
      words >> s.ranks_of_host;
    } else if (name == "dealt_out") {
      words >> s.dealt_out;
    } else if (name == "updates") {
      words >> s.updates;
    } else if (name == "scale") {
      words >> s.scale;
    } else if (name == "overlap") {
      words >> s.overlap;
    } else if (name == "part") {
      Part& part = s.parts.emplace_back();
      words >> part.seconds >> part.floats;
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
    } else if (name == "streams") {
      words >> s.costs.streams;
    } else if (name == "shards") {
      words >> s.shards;
    } else if (name == "check") {
      words >> s.check;
    } else {
      words.setstate(std::ios::failbit);
    }
    if (!words) throw Error("simulate: {}, line {}: '{}' is not understood", path, number, line);
  }
  if (s.ranks_of_host < 1 || s.ranks % s.ranks_of_host != 0)
    throw Error("simulate: {}: {} ranks do not fill hosts of {}", path, s.ranks, s.ranks_of_host);
  return s;
}

constexpr double kShortestNap = 20e-6, kLongestNap = 200e-6;  // progress_thread.cpp

// Tags of the small all-reduces. A sum's are from 0 on.
constexpr int kBits = -1, kNumbers = -2;

std::size_t block_floats(const Scenario& s) { return rnnsearch::comm::kBlock / s.scale; }
std::size_t floats_of(const Scenario& s, const Part& part) { return (part.floats + s.scale - 1) / s.scale; }

/// One rank: its two threads are actors of one host.
class Rank {
 public:
  /// `unchecked` is the gradient of all ranks if nobody checks it, and has the size of a block.
  Rank(const Scenario& s, int rank, std::vector<float>* unchecked, scaling::Wire* wire)
      : s_(s),
        rank_(rank),
        unchecked_(unchecked),
        wire_(wire),
        grid_(rank, s.ranks, s.dealt_out ? 1 : s.ranks_of_host) {
    std::size_t all = 0;
    for (const Part& part : s.parts) {
      first_.push_back(all);
      all += floats_of(s, part);
    }
    if (!s.check) return;
    values_.resize(all);
  }

  /// The progress thread.
  void sum_gradients() {
    for (int update = 0; update < s_.updates; ++update) {
      if (s_.check) {
        for (std::size_t i = 0; i < values_.size(); ++i) values_[i] = value(update, rank_, i);
      }
      sum_gradient();
      if (s_.check) check(update);
    }
  }

  /// The main thread; appends the seconds of each update.
  void compute(s4u::Barrier* all_ranks, std::vector<double>* seconds) {
    for (int update = 0; update < s_.updates; ++update) {
      all_ranks->wait();
      const double begun = s4u::Engine::get_clock(), pace = s_.pace_of(update, rank_);
      double now = 0;
      const auto until = [&](double at) {
        if (at > now) scaling::compute((at - now) * pace);
        now = std::max(now, at);
      };
      ready_ = 0;
      summed_ = false;
      begun_ = true;
      wire_->progress.wake();
      if (!s_.overlap) until(s_.compute);
      for (const Part& part : s_.parts) {
        until(part.seconds);
        ++ready_;
        wire_->progress.wake();
      }
      until(s_.compute);
      while (!summed_) main_.wait();
      wire_->all_reduce(4 * sizeof(double), kNumbers);
      scaling::compute(s_.optimiser);
      seconds->push_back(s4u::Engine::get_clock() - begun);
    }
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

  void sum_gradient() {
    while (!begun_) wire_->progress.wait();
    begun_ = false;
    if (s_.bits > 0) wire_->all_reduce((s_.bits + 7) / 8 / s_.scale, kBits);
    std::size_t cut_parts = 0;
    for (;;) {
      while (cut_parts < ready_) cut(cut_parts++);
      take_jobs();
      bool busy = false, finished = false;
      for (Slot& slot : slots_) {
        if (!slot.busy) continue;
        slot.busy = !slot.exchange.advance();
        finished = finished || !slot.busy;
        busy = busy || slot.busy;
      }
      const bool computing = cut_parts < s_.parts.size();
      if (!busy && queue_.empty() && !computing) break;
      if (finished) {
        if (computing) s4u::this_actor::sleep_for(kShortestNap);
        continue;
      }
      const double begun = s4u::Engine::get_clock();
      wire_->progress.wait();
      if (!computing || !busy) continue;  // the thread polls without sleeping, or is woken
      // It sees the message at its next poll; naps get longer while nothing comes.
      double nap = 0, at = begun;
      const double now = s4u::Engine::get_clock();
      do {
        nap = std::clamp(2 * nap, kShortestNap, kLongestNap);
        at += nap;
      } while (at < now);
      s4u::this_actor::sleep_for(at - now);
    }
    summed_ = true;
    main_.wake();
  }

  void cut(std::size_t part) {
    const std::size_t all = floats_of(s_, s_.parts[part]), most = block_floats(s_);
    for (std::size_t first = 0; first < all; first += most) {
      const std::size_t size = std::min(most, all - first);
      Job job{++jobs_, {{s_.check ? values_.data() + first_[part] + first : unchecked_->data(), size}}};
      job.block.shards = s_.shards;
      queue_.push_back(job);
    }
  }

  void take_jobs() {
    for (Slot& slot : slots_) {
      if (slot.busy || queue_.empty()) continue;
      slot.exchange.begin(reinterpret_cast<MPI_Comm>(wire_), grid_, queue_.front().number, queue_.front().block);
      slot.busy = true;
      queue_.pop_front();
    }
  }

  /// Upper bound of the terms of a sum.
  static double magnitude(std::size_t i) { return std::ldexp(1.0, -static_cast<int>(i % 17)); }
  static float value(int update, int rank, std::size_t i) {
    std::uint64_t x = (static_cast<std::uint64_t>(update) << 56U) ^ (static_cast<std::uint64_t>(rank) << 40U) ^ i;
    x = (x + 0x9e3779b97f4a7c15U) * 0xbf58476d1ce4e5b9U;  // SplitMix64
    x = (x ^ x >> 27U) * 0x94d049bb133111ebU;
    x ^= x >> 31U;
    return static_cast<float>(static_cast<std::int32_t>(x) * 0x1p-31 * magnitude(i));
  }

  void check(int update) const {
    static std::map<int, std::vector<float>> first_sums;  // of each update
    const auto& sums = first_sums.try_emplace(update, values_).first->second;
    if (std::memcmp(sums.data(), values_.data(), values_.size() * sizeof(float)) != 0)
      throw Error("simulate: the ranks do not have the same bits");
    double worst = 0;
    for (std::size_t i = 0; i < values_.size(); ++i) {
      double sum = 0;
      for (int r = 0; r < s_.ranks; ++r) sum += value(update, r, i);
      worst = std::max(worst, std::abs(values_[i] - sum) / (s_.ranks * magnitude(i)));
    }
    // a rounding error of 2^-24 for each addition
    if (worst > s_.ranks * 0x1p-24) throw Error("simulate: a sum is wrong by {} of its terms", worst);
    std::printf("check: update %d, rank %d: the same bits, wrong by %.1e of the terms at most\n", update, rank_, worst);
  }

  const Scenario& s_;
  int rank_;
  std::vector<float>* unchecked_;
  scaling::Wire* wire_;
  Grid grid_;
  std::vector<std::size_t> first_;  // of each part in values_
  std::vector<float> values_;
  std::array<Slot, rnnsearch::comm::kUnderWay> slots_;
  std::deque<Job> queue_;
  std::uint64_t jobs_ = 0;
  // What the threads tell each other.
  bool begun_ = false, summed_ = false;
  std::size_t ready_ = 0;  // parts of the gradient
  scaling::Waker main_;
};

/// Ends the program with a message if `thread` throws.
void run(const std::function<void()>& thread) {
  try {
    thread();
  } catch (const std::exception& error) {
    std::fprintf(stderr, "%s\n", error.what());
    std::_Exit(1);
  }
}

void simulate(const char* platform, const char* path) {
  const Scenario s = read_scenario(path);
  auto& engine = *s4u::Engine::get_instance();
  engine.load_platform(platform);
  std::vector<float> unchecked(block_floats(s));
  std::vector<scaling::Wire*> wires;
  std::deque<scaling::Wire> all_wires;
  std::deque<Rank> all_ranks;
  std::vector<std::vector<double>> seconds(static_cast<std::size_t>(s.ranks));
  const auto barrier = s4u::Barrier::create(static_cast<unsigned>(s.ranks));
  const bool one_host = engine.get_host_count() == 1;
  const auto host_of = [&](int rank) {
    if (one_host) return 0;
    return s.dealt_out ? rank % (s.ranks / s.ranks_of_host) : rank / s.ranks_of_host;
  };
  for (int i = 0; i < s.ranks; ++i) {
    auto* host = s4u::Host::by_name(fmt::format("n{}", host_of(i)));
    wires.push_back(&all_wires.emplace_back(wires, i, host, s.costs, s.check));
    Rank& rank = all_ranks.emplace_back(s, i, &unchecked, wires.back());
    auto* own = &seconds[static_cast<std::size_t>(i)];
    s4u::Actor::create("progress", host, [&rank] { run([&] { rank.sum_gradients(); }); });
    s4u::Actor::create("main", host, [&rank, &barrier, own] { run([&] { rank.compute(barrier.get(), own); }); });
  }
  engine.run();
  std::vector<double> slowest(static_cast<std::size_t>(s.updates));
  for (const auto& own : seconds) {
    for (std::size_t i = 0; i < slowest.size(); ++i) slowest[i] = std::max(slowest[i], own.at(i));
  }
  std::printf("seconds %.9g :", std::accumulate(slowest.begin(), slowest.end(), 0.0) / s.updates);
  for (const double one : slowest) std::printf(" %.9g", one);
  std::printf("\n");
}

}  // namespace

namespace scaling {

int send(const void* data, int count, [[maybe_unused]] MPI_Datatype type, int to, int tag, MPI_Comm comm,
         MPI_Request* handle) {
  assert(type == MPI_FLOAT);
  reinterpret_cast<Wire*>(comm)->send(data, static_cast<std::size_t>(count) * sizeof(float), to, tag, handle);
  return MPI_SUCCESS;
}
int receive(void* data, int count, [[maybe_unused]] MPI_Datatype type, int from, int tag, MPI_Comm comm,
            MPI_Request* handle) {
  assert(type == MPI_FLOAT);
  reinterpret_cast<Wire*>(comm)->receive(data, static_cast<std::size_t>(count), from, tag, handle);
  return MPI_SUCCESS;
}
int test_some(int count, MPI_Request* handles, int* complete, int* /*indices*/, MPI_Status* /*statuses*/) {
  *complete = Wire::whole_stage(handles[0]) ? count : 0;
  return MPI_SUCCESS;
}

}  // namespace scaling

int main(int argc, char** argv) {
  s4u::Engine engine(&argc, argv);
  run([&] {
    if (argc != 3) throw Error("simulate: give a platform and a scenario");
    simulate(argv[1], argv[2]);
  });
}
