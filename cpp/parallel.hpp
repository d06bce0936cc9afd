// Threads over independent tasks.  Which thread runs a task never matters to its result, so every
// caller that writes disjoint outputs gets the same bits for any number of threads.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <exception>
#include <mutex>

#include "thread_pool.hpp"

namespace ranksvm {

// The threads that are worth starting for this much work, of which one should do `least`.
inline int useful_threads(std::int64_t work, std::int64_t least, int n_threads) {
  return static_cast<int>(std::clamp<std::int64_t>(work / least, 1, std::max(1, n_threads)));
}

// Calls task(0), ..., task(n_tasks - 1), each once, on up to n_threads threads.
template <class Task>
void parallel_for(std::int64_t n_tasks, int n_threads, Task&& task) {
  const auto n_workers = std::min<std::int64_t>(n_threads, n_tasks);
  if (n_workers <= 1) {
    for (std::int64_t t = 0; t < n_tasks; ++t) task(t);
    return;
  }
  std::atomic<std::int64_t> next{0};
  std::exception_ptr failure;
  std::mutex failure_mutex;
  auto work = [&] {
    try {
      for (std::int64_t t; (t = next.fetch_add(1, std::memory_order_relaxed)) < n_tasks;) task(t);
    } catch (...) {
      const std::lock_guard lock(failure_mutex);
      if (!failure) failure = std::current_exception();
      next.store(n_tasks, std::memory_order_relaxed);
    }
  };
  ThreadPool::instance().run(static_cast<int>(n_workers) - 1, work);
  if (failure) std::rethrow_exception(failure);
}

// Cuts 0..n into pieces of at most `size` and calls task(begin, end) for each.
template <class Task>
void parallel_chunks(std::int64_t n, std::int64_t size, int n_threads, Task&& task) {
  parallel_for((n + size - 1) / size, n_threads,
               [&](std::int64_t t) { task(t * size, std::min(n, (t + 1) * size)); });
}

}  // namespace ranksvm
