// A sentence for the end of a process that reads a mapped file which has been cut off.
#pragma once

#include <csignal>
#include <string>

#if defined(SIGBUS) && __has_include(<unistd.h>)
#include <unistd.h>

namespace ranksvm {

inline std::string bus_error_message;

extern "C" inline void say_bus_error(int) {
  // All that a handler may do; who cannot write cannot be told.
  [[maybe_unused]] const auto n =
      write(STDERR_FILENO, bus_error_message.data(), bus_error_message.size());
  _exit(2);
}

inline void end_bus_errors_with(const std::string& message) {
  bus_error_message = message;
  std::signal(SIGBUS, say_bus_error);
}

}  // namespace ranksvm

#else

namespace ranksvm {

inline void end_bus_errors_with(const std::string&) {}

}  // namespace ranksvm

#endif
