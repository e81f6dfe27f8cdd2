#include "wire.h"

#include <algorithm>
#include <cstring>

namespace scaling {

namespace s4u = simgrid::s4u;

void Waker::wait() {
  if (!woken_) {
    waiting_ = true;
    semaphore_->acquire();
  }
  woken_ = false;
}

void Waker::wake() {
  if (waiting_) {
    waiting_ = false;
    semaphore_->release();
  } else {
    woken_ = true;
  }
}

Wire::Wire(const std::vector<Wire*>& ranks, int rank, s4u::Host* host, const Costs& costs, bool copies)
    : ranks_(ranks), rank_(rank), host_(host), costs_(costs), copies_(copies) {
  for (Lane* lane : {&to_other_hosts_, &within_host_}) {
    for (int i = 0; i < costs.streams; ++i)
      s4u::Actor::create("stream", host, [this, lane] { stream(lane); })->daemonize();
  }
}

Wire::Stage* Wire::stage(int tag) {
  Stage& stage = stages_[tag];
  stage.waker = &progress;
  ++stage.open;
  stage.seconds += costs_.message;
  return &stage;
}

void Wire::send(const void* data, std::size_t bytes, int to, int tag, MPI_Request* handle) {
  Stage* of = stage(tag);
  *handle = reinterpret_cast<MPI_Request>(of);
  post_send(data, bytes, to, tag, of);
}

void Wire::receive(void* data, std::size_t count, int from, int tag, MPI_Request* handle) {
  const std::size_t bytes = count * sizeof(float);
  Stage* of = stage(tag);
  const bool copied = ranks_[static_cast<std::size_t>(from)]->host_ == host_;
  of->seconds += static_cast<double>(count) * costs_.value + (copied ? static_cast<double>(bytes) * costs_.byte : 0);
  *handle = reinterpret_cast<MPI_Request>(of);
  post_receive(data, bytes, from, tag, of);
}

void Wire::post_send(const void* data, std::size_t bytes, int to, int tag, Stage* stage) {
  match({this, ranks_[static_cast<std::size_t>(to)], bytes, data, nullptr, stage, nullptr}, tag);
}

void Wire::post_receive(void* data, std::size_t bytes, int from, int tag, Stage* stage) {
  match({ranks_[static_cast<std::size_t>(from)], this, bytes, nullptr, data, nullptr, stage}, tag);
}

// Puts the sent and the awaited half of a message together, in the order in which each was posted.
void Wire::match(const Message& message, int tag) {
  const std::uint64_t key = static_cast<std::uint64_t>(message.from->rank_) << 32U | static_cast<std::uint32_t>(tag);
  auto& unmatched = message.to->unmatched_;
  auto& halves = unmatched[key];
  const bool sent = message.sent != nullptr;
  if (halves.empty() || (halves.front().sent != nullptr) == sent) {
    halves.push_back(message);
    return;
  }
  const Message other = halves.front();
  halves.pop_front();
  if (halves.empty()) unmatched.erase(key);
  const Message &source = sent ? message : other, &target = sent ? other : message;
  Lane& lane = message.from->host_ == message.to->host_ ? message.from->within_host_ : message.from->to_other_hosts_;
  lane.ready.push_back(
      {message.from, message.to, message.bytes, source.source, target.target, source.sent, target.received});
  lane.count->release();
}

// An actor that sends one message after the other.
void Wire::stream(Lane* lane) {
  auto& ready = lane->ready;
  for (;;) {
    lane->count->acquire();
    const auto next = std::min_element(ready.begin(), ready.end(), [](const Message& a, const Message& b) {
      return a.to->arriving_ < b.to->arriving_;
    });
    const Message message = *next;
    ready.erase(next);
    ++message.to->arriving_;
    s4u::Comm::sendto(host_, message.to->host_, message.bytes);
    --message.to->arriving_;
    if (copies_ && message.source != nullptr) std::memcpy(message.target, message.source, message.bytes);
    for (Stage* stage : {message.sent, message.received}) {
      if (--stage->open == 0) stage->waker->wake();
    }
  }
}

bool Wire::whole_stage(MPI_Request handle) {
  auto* stage = reinterpret_cast<Stage*>(handle);
  if (stage->open > 0) return false;
  const double seconds = stage->seconds;
  stage->seconds = 0;
  compute(seconds);
  return true;
}

void Wire::all_reduce(std::size_t bytes, int tag) {
  const int ranks = static_cast<int>(ranks_.size());
  Waker done;
  for (int distance = 1; distance < ranks; distance *= 2) {
    Stage round{2, 2 * costs_.message, &done};
    post_receive(nullptr, bytes, (rank_ - distance + ranks) % ranks, tag, &round);
    post_send(nullptr, bytes, (rank_ + distance) % ranks, tag, &round);
    done.wait();
    compute(round.seconds);
  }
}

void compute(double seconds) {
  if (seconds > 0) s4u::this_actor::execute(seconds * s4u::this_actor::get_host()->get_speed());
}

}  // namespace scaling
