// Reads n and an n x n matrix G, then lines: "append i", for row and column i of G, or "remove k",
// for the k-th of those that are there.  After each it writes L^-1 b and G^-1 b for b = 1, 2, ....
#include "cholesky.hpp"

#include <cstdio>
#include <iostream>
#include <numeric>
#include <string>
#include <vector>

int main() {
  std::size_t n;
  std::cin >> n;
  std::vector<double> G(n * n);
  for (auto& value : G) std::cin >> value;
  ranksvm::CholeskyFactor factor;
  std::vector<std::size_t> rows;
  std::string command;
  for (std::size_t i; std::cin >> command >> i;) {
    if (command == "append") {
      std::vector<double> column;
      for (const auto k : rows) column.push_back(G[i * n + k]);
      factor.solve_lower(column);
      double rest = G[i * n + i];
      for (const double value : column) rest -= value * value;
      factor.append(column, rest);
      rows.push_back(i);
    } else {
      factor.remove(i);
      rows.erase(rows.begin() + static_cast<std::ptrdiff_t>(i));
    }
    std::vector<double> b(factor.size());
    std::iota(b.begin(), b.end(), 1.0);
    for (const auto solve :
         {&ranksvm::CholeskyFactor::solve_lower, &ranksvm::CholeskyFactor::solve_upper}) {
      (factor.*solve)(b);
      for (const double value : b) std::printf("%.17g ", value);
      std::printf("\n");
    }
  }
}
