// The layer between src/comm/exchange.cpp and the simulated MPI. It charges the progress thread for messages, and lets
// it wait for the next of all pending messages. (Polling, as the real thread does, would make the simulation look at
// every message each time.)
#pragma once

#include <mpi.h>

#include <cstddef>
#include <vector>

namespace scaling {

/// The messages of one rank.
class Wire {
 public:
  /// Seconds of the progress thread.
  struct Costs {
    double message = 0;                    // for each message sent or received
    double byte = 0;                       // for each byte received, if MPI copies it, as between processes of one node
    double value = 0, value_bfloat16 = 0;  // for each value received: adding, rounding, widening
  };

  explicit Wire(const Costs& costs) : costs_(costs) {}

  // Replacements of the calls of MPI; the handles are not MPI's.
  void send(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* handle);
  void receive(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request* handle);
  /// When the last of them is complete, charges the thread's time for all.
  void test_some(int count, MPI_Request* handles, int* complete, int* indices);

  /// Waits until a message is complete or `other`, a request of MPI, which is then null. REQUIRES: one is pending.
  void wait(MPI_Request* other);
  /// Collects the other messages that are complete by now.
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
  std::vector<std::size_t> free_;          // free indices of messages_
  std::vector<MPI_Request> under_way_;     // pending requests of MPI
  std::vector<std::size_t> of_under_way_;  // the index of the message of each request
};

}  // namespace scaling
