// The pool of threads: every task once, whoever asks and whatever a task throws.
#include "thread_pool.hpp"

#include <stdexcept>
#include <thread>
#include <vector>

#include "check.hpp"
#include "parallel.hpp"

#if defined(__unix__) || defined(__APPLE__)
#include <sys/wait.h>
#include <unistd.h>
#endif

namespace ranksvm::tests {
namespace {

void run_each_once(std::int64_t n_tasks, int n_threads) {
  std::vector<int> n_runs(n_tasks);
  parallel_for(n_tasks, n_threads, [&](std::int64_t t) { ++n_runs[t]; });
  for (const int n : n_runs) CHECK(n == 1);
}

// Some run alone, as the pool is at work for another.
void test_callers_at_once(Random& random) {
  std::vector<std::thread> callers;
  for (int caller = 0; caller < 4; ++caller)
    callers.emplace_back(
        [n_tasks = random.whole(0, 300), n_threads = static_cast<int>(random.whole(1, 6))] {
          for (int k = 0; k < 50; ++k) run_each_once(n_tasks, n_threads);
        });
  for (std::thread& caller : callers) caller.join();
}

// What a task throws ends the work, comes out once, and leaves the pool as it was.
void test_cancellation(Random& random) {
  const auto n_tasks = random.whole(1, 300), bad = random.whole(0, n_tasks - 1);
  const int n_threads = static_cast<int>(random.whole(1, 6));
  bool caught = false;
  try {
    parallel_for(n_tasks, n_threads, [&](std::int64_t t) {
      if (t == bad) throw std::domain_error("cancelled");
    });
  } catch (const std::domain_error&) {
    caught = true;
  }
  CHECK(caught);
  run_each_once(n_tasks, n_threads);
}

// A task that is parallel itself runs alone.
void test_nesting(Random& random) {
  const auto n_tasks = random.whole(1, 40);
  parallel_for(n_tasks, 3, [&](std::int64_t) { run_each_once(n_tasks, 3); });
}

void test_fork(Random&) {
#if (defined(__unix__) || defined(__APPLE__)) && !defined(__SANITIZE_THREAD__)
  run_each_once(100, 3);
  const pid_t child = fork();
  CHECK(child >= 0);
  if (child == 0) {
    run_each_once(100, 3);
    _exit(7);
  }
  int status = 0;
  CHECK(waitpid(child, &status, 0) == child);
  CHECK(WIFEXITED(status) && WEXITSTATUS(status) == 7);
  run_each_once(100, 3);
#endif
}

}  // namespace

void test_thread_pool(double seconds) {
  repeat(0, test_fork);
  for (const auto test : {test_callers_at_once, test_cancellation, test_nesting})
    repeat(seconds / 3, test);
}

}  // namespace ranksvm::tests
