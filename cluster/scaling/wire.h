// The simulated network under src/comm/exchange.cpp, in place of its calls of MPI. A message becomes a flow of SimGrid
// when both its send and its receive have been posted. The layer charges the progress thread for messages, and lets it
// wait for the end of a stage of a sum. (Polling, as the real thread does, would take most of the time of a
// simulation.)
//
// Whenever a flow begins or ends, SimGrid shares the links anew among all flows that are connected by links, which
// takes time in proportion to their number. A stage of a sum on 1,024 ranks has 31,744 messages, so a rank has only
// some flows under way at a time (Costs::streams), and of its other messages the one to the rank with the fewest flows
// is next. In the order of posting, messages to busy ranks would hold up all others, which they do not in a network
// card that sends to all ranks in turn.
#pragma once

#include <mpi.h>

#include <cstddef>
#include <cstdint>
#include <deque>
#include <map>
#include <simgrid/s4u.hpp>
#include <unordered_map>
#include <vector>

namespace scaling {

struct Costs {
  // Seconds of the progress thread.
  double message = 0;  // for each message sent or received
  double byte = 0;     // for each byte received from a rank of the same host, because MPI copies it
  double value = 0;    // for each value received: adding
  int streams = 16;    // flows that leave a rank at a time, and as many within its host
};

/// Lets an actor wait for others. SimGrid runs one actor at a time.
class Waker {
 public:
  /// Returns after a wake(), at once if there was one since the last wait().
  void wait();
  void wake();

 private:
  simgrid::s4u::SemaphorePtr semaphore_ = simgrid::s4u::Semaphore::create(0);
  bool waiting_ = false, woken_ = false;
};

/// The messages of one rank.
class Wire {
 public:
  /// Starts the actors that send. `ranks` are the wires of all ranks by number; both outlive the simulation.
  Wire(const std::vector<Wire*>& ranks, int rank, simgrid::s4u::Host* host, const Costs& costs, bool copies);

  // Replacements of the calls of MPI; a handle names the stage.
  void send(const void* data, std::size_t bytes, int to, int tag, MPI_Request* handle);
  void receive(void* data, std::size_t count, int from, int tag, MPI_Request* handle);
  /// If all messages of the stage are complete, charges the thread for them, and returns true.
  static bool whole_stage(MPI_Request handle);

  /// Sends and receives `bytes` in as many rounds as recursive doubling needs. `tag` differs from those of sums.
  void all_reduce(std::size_t bytes, int tag);

  /// Woken at the end of each stage of a sum.
  Waker progress;

 private:
  /// The messages of a rank in one stage of a sum, or in one round of all_reduce().
  struct Stage {
    int open = 0;
    double seconds = 0;  // of the thread, for all of them
    Waker* waker = nullptr;
  };
  struct Message {
    Wire *from = nullptr, *to = nullptr;
    std::size_t bytes = 0;
    const void* source = nullptr;
    void* target = nullptr;
    Stage *sent = nullptr, *received = nullptr;
  };

  Stage* stage(int tag);
  void post_send(const void* data, std::size_t bytes, int to, int tag, Stage* stage);
  void post_receive(void* data, std::size_t bytes, int from, int tag, Stage* stage);
  /// Messages from here that are sent and awaited, and the actors that carry them.
  struct Lane {
    std::deque<Message> ready;
    simgrid::s4u::SemaphorePtr count = simgrid::s4u::Semaphore::create(0);
  };

  static void match(const Message& message, int tag);
  void stream(Lane* lane);

  const std::vector<Wire*>& ranks_;
  int rank_;
  simgrid::s4u::Host* host_;
  Costs costs_;
  bool copies_;
  std::map<int, Stage> stages_;  // by tag
  // Messages to this rank by sender and tag, all of them only sent, or all of them only awaited.
  std::unordered_map<std::uint64_t, std::deque<Message>> unmatched_;
  // Messages within a host do not wait for those that share its link.
  Lane to_other_hosts_, within_host_;
  int arriving_ = 0;  // flows to this rank
};

/// Keeps a core of this actor's host busy.
void compute(double seconds);

}  // namespace scaling
