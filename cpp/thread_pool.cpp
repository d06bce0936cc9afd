#include "thread_pool.hpp"

#include <algorithm>
#include <exception>
#include <system_error>
#include <thread>

#include "block_memory.hpp"
#include "compiler.hpp"

#if defined(__unix__) || defined(__APPLE__)
#include <pthread.h>
#endif

namespace ranksvm {
namespace {

constexpr int kHelperBits = 16;
// Some ten microseconds: the pieces of a sweep follow each other faster.
constexpr int kSpins = 4000;

// Waits until the value is another; asleep, if that takes long.
template <class T>
void wait_while(const std::atomic<T>& value, T old) {
  for (int spin = 0; spin < kSpins; ++spin) {
    if (value.load(std::memory_order_acquire) != old) return;
    pause();
  }
  value.wait(old, std::memory_order_acquire);
}

// Never destroyed: its threads may outlive everything else of the process.
std::atomic<ThreadPool*> pool{nullptr};
std::mutex pool_mutex;

}  // namespace

ThreadPool& ThreadPool::instance() {
  if (ThreadPool* found = pool.load(std::memory_order_acquire)) return *found;
  const std::lock_guard lock(pool_mutex);
  if (!pool.load(std::memory_order_relaxed)) {
#if defined(__unix__) || defined(__APPLE__)
    // Threads do not survive a fork.
    [[maybe_unused]] static const int once =
        pthread_atfork([] { pool_mutex.lock(); }, [] { pool_mutex.unlock(); },
                       [] {
                         pool.store(nullptr);
                         pool_mutex.unlock();
                       });
#endif
    pool.store(new ThreadPool, std::memory_order_release);
  }
  return *pool.load(std::memory_order_relaxed);
}

void ThreadPool::dispatch(int n_helpers) {
  n_helpers = std::min(n_helpers, (1 << kHelperBits) - 1);
  grow(n_helpers);
  n_helpers = std::min(n_helpers, n_threads_);
  n_running_.store(n_helpers, std::memory_order_relaxed);
  const auto number = (ticket_.load(std::memory_order_relaxed) >> kHelperBits) + 1;
  ticket_.store(number << kHelperBits | static_cast<std::uint64_t>(n_helpers),
                std::memory_order_release);
  ticket_.notify_all();
}

void ThreadPool::wait_for_helpers() {
  for (int n; (n = n_running_.load(std::memory_order_acquire)) != 0;) wait_while(n_running_, n);
}

void ThreadPool::grow(int n_threads) {
  try {
    while (n_threads_ < n_threads) {
      const auto seen = ticket_.load(std::memory_order_relaxed);
      std::thread([this, index = n_threads_, seen] { serve(index, seen); }).detach();
      ++n_threads_;
    }
  } catch (const std::system_error&) {
    // No more threads are to be had: fewer do the work as well.
  }
}

void ThreadPool::serve(int index, std::uint64_t seen) {
  // What belongs to the thread is had at its first use, and a process that lacks the memory then is
  // ended: so it is used now, not when the first exception tells of memory that runs out.
  static_cast<void>(std::uncaught_exceptions());
  static_cast<void>(FreeBlocks::of_this_thread());
  for (;;) {
    wait_while(ticket_, seen);
    seen = ticket_.load(std::memory_order_acquire);
    if (index >= static_cast<int>(seen & ((1u << kHelperBits) - 1))) continue;
    call_(argument_);
    n_running_.fetch_sub(1, std::memory_order_acq_rel);
    n_running_.notify_one();
  }
}

}  // namespace ranksvm
