#include "wire.h"

namespace scaling {
namespace {

MPI_Request handle_of(std::size_t message) {
  return reinterpret_cast<MPI_Request>(message + 1);
}
std::size_t message_of(MPI_Request handle) {
  return reinterpret_cast<std::size_t>(handle) - 1;
}

}  // namespace

void Wire::add(MPI_Request request, double seconds, MPI_Request* handle) {
  if (free_.empty()) {
    free_.push_back(messages_.size());
    messages_.emplace_back();
  }
  const std::size_t at = free_.back();
  free_.pop_back();
  messages_[at] = {seconds, false};
  under_way_.push_back(request);
  of_under_way_.push_back(at);
  *handle = handle_of(at);
}

void Wire::send(const void* data, int count, MPI_Datatype type, int to, int tag, MPI_Comm comm, MPI_Request* handle) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Isend(data, count, type, to, tag, comm, &request);
  add(request, costs_.message, handle);
}

void Wire::receive(void* data, int count, MPI_Datatype type, int from, int tag, MPI_Comm comm, MPI_Request* handle) {
  MPI_Request request = MPI_REQUEST_NULL;
  MPI_Irecv(data, count, type, from, tag, comm, &request);
  int bytes = 0;
  MPI_Type_size(type, &bytes);
  add(request,
      costs_.message + count * ((type == MPI_FLOAT ? costs_.value : costs_.value_bfloat16) + bytes * costs_.byte),
      handle);
}

void Wire::test_some(int count, MPI_Request* handles, int* complete, int* indices) {
  *complete = 0;
  for (int i = 0; i < count; ++i) {
    if (handles[i] != MPI_REQUEST_NULL && !messages_[message_of(handles[i])].complete) return;
  }
  double seconds = 0;
  for (int i = 0; i < count; ++i) {
    if (handles[i] == MPI_REQUEST_NULL) continue;
    const std::size_t at = message_of(handles[i]);
    seconds += messages_[at].seconds;
    free_.push_back(at);
    handles[i] = MPI_REQUEST_NULL;
    indices[(*complete)++] = i;
  }
  if (seconds > 0) smpi_execute(seconds);
}

void Wire::wait(MPI_Request* other) {
  next(other, true);
}

void Wire::look(MPI_Request* other) {
  while (next(other, false)) {
  }
}

// SMPI's calls do not accept null requests. Testany sees all requests in one call, which test_some would not.
bool Wire::next(MPI_Request* other, bool wait) {
  const bool with_other = *other != MPI_REQUEST_NULL;
  if (with_other) under_way_.push_back(*other);
  const int count = static_cast<int>(under_way_.size());
  int index = 0, any = count > 0 ? 1 : 0;
  if (any && !wait) MPI_Testany(count, under_way_.data(), &index, &any, MPI_STATUS_IGNORE);
  // If all requests are complete, SMPI's Testany reports that there are none, whereas its Waitany returns one.
  if (any && (wait || index == MPI_UNDEFINED)) {
    MPI_Waitany(count, under_way_.data(), &index, MPI_STATUS_IGNORE);
  }
  if (with_other) {
    *other = under_way_.back();
    under_way_.pop_back();
  }
  const auto at = static_cast<std::size_t>(index);
  if (!any || index == MPI_UNDEFINED || at == under_way_.size()) return any != 0 && index != MPI_UNDEFINED;
  messages_[of_under_way_[at]].complete = true;
  under_way_[at] = under_way_.back();
  under_way_.pop_back();
  of_under_way_[at] = of_under_way_.back();
  of_under_way_.pop_back();
  return true;
}

}  // namespace scaling
