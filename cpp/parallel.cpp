#include "parallel.hpp"

#include <atomic>
#include <exception>
#include <mutex>

#include "thread_pool.hpp"

namespace ranksvm {

void run_tasks(std::int64_t n_tasks, int n_threads, TaskReference task) {
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

}  // namespace ranksvm
