#include "storage/lock.h"

#include <hdf5.h>

#include <condition_variable>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <thread>

namespace rnnsearch::storage {
namespace {

/// A fair, recursive mutex: threads get it in the order in which they ask. With a plain mutex, a thread that reads many
/// parts of a slow file would take it again and again before a waiting thread wakes up.
class Turns {
 public:
  void lock() {
    std::unique_lock guard(mutex_);
    if (depth_ > 0 && owner_ == std::this_thread::get_id()) {
      ++depth_;
      return;
    }
    const std::uint64_t ticket = tickets_++;
    served_.wait(guard, [&] { return ticket == now_serving_; });
    owner_ = std::this_thread::get_id();
    depth_ = 1;
  }
  void unlock() {
    const std::lock_guard guard(mutex_);
    if (--depth_ > 0) return;
    ++now_serving_;
    served_.notify_all();
  }

 private:
  std::mutex mutex_;
  std::condition_variable served_;
  std::uint64_t tickets_ = 0, now_serving_ = 0;
  std::thread::id owner_;
  std::size_t depth_ = 0;
};

Turns& turns() {
  static Turns the_ones;
  return the_ones;
}

}  // namespace

Lock::Lock() {
  static const bool is_ready = [] {
    H5dont_atexit();
    H5open();
    H5PLset_loading_state(0);
    return true;
  }();
  thread_local const bool is_silent = H5Eset_auto2(H5E_DEFAULT, nullptr, nullptr) >= 0;
  static_cast<void>(is_ready && is_silent);
  H5Eclear2(H5E_DEFAULT);
}

Exclusive::Exclusive() {
  turns().lock();
}
Exclusive::~Exclusive() {
  turns().unlock();
}

}  // namespace rnnsearch::storage
