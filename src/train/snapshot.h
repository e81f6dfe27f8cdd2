// Checkpoints that training does not wait for. A thread copies what a checkpoint holds while the next update computes
// its gradient, which changes none of it, and another thread writes the copy while the updates continue.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <future>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "rnnsearch/base/stopwatch.h"
#include "rnnsearch/train/checkpoint.h"

namespace rnnsearch::train {

/// Memory for a copy of everything in a CheckpointSource that an update changes.
class CheckpointSnapshot {
 public:
  /// Allocates the memory, which the copies reuse, so that the first one does not wait for it. Throws Error if there is
  /// not enough.
  void reserve(CheckpointSource source);
  /// Copies the parameters, their average and the accumulators. Returns a source of these copies, valid until the next
  /// call.
  CheckpointSource take(CheckpointSource source);

 private:
  void allocate(std::span<const std::span<const float>* const> views);

  std::vector<std::vector<float>> blocks_;
};

/// Writes checkpoints, one at a time, in the background or while its caller waits. Used by one thread.
class CheckpointWriter {
 public:
  struct Written {
    std::uint64_t update = 0;
    double seconds = 0;        // from begin() until it was written
    double pause_seconds = 0;  // the part of it in which the caller waited
  };

  /// `write` writes one checkpoint. It is called by another thread, or by finished().
  explicit CheckpointWriter(std::function<void(const CheckpointSource&)> write) : write_(std::move(write)) {}
  /// Waits for a checkpoint that is being written in the background.
  ~CheckpointWriter() = default;

  /// Calls CheckpointSnapshot::reserve.
  void reserve(CheckpointSource source) { snapshot_.reserve(std::move(source)); }
  /// Starts to copy what `source` returns, and to write the copy, in the background. `source` is called there, too, so
  /// it must hold whatever the caller changes before copied(). With `wait` nothing is copied, and the next
  /// finished(true) does all. REQUIRES: finished() has returned the checkpoint before.
  void begin(std::uint64_t update, std::function<CheckpointSource()> source, bool wait);
  /// Waits until the copy is made. REQUIRES: it is called before parameters, their average or accumulators change.
  void copied();
  /// Returns the checkpoint that was begun if it is written, or with `wait` when it is. Throws what `source` or `write`
  /// threw.
  std::optional<Written> finished(bool wait);

  /// Whether a checkpoint is still being written.
  bool busy() const { return writing_.valid() && seconds_ == 0; }
  /// How long it has taken so far, or took if it is written and finished() has not returned it yet; otherwise 0.
  double seconds() const { return busy() ? since_begin_.seconds() : writing_.valid() ? seconds_.load() : 0; }

 private:
  const std::function<void(const CheckpointSource&)> write_;
  CheckpointSnapshot snapshot_;
  Stopwatch since_begin_;
  Written next_;
  std::atomic<double> seconds_ = 0;  // 0 while it is being written
  // Declared last, because their destructors wait for threads that use the members above.
  std::shared_future<CheckpointSource> copy_;
  std::future<void> writing_;
};

}  // namespace rnnsearch::train
