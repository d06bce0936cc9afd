// Threads over independent tasks.  Which thread runs a task never matters to its result, so every
// caller that writes disjoint outputs gets the same bits for any number of threads.
#pragma once

#include <algorithm>
#include <cstdint>
#include <memory>

namespace ranksvm {

// The threads that are worth starting for this much work, of which one should do `least`.
inline int useful_threads(std::int64_t work, std::int64_t least, int n_threads) {
  return static_cast<int>(std::clamp<std::int64_t>(work / least, 1, std::max(1, n_threads)));
}

// A function of the number of a task, which somebody else owns. Each is compiled once so, however
// tasks are run.
class TaskReference {
 public:
  template <class Task>
  explicit TaskReference(Task& task)
      : task_(const_cast<void*>(static_cast<const void*>(std::addressof(task)))),
        call_([](void* of_type, std::int64_t t) { (*static_cast<Task*>(of_type))(t); }) {}

  void operator()(std::int64_t t) const { call_(task_, t); }

 private:
  void* task_;
  void (*call_)(void*, std::int64_t);
};

void run_tasks(std::int64_t n_tasks, int n_threads, TaskReference task);

// Calls task(0), ..., task(n_tasks - 1), each once, on up to n_threads threads.
template <class Task>
void parallel_for(std::int64_t n_tasks, int n_threads, Task&& task) {
  run_tasks(n_tasks, n_threads, TaskReference(task));
}

// Cuts 0..n into pieces of at most `size` and calls task(begin, end) for each.
template <class Task>
void parallel_chunks(std::int64_t n, std::int64_t size, int n_threads, Task&& task) {
  parallel_for((n + size - 1) / size, n_threads,
               [&](std::int64_t t) { task(t * size, std::min(n, (t + 1) * size)); });
}

}  // namespace ranksvm
