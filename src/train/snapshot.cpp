#include "train/snapshot.h"

#include <algorithm>
#include <cassert>
#include <chrono>
#include <new>

#include "rnnsearch/base/error.h"
#include "rnnsearch/base/parallel.h"

namespace rnnsearch::train {
namespace {

/// The views of what an update changes. They are `source`'s own.
std::vector<std::span<const float>*> views_in(CheckpointSource& source) {
  std::vector<std::span<const float>*> views{&source.parameters, &source.average};
  for (auto& accumulator : source.accumulators) views.push_back(&accumulator.values);
  return views;
}

}  // namespace

void CheckpointSnapshot::reserve(CheckpointSource source) { allocate(views_in(source)); }

void CheckpointSnapshot::allocate(std::span<const std::span<const float>* const> views) {
  blocks_.resize(views.size());
  std::size_t bytes = 0;
  for (const auto* view : views) bytes += view->size_bytes();
  try {
    for (std::size_t i = 0; i < views.size(); ++i) blocks_[i].resize(views[i]->size());
  } catch (const std::bad_alloc&) {
    throw Error(
        "there is not enough memory for the copy of {:.2f} GB from which checkpoints are written in the background; "
        "give this rank more memory, or let training wait for its checkpoints with --synchronous-checkpoints",
        static_cast<double>(bytes) / 1e9);
  }
}

CheckpointSource CheckpointSnapshot::take(CheckpointSource source) {
  const auto views = views_in(source);
  allocate(views);
  for (std::size_t i = 0; i < views.size(); ++i) {
    const std::span<const float> from = std::exchange(*views[i], blocks_[i]);
    std::copy(from.begin(), from.end(), blocks_[i].begin());
  }
  return source;
}

void CheckpointWriter::begin(std::uint64_t update, std::function<CheckpointSource()> source, bool wait) {
  assert(!writing_.valid());
  since_begin_ = {};
  seconds_ = 0;
  next_ = {update};
  const auto how = wait ? std::launch::deferred : std::launch::async;
  copy_ = std::async(how, [this, source = std::move(source), wait] {
    if (wait) return source();
    const SerialScope alone;  // deferred updates of the optimizer are completed
    return snapshot_.take(source());
  });
  writing_ = std::async(how, [this] {
    write_(copy_.get());
    seconds_ = since_begin_.seconds();
  });
  next_.pause_seconds = since_begin_.seconds();
}

void CheckpointWriter::copied() {
  if (!copy_.valid()) return;
  const Stopwatch waiting;
  copy_.wait();
  next_.pause_seconds += waiting.seconds();
}

std::optional<CheckpointWriter::Written> CheckpointWriter::finished(bool wait) {
  if (!writing_.valid()) return {};
  const Stopwatch waiting;
  if (!wait && writing_.wait_for(std::chrono::seconds(0)) != std::future_status::ready) return {};
  writing_.get();
  next_.seconds = seconds_;
  next_.pause_seconds += waiting.seconds();
  return next_;
}

}  // namespace rnnsearch::train
