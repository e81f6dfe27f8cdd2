// Measures what scaling.py needs and `rnnsearch benchmark` does not tell; prints JSON:
//   latency, bandwidth      of messages between two ranks of this MPI: half a ping-pong of 8 bytes; of 2 MB
//   value                   seconds of src/comm/exchange.cpp for each value received, without a network
// Run it with mpirun -n 2.
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <vector>

#include "comm/exchange.h"
#include "comm/progress_thread.h"

namespace scaling {

// A network that takes no time.
int send(const void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*) { return MPI_SUCCESS; }
int receive(void*, int, MPI_Datatype, int, int, MPI_Comm, MPI_Request*) { return MPI_SUCCESS; }
int test_some(int count, MPI_Request*, int* complete, int*, MPI_Status*) {
  *complete = count;
  return MPI_SUCCESS;
}

}  // namespace scaling

namespace {

constexpr int kRounds = 9;  // the least counts, because other programs can only add time

/// Seconds of a message in one direction.
double seconds_of_message(std::size_t bytes, int repeats) {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  // Many buffers, as in an exchange, not one that stays in the caches.
  constexpr std::size_t kBuffers = 8;
  std::vector<char> data(bytes * kBuffers);
  double least = 1e9;
  for (int round = 0; round < kRounds; ++round) {
    MPI_Barrier(MPI_COMM_WORLD);
    const double begun = MPI_Wtime();
    for (int i = 0; i < repeats; ++i) {
      char* here = data.data() + static_cast<std::size_t>(i) % kBuffers * bytes;
      for (const int from : {0, 1}) {
        if (rank == from) {
          MPI_Send(here, static_cast<int>(bytes), MPI_BYTE, 1 - from, 0, MPI_COMM_WORLD);
        } else {
          MPI_Recv(here, static_cast<int>(bytes), MPI_BYTE, from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        }
      }
    }
    least = std::min(least, (MPI_Wtime() - begun) / (2 * repeats));
  }
  return least;
}

double seconds_of_value() {
  constexpr int kRanks = 8;
  const rnnsearch::comm::Grid grid(0, kRanks);
  std::vector<float> values(rnnsearch::comm::kBlock);
  rnnsearch::comm::Exchange exchange;
  double least = 1e9;
  for (int round = 0; round < kRounds; ++round) {
    const double begun = MPI_Wtime();
    exchange.begin(MPI_COMM_SELF, grid, 0, {values});
    while (!exchange.advance()) {
    }
    least = std::min(least, MPI_Wtime() - begun);
  }
  return least / (2.0 * (kRanks - 1) / kRanks * static_cast<double>(values.size()));
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  if (ranks != 2) {
    std::fprintf(stderr, "measure: give it two ranks (mpirun -n 2)\n");
    MPI_Abort(MPI_COMM_WORLD, 1);
  }
  constexpr std::size_t kLarge = std::size_t{1} << 21;
  const double latency = seconds_of_message(8, 1000), large = seconds_of_message(kLarge, 16);
  if (rank == 0) {
    std::printf("{\"latency\": %.3g, \"bandwidth\": %.4g, \"value\": %.3g}\n", latency, kLarge / (large - latency),
                seconds_of_value());
  }
  MPI_Barrier(MPI_COMM_WORLD);
  MPI_Finalize();
}
