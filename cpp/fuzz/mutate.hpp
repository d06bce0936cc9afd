// A small driver for libFuzzer targets: mutations of seed files for some seconds.
//
//     TARGET SECONDS SEED_FILE...
//
// With libFuzzer (-fsanitize=fuzzer) define RANKSVM_LIBFUZZER, and this is not used.
#pragma once

#include <cstddef>
#include <cstdint>

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size);

#ifndef RANKSVM_LIBFUZZER
#include <chrono>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

namespace fuzz {

inline const std::vector<std::string>& words() {
  static const std::vector<std::string> all = {"qid:",
                                               "cost:",
                                               "sid:",
                                               "#",
                                               "\n",
                                               "\r\n",
                                               " ",
                                               "\t",
                                               ":",
                                               "0:0",
                                               "1:1",
                                               "-1:1",
                                               "nan",
                                               "inf",
                                               "-inf",
                                               "1e400",
                                               "1e-400",
                                               "0x1p3",
                                               "+-1",
                                               "--1",
                                               "1e",
                                               "1e+",
                                               ".",
                                               "2147483646",
                                               "2147483647",
                                               "1_0",
                                               "99999999999999999999",
                                               std::string(1, '\0'),
                                               "\xff\xfe",
                                               "docid = 7",
                                               "1:-0",
                                               "qid:-5"};
  return all;
}

inline std::string mutated(std::string text, const std::vector<std::string>& seeds,
                           std::mt19937_64& random) {
  const auto below = [&](std::size_t n) { return n == 0 ? 0 : random() % n; };
  for (auto changes = 1 + below(6); changes-- > 0;) {
    const auto at = below(text.size() + 1);
    switch (below(6)) {
      case 0:
        text.insert(at, words()[below(words().size())]);
        break;
      case 1:
        text.erase(at, below(9));
        break;
      case 2:
        if (at < text.size()) text[at] = static_cast<char>(random());
        break;
      case 3:
        if (at < text.size()) text[at] ^= static_cast<char>(1 << below(8));
        break;
      case 4:
        text.insert(at, text.substr(below(text.size() + 1), below(40)));
        break;
      default: {
        const std::string& other = seeds[below(seeds.size())];
        text.insert(at, other.substr(below(other.size() + 1), below(80)));
      }
    }
  }
  return text.substr(0, 4096);
}

// The input at hand, written to a file when the target dies of it.
inline std::string current;

inline void save_current() {
  std::ofstream("fuzz_failure", std::ios::binary) << current;
  std::fprintf(stderr, "the input is in the file fuzz_failure\n");
}

}  // namespace fuzz

#ifdef __SANITIZE_ADDRESS__
extern "C" void __sanitizer_set_death_callback(void (*callback)());
#endif

int main(int n_arguments, char** arguments) {
  std::vector<std::string> seeds;
  for (int i = 2; i < n_arguments; ++i) {
    std::ifstream file(arguments[i], std::ios::binary);
    seeds.emplace_back(std::istreambuf_iterator<char>(file), std::istreambuf_iterator<char>());
  }
  if (seeds.empty()) {
    std::fprintf(stderr, "usage: %s SECONDS SEED_FILE...\n", arguments[0]);
    return 2;
  }
#ifdef __SANITIZE_ADDRESS__
  __sanitizer_set_death_callback(fuzz::save_current);
#endif
  std::signal(SIGABRT, [](int) {
    fuzz::save_current();
    std::_Exit(1);
  });
  const auto run = [](const std::string& text) {
    fuzz::current = text;
    // A copy of just this size, so that a read beyond it is noticed.
    const std::vector<std::uint8_t> bytes(text.begin(), text.end());
    LLVMFuzzerTestOneInput(bytes.data(), bytes.size());
  };
  for (const std::string& seed : seeds) run(seed);
  const auto end =
      std::chrono::steady_clock::now() + std::chrono::duration<double>(std::atof(arguments[1]));
  std::mt19937_64 random(1);
  std::vector<std::string> pool = seeds;
  long n = 0;
  for (; std::chrono::steady_clock::now() < end; ++n) {
    std::string text = fuzz::mutated(pool[random() % pool.size()], seeds, random);
    run(text);
    if (n % 16 == 0 && pool.size() < 4096) pool.push_back(std::move(text));
  }
  std::printf("%s: %ld inputs, nothing found\n", arguments[0], n);
}
#endif
