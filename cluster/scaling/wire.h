// What stands between src/comm/exchange.cpp and the simulated MPI: it charges what messages cost the thread that drives
// the sums, and lets that thread wait for the next of all messages under way (to look now and then, as the real one
// does, would cost the simulation a look at every message each time).
#pragma once

#include <mpi.h>

#include <cstddef>
#include <vector>

namespace scaling {

/// Of one rank.
class Wire {
 public:
  /// Seconds of the thread.
  struct Costs {
    double message = 0;                    // for each that is sent or received
    double byte = 0;                       // received; where MPI itself copies, as between processes of one node
    double value = 0, value_bfloat16 = 0;  // received; adding, rounding, widening
  };

  explicit Wire(const Costs& costs) : costs_(costs) {}

  // In place of the calls of MPI; the handles are not MPI's.
  void send(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* handle);
  void receive(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request* handle);
  /// When the last of them is complete, takes the thread's time for all.
  void test_some(int count, MPI_Request* handles, int* complete, int* indices);

  /// Until a message is complete, or `other`, a request of MPI, which is then null. REQUIRES: one is under way.
  void wait(MPI_Request* other);
  /// What else is complete by now.
  void look(MPI_Request* other);

 private:
  struct Message {
    double seconds = 0;
    bool complete = false;
  };

  void add(MPI_Request request, double seconds, MPI_Request* handle);
  bool next(MPI_Request* other, bool wait);

  Costs costs_;
  std::vector<Message> messages_;
  std::vector<std::size_t> free_;          // of messages_
  std::vector<MPI_Request> under_way_;     // of MPI
  std::vector<std::size_t> of_under_way_;  // the message of each
};

}  // namespace scaling
