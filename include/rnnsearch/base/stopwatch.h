// Wall-clock time, also that of the phases of an update.
#pragma once

#include <array>
#include <chrono>
#include <cstddef>

namespace rnnsearch {

class Stopwatch {
 public:
  /// Seconds since construction or the last lap; starts the next lap.
  double lap() {
    const auto now = std::chrono::steady_clock::now();
    const double seconds = std::chrono::duration<double>(now - start_).count();
    start_ = now;
    return seconds;
  }
  /// Seconds since construction or the last lap.
  double seconds() const { return std::chrono::duration<double>(std::chrono::steady_clock::now() - start_).count(); }

 private:
  std::chrono::steady_clock::time_point start_ = std::chrono::steady_clock::now();
};

/// Seconds since 1970, by the clock of the machine.
inline double unix_seconds() {
  return std::chrono::duration<double>(std::chrono::system_clock::now().time_since_epoch()).count();
}

// A profile of an update: seconds by phase, measured on the thread that runs the update.

enum class Phase {
  kPacking,        // sorting words into packed order
  kEmbedding,      // word vectors and their gradients
  kEncoder,        // recurrence, annotations and keys
  kAttention,      // energies, alpha and contexts in the loop of the decoder
  kDecoder,        // the rest of that loop, and the products over all its steps
  kReadout,        // maxout, softmax, loss
  kCommunication,  // reductions over the ranks, including waiting for slower ranks
  kOptimizer,      // zeroing of the gradient, norm, clipping, update of the weights
};
inline constexpr std::array kPhases{Phase::kPacking, Phase::kEmbedding, Phase::kEncoder,       Phase::kAttention,
                                    Phase::kDecoder, Phase::kReadout,   Phase::kCommunication, Phase::kOptimizer};
inline constexpr const char* name_of(Phase phase) {
  constexpr std::array names{"packing", "embedding",       "encoder",       "attention",
                             "decoder", "readout/softmax", "communication", "optimiser"};
  return names[static_cast<std::size_t>(phase)];
}

/// Sums of time by phase. Phases nest, and each counts only its own time: the outer phase is paused while an inner one
/// runs. Not thread-safe; the work of other threads counts as the time that the calling thread waits for them.
class PhaseTimes {
 public:
  double seconds(Phase phase) const {
    return std::chrono::duration<double>(spent_[static_cast<std::size_t>(phase)]).count();
  }
  /// All phases together.
  double seconds() const {
    Clock::duration sum{};
    for (const auto spent : spent_) sum += spent;
    return std::chrono::duration<double>(sum).count();
  }
  /// REQUIRES: no phase is running.
  void clear() { spent_ = {}; }

  /// Counts a phase from construction to destruction. Each end costs one reading of the clock. Does nothing if `times`
  /// is nullptr.
  class Scope {
   public:
    Scope(PhaseTimes* times, Phase phase) : times_(times), outer_(times ? times->running_ : nullptr) { change(phase); }
    ~Scope() {
      if (times_) times_->change_to(outer_);
    }
    Scope(const Scope&) = delete;
    Scope& operator=(const Scope&) = delete;
    /// Switches to another phase.
    void change(Phase phase) {
      if (times_) times_->change_to(&times_->spent_[static_cast<std::size_t>(phase)]);
    }

   private:
    PhaseTimes* times_;
    std::chrono::steady_clock::duration* outer_;
  };

 private:
  using Clock = std::chrono::steady_clock;

  void change_to(Clock::duration* phase) {
    const auto now = Clock::now();
    if (running_) *running_ += now - since_;
    running_ = phase;
    since_ = now;
  }

  std::array<Clock::duration, kPhases.size()> spent_{};
  Clock::duration* running_ = nullptr;  // the phase that is counted now, or nullptr
  Clock::time_point since_;
};

}  // namespace rnnsearch
