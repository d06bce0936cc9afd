// Threads that wait for work: starting one costs more than many a piece of a sweep.
#pragma once

#include <atomic>
#include <cstdint>
#include <mutex>

namespace ranksvm {

class ThreadPool {
 public:
  // The pool of this process; a forked child gets one of its own.
  static ThreadPool& instance();

  // Calls work() here and on up to n_helpers other threads at a time, and returns when all are
  // done. Alone, if the pool is at work already. Work must not throw.
  template <class Work>
  void run(int n_helpers, Work& work) {
    const std::unique_lock lock(busy_, std::try_to_lock);
    if (!lock.owns_lock()) return work();
    call_ = [](void* argument) { (*static_cast<Work*>(argument))(); };
    argument_ = &work;
    dispatch(n_helpers);
    work();
    wait_for_helpers();
  }

 private:
  void dispatch(int n_helpers);
  void wait_for_helpers();
  void grow(int n_threads);
  void serve(int index, std::uint64_t seen);

  std::mutex busy_;
  int n_threads_ = 0;
  void (*call_)(void*) = nullptr;
  void* argument_ = nullptr;
  // The number of this piece of work and, in the low bits, how many helpers it is for. One word, so
  // that a thread which is late takes part in a piece of work or not, but never in half of two.
  std::atomic<std::uint64_t> ticket_{0};
  std::atomic<int> n_running_{0};
};

}  // namespace ranksvm
