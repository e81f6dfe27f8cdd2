// Who is late? A rank that waits long in a collective asks all others where they are. Each rank's progress thread
// answers for it, whatever its main thread does; no answer means that the process is stopped or gone, or its network
// is.
//
// One rank asks at a time (the first to become impatient; the others then hold back), so a stall costs some messages a
// rank, and no stall costs none.
#pragma once

#include <mpi.h>

#include <chrono>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace rnnsearch::comm {

/// Of one rank, as it tells it.
struct Whereabouts {
  std::uint64_t entered = 0;  // collectives that its main thread has entered (or begun) since the start
  double seconds = 0;         // for which nothing has moved in the collective it waits in
  bool waits = false;         // in a collective; else it computes, reads, writes
  char doing[48] = "";
};

/// Not thread-safe: the progress thread's.
class RollCall {
 public:
  using Clock = std::chrono::steady_clock;

  /// `comm` for its messages alone. hosts: of all ranks.
  RollCall(MPI_Comm comm, std::vector<std::string> hosts);

  struct Finding {
    std::string text;    // one sentence that names the late ranks
    bool final = false;  // nothing is to be hoped for: end all ranks
  };
  /// Answers who has asked; asks, when nothing has moved here for a quarter of stall_timeout (seconds; 0: never asks);
  /// and when it has not for all of it, says what came of it, and begins anew. Of the ranks that are furthest behind:
  ///   no answer         final
  ///   all of them wait  final: nobody is late, but nothing moves. Unless something moved where they wait: no finding
  ///   one does not      it is late, but alive (it may write a checkpoint to a slow file system): final after ten of
  ///   these
  /// To be called some times a second. Throws Error.
  std::optional<Finding> tick(const Whereabouts& own, double stall_timeout);

 private:
  void answer(const Whereabouts& own);
  void ask();
  std::optional<Finding> evaluate(const Whereabouts& own, double stall_timeout);
  const Whereabouts& of(int rank, const Whereabouts& own) const;
  std::string list(const std::vector<int>& ranks, bool with_doing) const;

  MPI_Comm comm_;
  int rank_ = 0, ranks_ = 1;
  std::vector<std::string> hosts_;
  std::vector<std::optional<Whereabouts>> answers_;  // to the roll call under way
  std::vector<MPI_Request> asking_;
  std::vector<MPI_Request> answering_;
  std::vector<Whereabouts> answered_with_;  // their buffers
  bool asked_ = false;
  double evaluate_at_ = 0;  // own.seconds then
  Clock::time_point others_asked_{};
};

}  // namespace rnnsearch::comm
