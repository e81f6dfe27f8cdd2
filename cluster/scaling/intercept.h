// Included before src/comm/exchange.cpp (-include): redirects its MPI calls to the replacements of a network in
// simulate.cpp or measure.cpp.
#pragma once

#include <mpi.h>

namespace scaling {

int send(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* handle);
int receive(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request* handle);
int test_some(int count, MPI_Request* handles, int* complete, int* indices, MPI_Status* statuses);

}  // namespace scaling

#undef MPI_Isend
#undef MPI_Irecv
#undef MPI_Testsome
#define MPI_Isend scaling::send
#define MPI_Irecv scaling::receive
#define MPI_Testsome scaling::test_some
