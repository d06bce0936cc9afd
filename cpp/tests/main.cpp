// Random problems against plain computations, for so many seconds in all: ./native_tests SECONDS
#include "check.hpp"

int main(int argc, char** argv) {
  using namespace ranksvm::tests;
  const double seconds = argc > 1 ? std::atof(argv[1]) : 0;
  const auto tests = {test_thread_pool, test_sweeps,     test_given_pairs,    test_matrices,
                      test_top,         test_simplex_qp, test_cholesky,       test_row_forest,
                      test_path,        test_table_rows, test_interior_pairs, test_dual_descent,
                      test_listed_pairs};
  for (const auto test : tests) test(seconds / static_cast<double>(tests.size()));
}
