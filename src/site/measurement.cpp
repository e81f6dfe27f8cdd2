#include "rnnsearch/site/measurement.h"

#include <fmt/format.h>

#include <cassert>
#include <cmath>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <nlohmann/json.hpp>

#include "rnnsearch/base/error.h"
#include "rnnsearch/base/parallel.h"
#include "rnnsearch/base/printable.h"
#include "rnnsearch/base/version.h"
#include "rnnsearch/model/options.h"

namespace rnnsearch::site {
namespace {

double peak_memory_bytes() {
  std::ifstream status("/proc/self/status");
  const std::string key = "VmHWM:";
  for (std::string line; std::getline(status, line);) {
    if (line.starts_with(key)) return 1024 * std::strtod(line.c_str() + key.size(), nullptr);
  }
  return std::nan("");
}

// Rates of all ranks together.
void add_up(const comm::Communicator& communicator, kernels::ProductRates& rates) {
  double sums[] = {rates.registers, rates.level1, rates.level2, rates.level3};
  communicator.all_reduce(std::span<double>(sums));
  rates = {sums[0], sums[1], sums[2], sums[3]};
}

// Bytes a second.
double measure_sum(const comm::Communicator& communicator) {
  constexpr std::size_t kCount = 4 << 20;  // 16 MiB, as much as a large part of a gradient
  std::vector<float> values(kCount, 1.0F);
  double least = 0;
  for (int i = 0; i < 5; ++i) {
    communicator.barrier();
    const comm::Traffic before = communicator.traffic();
    communicator.all_reduce(std::span<float>(values));
    const comm::Traffic after = communicator.traffic();
    std::fill(values.begin(), values.end(), 1.0F);
    double seconds_a_byte = (after.busy_seconds - before.busy_seconds) /
                            static_cast<double>(std::max<std::uint64_t>(1, after.bytes_sent - before.bytes_sent));
    communicator.max(std::span(&seconds_a_byte, 1));
    if (i == 0 || seconds_a_byte < least) least = seconds_a_byte;
  }
  return least > 0 ? 1 / least : 0;
}

Json json_of(const kernels::ProductRates& rates) {
  Json json = Json::object(
      {{"registers", rates.registers / 1e9}, {"level1", rates.level1 / 1e9}, {"level2", rates.level2 / 1e9}});
  if (rates.level3 > 0) json["level3"] = rates.level3 / 1e9;
  return json;
}

std::string text_of_rates(const kernels::ProductRates& rates) {
  const auto gflop = [](double rate) { return fixed(rate / 1e9, rate < 1e11 ? 1 : 0); };
  return fmt::format("{} GFLOP/s with operands from L1, {} from L2{}, {} without loads", gflop(rates.level1),
                     gflop(rates.level2), rates.level3 > 0 ? fmt::format(", {} from L3", gflop(rates.level3)) : "",
                     gflop(rates.registers));
}

const char* unit_of(const Measured& measured) { return measured.decode ? "batch" : "update"; }

// The first point, which no other is before, gains enough.
auto first_that_gains_too_little(const std::vector<ThreadScaling>& curve) {
  return std::ranges::find_if(curve, [](const ThreadScaling& p) { return p.gain.value_or(1) < kWorthwhileGain; });
}

std::string percents(double share) { return fixed(100 * share, 0) + "%"; }

}  // namespace

Machine measure_machine(const comm::Communicator& communicator) {
  Machine machine;
  communicator.barrier();
  machine.thread = kernels::measure_products(1);
  if (!communicator.is_root()) machine.thread = {};
  add_up(communicator, machine.thread);  // gives the root's to all
  communicator.barrier();
  machine.all = kernels::measure_products(thread_count());
  add_up(communicator, machine.all);
  communicator.barrier();
  machine.memory = kernels::measure_memory(thread_count());
  communicator.all_reduce(std::span<double>(&machine.memory, 1));
  if (communicator.size() > 1) machine.sum = measure_sum(communicator);
  return machine;
}

std::optional<double> share_of_bound(const Measured& measured, const Measurement& m, Phase phase) {
  if (!measured.machine) return {};
  const double seconds = m.phases[static_cast<std::size_t>(phase)], updates = static_cast<double>(m.seconds.size());
  const auto share = [](double work, double rate, double spent) -> std::optional<double> {
    if (work <= 0 || rate <= 0 || spent <= 0) return {};
    return work / rate / spent;
  };
  switch (phase) {
    case Phase::kEncoder:
      return share(m.flop.encoder, measured.machine->all.level1, seconds);
    case Phase::kDecoder:
      return share(m.flop.decoder, measured.machine->all.level1, seconds);
    case Phase::kReadout:
      return share(m.flop.readout, measured.machine->all.level1, seconds);
    case Phase::kOptimizer:
      return share(measured.optimizer_bytes * updates, measured.machine->memory, seconds);
    case Phase::kCommunication:
      return share(m.bytes_sent, measured.machine->sum, m.reduction_seconds);
    default:
      return {};
  }
}

std::optional<double> share_of_bound(const Measured& measured, const Measurement& m) {
  if (!measured.machine || m.flop.total() <= 0) return {};
  return m.flop.total() / measured.machine->all.level1 / m.total();
}

double Latency::percentile(double share) const {
  auto sorted = seconds;
  std::sort(sorted.begin(), sorted.end());
  return sorted[static_cast<std::size_t>(std::max(1.0, std::ceil(share * static_cast<double>(sorted.size())))) - 1];
}
double Measurement::median() const {
  auto sorted = seconds;
  std::sort(sorted.begin(), sorted.end());
  return (sorted[(sorted.size() - 1) / 2] + sorted[sorted.size() / 2]) / 2;
}
double Measurement::other() const {
  return std::max(0.0, total() - std::accumulate(phases.begin(), phases.end(), 0.0));
}

double source_lengths(const model::ModelOptions& options, const corpus::BatchSlice& batch) {
  return static_cast<double>(batch.batch_source_words + (options.source_end ? batch.batch_pairs : 0));
}

Measurement measure(const comm::Communicator& communicator, const Measured& measured, const Work& work) {
  Measurement m;
  if (work.waits) m.waiting = 0;
  for (std::size_t i = 0; i < measured.untimed + measured.timed; ++i) {
    const Stopwatch reading;
    const corpus::BatchSlice batch = work.next();
    const double waited = reading.seconds();
    const Timed timed = work.run(batch);
    if (work.done) work.done(i + 1, timed.seconds);
    double least_visible = -timed.phases.seconds(Phase::kCommunication);
    communicator.max(std::span(&least_visible, 1));
    if (i < measured.untimed) continue;
    m.visible_seconds -= least_visible;
    if (m.waiting) *m.waiting += waited;
    const auto source = static_cast<double>(batch.batch_source_words);
    const auto pairs = static_cast<double>(batch.batch_pairs);
    m.seconds.push_back(timed.seconds);
    m.pairs += pairs;
    m.source_words += source;
    m.target_words += timed.target_words;
    m.loss = timed.loss;
    m.flop += timed.flop;
    for (const Phase phase : kPhases) m.phases[static_cast<std::size_t>(phase)] += timed.phases.seconds(phase);
    m.bytes_sent += static_cast<double>(timed.traffic.bytes_sent);
    m.reduction_seconds += timed.traffic.busy_seconds;
    m.part_seconds.resize(timed.part_seconds.size());
    for (std::size_t part = 0; part < m.part_seconds.size(); ++part) m.part_seconds[part] += timed.part_seconds[part];
  }
  m.peak_bytes = peak_memory_bytes();
  communicator.max(std::span(&m.peak_bytes, 1));
  return m;
}

Json json_of(const Measured& measured, const Measurement& m) {
  const std::size_t hosts = host_count(measured.places);
  Json configuration = Json::object();
  for (const auto& [name, text] : measured.configuration) configuration[name] = text;
  Json ranks = Json::array();
  for (const auto& place : measured.places) {
    ranks.push_back(Json::object({{"host", place.host}, {"threads", place.threads}, {"cpus", place.cpus}}));
  }
  Json phases = Json::object();
  for (const Phase phase : kPhases) phases[name_of(phase)] = m.mean_of(m.phases[static_cast<std::size_t>(phase)]);
  phases["other"] = m.mean_of(m.other());
  Json result = Json::object({
      {"timed", measured.decode ? "batches translated" : "updates"},
      {"version", kVersion},
      {"compiler", kCompiler},
      {"assertions", kAssertions},
      {"instruction_set", measured.instruction_set},
      {"precision", measured.precision},
      {"arithmetic", measured.arithmetic},
      {"libraries", measured.libraries},
      {"load_average", measured.load},
      {"ranks", measured.places.size()},
      {"hosts", hosts},
      {"threads", measured.threads},
      {"places", std::move(ranks)},
      {"parameters", measured.parameters},
      {"updates", m.seconds.size()},
      {"untimed_updates", measured.untimed},
      {"seconds", Json::object({{"median", m.median()},
                                {"minimum", m.minimum()},
                                {"maximum", m.maximum()},
                                {"mean", m.mean()},
                                {"all", m.seconds}})},
      {"source_words_per_second", m.source_words / m.total()},
      {"target_words_per_second", m.target_words / m.total()},
  });
  if (m.peak_bytes > 0) result["peak_memory_bytes"] = std::llround(m.peak_bytes);
  result["phase_seconds"] = std::move(phases);
  if (m.waiting) result["data_seconds"] = m.mean_of(*m.waiting);
  if (m.gflop() > 0) {
    result["gflop"] = m.mean_of(m.gflop());
    result["gflop_per_second"] = m.gflop() / m.total();
  }
  if (measured.machine) {
    Json shares = Json::object();
    for (const Phase phase : kPhases) {
      if (const auto share = share_of_bound(measured, m, phase)) shares[name_of(phase)] = *share;
    }
    if (const auto share = share_of_bound(measured, m)) shares[unit_of(measured)] = *share;
    Json machine = Json::object({{"gflop_per_second_of_one_thread", json_of(measured.machine->thread)},
                                 {"gflop_per_second", json_of(measured.machine->all)},
                                 {"memory_bytes_per_second", measured.machine->memory}});
    if (measured.machine->sum > 0) machine["all_reduce_bytes_per_second"] = measured.machine->sum;
    result["machine"] = std::move(machine);
    result["share_of_bound"] = std::move(shares);
  }
  if (measured.latency) {
    Json rates = Json::array();
    for (const auto& rate : measured.latency->rates) {
      rates.push_back(
          Json::object({{"batch_sentences", rate.batch_sentences}, {"target_words_per_second", rate.target_words}}));
    }
    result["latency"] = Json::object({{"sentences", measured.latency->seconds.size()},
                                      {"p50_seconds", measured.latency->percentile(0.5)},
                                      {"p99_seconds", measured.latency->percentile(0.99)},
                                      {"best_batch_sentences", measured.latency->best().batch_sentences},
                                      {"rates", std::move(rates)}});
  }
  if (!measured.decode) {
    // In the order in which backward finishes them; what scaling models need.
    Json parts = Json::array();
    for (std::size_t i = 0; i < measured.parts.size(); ++i) {
      parts.push_back(Json::object({{"elements", measured.parts[i].size},
                                    {"table", measured.parts[i].table},
                                    {"seconds", m.mean_of(m.part_seconds[i])}}));
    }
    result["gradient_parts"] = std::move(parts);
    result["last_loss"] = m.loss;
    result["bytes_sent"] = std::llround(m.mean_of(m.bytes_sent));
    result["reduction_seconds"] = m.mean_of(m.reduction_seconds);
    result["visible_reduction_seconds"] = m.mean_of(m.visible_seconds);
  }
  if (const auto updates = measured.updates_to_estimate; updates > 0) {
    result["estimate"] = Json::object({{"updates", updates}, {"seconds", static_cast<double>(updates) * m.mean()}});
  }
  result["configuration"] = std::move(configuration);
  return result;
}

std::string heading_of(const Measured& measured, const Measurement& m, const std::string& threads) {
  const std::size_t hosts = host_count(measured.places), ranks = measured.places.size();
  const model::ModelOptions& o = measured.model;
  const auto parameters = static_cast<double>(measured.parameters);
  std::string text =
      fmt::format("{}, {} parameters: embedding {}, state {}{}, maxout {}", model::system_of(o),
                  parameters < 1e6 ? std::to_string(measured.parameters) : fixed(parameters / 1e6, 1) + " million",
                  o.embedding, o.state, o.attends() ? fmt::format(", alignment {}", o.alignment) : "", o.maxout);
  if (o.readout_rank > 0) text += fmt::format(", readout-rank {}", o.readout_rank);
  return text += fmt::format(
             "\n{} source and {} target words in the vocabularies; {:.0f} pairs of {:.1f} and {:.1f} words, {}\n{} of "
             "{}{}{}; {}, {}, {}{}; load average {:.2f} at the start\n",
             o.source_words, o.target_words, m.mean_of(m.pairs), m.source_words / m.pairs, m.target_words / m.pairs,
             measured.method, counted(ranks, "rank"), threads, ranks == 1 ? "" : " each",
             hosts > 1 ? fmt::format(" on {} hosts", hosts) : "", measured.instruction_set, measured.arithmetic,
             measured.libraries, kAssertions ? "; assertions are on, which takes time" : "", measured.load[0]);
}

std::string table_of(const Measured& measured, const Measurement& m) {
  const std::size_t ranks = measured.places.size();
  const char* const unit = unit_of(measured);
  const auto seconds_text = [&](double seconds) { return fixed(seconds, m.mean() < 0.1 ? 6 : 4); };
  std::string text = heading_of(measured, m, counted(measured.threads, "thread")) + "\n";

  const auto row = [&](const std::string& name, const std::string& value) { text += left(name, 20) + value + "\n"; };
  row(fmt::format("seconds per {}", unit),
      fmt::format("median {}, from {} to {} ({} timed after {})", seconds_text(m.median()), seconds_text(m.minimum()),
                  seconds_text(m.maximum()), m.seconds.size(), measured.untimed));
  row("words per second",
      fmt::format("{:.0f} source, {:.0f} target", m.source_words / m.total(), m.target_words / m.total()));
  if (m.gflop() > 0) {
    row("GFLOP/s", fmt::format("{:.1f} (the matrix products of {}{:.1f} GFLOP)", m.gflop() / m.total(),
                               measured.decode ? "a batch: " : "an update: ", m.mean_of(m.gflop())));
  }
  if (const auto share = share_of_bound(measured, m)) {
    row("of this machine", fmt::format("{:.0f}%: the products alone, with operands from the L1 cache, would take {} s",
                                       100 * *share, seconds_text(*share * m.mean())));
  }
  if (m.bytes_sent > 0) {
    row("all-reduces", fmt::format("{:.1f} MB sent per update by each rank, {} s in progress, {} s not hidden",
                                   m.mean_of(m.bytes_sent) / 1e6, seconds_text(m.mean_of(m.reduction_seconds)),
                                   seconds_text(m.mean_of(m.visible_seconds))));
  }
  if (m.waiting) {
    row("waiting for data", fmt::format("{} s before each {}, {:.2f}% of both", seconds_text(m.mean_of(*m.waiting)),
                                        unit, 100 * *m.waiting / (m.total() + *m.waiting)));
  }
  if (measured.latency) {
    row("one at a time",
        fmt::format("median {:.1f} ms a sentence, 99% within {:.1f} ms ({})", 1000 * measured.latency->percentile(0.5),
                    1000 * measured.latency->percentile(0.99), counted(measured.latency->seconds.size(), "sentence")));
    const auto best = measured.latency->best();
    row("best batch", fmt::format("{}: {:.0f} target words per second", counted(best.batch_sentences, "sentence"),
                                  best.target_words));
  }
  row("peak memory", fmt::format("{:.2f} GB{}", m.peak_bytes / 1e9, ranks > 1 ? ", of the rank that needs most" : ""));
  if (const auto updates = measured.updates_to_estimate; updates > 0) {
    row(counted(updates, "update"),
        fmt::format("{}, without validation and checkpoints", duration(static_cast<double>(updates) * m.mean())));
  }

  text += "\n";
  const auto phase_row = [&](const std::string& name, double sum, const std::string& bound = "") {
    if (sum < 0.0005 * m.total()) return;
    row(name, right(seconds_text(m.mean_of(sum)), 9) + " s" + right(fixed(100 * sum / m.total(), 1), 6) + "%" + bound);
  };
  for (const Phase phase : kPhases) {
    const auto share = share_of_bound(measured, m, phase);
    const char* const bound = phase == Phase::kOptimizer       ? "memory's bandwidth"
                              : phase == Phase::kCommunication ? "the all-reduce's bandwidth, hidden or not"
                                                               : "products from L1";
    phase_row(name_of(phase), m.phases[static_cast<std::size_t>(phase)],
              share ? fmt::format("   {:.0f}% of {}", 100 * *share, bound) : "");
  }
  phase_row("other", m.other());
  phase_row(fmt::format("mean {}", unit), m.total());
  if (measured.machine) {
    text += "\n";
    row("this machine", fmt::format("one thread: {}", text_of_rates(measured.machine->thread)));
    row("", fmt::format("{}{}", ranks == 1 ? "all threads: " : "all ranks: ", text_of_rates(measured.machine->all)));
    row("", fmt::format("memory {:.1f} GB/s{}", measured.machine->memory / 1e9,
                        measured.machine->sum > 0
                            ? fmt::format("; in an all-reduce each rank sends {:.2f} GB/s", measured.machine->sum / 1e9)
                            : ""));
  }
  return text;
}

std::vector<ThreadScaling> scaling_of(const std::vector<OnThreads>& runs) {
  assert(!runs.empty());
  std::vector<ThreadScaling> curve;
  for (const auto& [measured, measurement] : runs) {
    ThreadScaling point{
        .threads = measured.threads, .seconds = measurement.median(), .share = share_of_bound(measured, measurement)};
    if (!curve.empty()) {
      const auto ratio = [&](const ThreadScaling& to) {
        return static_cast<double>(point.threads) / static_cast<double>(to.threads);
      };
      const ThreadScaling &fewest = curve.front(), &before = curve.back();
      assert(point.threads > before.threads);
      point.speed_up = fewest.seconds / point.seconds;
      point.efficiency = point.speed_up / ratio(fewest);
      point.gain = (before.seconds / point.seconds - 1) / (ratio(before) - 1);
    }
    curve.push_back(point);
  }
  return curve;
}

std::size_t worthwhile_threads(const std::vector<ThreadScaling>& curve) {
  return std::prev(first_that_gains_too_little(curve))->threads;
}

std::string conclusion_of(const std::vector<ThreadScaling>& curve, const std::string& unit) {
  const auto next = first_that_gains_too_little(curve), last = std::prev(next);
  const std::string begin = fmt::format("More threads pay up to {}", last->threads);
  if (next == curve.end()) {
    return fmt::format("{}, the most of these: each step gained at least {} of what linear scaling would.", begin,
                       percents(kWorthwhileGain));
  }
  const double linear = static_cast<double>(next->threads) / static_cast<double>(last->threads);
  return fmt::format(
      "{}: with {} {}{} is {:.2f} times as fast as with {}, where linear scaling would make it {:.2f} times as fast; a "
      "step counts as paying if it gains at least {} of what linear scaling would.",
      begin, next->threads, unit == "batch" ? "a " : "an ", unit, last->seconds / next->seconds, last->threads, linear,
      percents(kWorthwhileGain));
}

Json json_of(const std::vector<OnThreads>& runs) {
  const auto curve = scaling_of(runs);
  Json points = Json::array(), records = Json::array();
  for (const ThreadScaling& point : curve) {
    Json json = Json::object({{"threads", point.threads},
                              {"seconds", point.seconds},
                              {"speed_up", point.speed_up},
                              {"efficiency", point.efficiency}});
    if (point.gain) json["gain_of_added_threads"] = *point.gain;
    if (point.share) json["share_of_bound"] = *point.share;
    points.push_back(std::move(json));
  }
  for (const auto& [measured, measurement] : runs) records.push_back(json_of(measured, measurement));
  return Json::object({{"thread_scaling", std::move(points)},
                       {"worthwhile_threads", worthwhile_threads(curve)},
                       {"conclusion", conclusion_of(curve, unit_of(runs.front().measured))},
                       {"runs", std::move(records)}});
}

std::string table_of(const std::vector<OnThreads>& runs) {
  const auto curve = scaling_of(runs);
  const Measured& first = runs.front().measured;
  std::vector<std::size_t> threads;
  for (const ThreadScaling& point : curve) threads.push_back(point.threads);
  std::string text =
      heading_of(first, runs.front().measurement, fmt::to_string(fmt::join(threads, ", ")) + " threads") + "\n" +
      fmt::format("threads{}{}{}{}", right(fmt::format("seconds {}", first.decode ? "a batch" : "an update"), 20),
                  right("speed-up", 10), right("efficiency", 12), right("target words/s", 16));
  if (curve.front().share) text += "   of this machine's products from L1";
  text += "\n";
  for (std::size_t i = 0; i < runs.size(); ++i) {
    const auto& [measured, m] = runs[i];
    const ThreadScaling& point = curve[i];
    text += right(std::to_string(point.threads), 7) + right(fixed(point.seconds, point.seconds < 0.1 ? 6 : 4), 20) +
            right(fixed(point.speed_up, 2), 10) + right(percents(point.efficiency), 12) +
            right(fixed(m.target_words / m.total(), 0), 16);
    if (point.share) {
      text += fmt::format("   {} of {:.1f} GFLOP/s; memory {:.1f} GB/s", percents(*point.share),
                          measured.machine->all.level1 / 1e9, measured.machine->memory / 1e9);
    }
    text += "\n";
  }
  return text + "\n" + conclusion_of(curve, unit_of(first)) + "\n";
}

}  // namespace rnnsearch::site
