// std::from_chars for decimal numbers, which some standard libraries do not have yet.
#pragma once

#include <charconv>
#include <version>

#if !defined(__cpp_lib_to_chars) || defined(RANKSVM_PORTABLE)
#include <locale.h>

#include <algorithm>
#include <cmath>
#include <cstdlib>
#include <string>
#if defined(__APPLE__) || defined(__FreeBSD__)
#include <xlocale.h>
#endif
#endif

namespace ranksvm::svmlight {

#if defined(__cpp_lib_to_chars) && !defined(RANKSVM_PORTABLE)

inline std::from_chars_result read_decimal(const char* begin, const char* end, double& value) {
  return std::from_chars(begin, end, value);
}

#else

// Where the decimal number ends that begins here; `begin` if there is none.
inline const char* decimal_end(const char* begin, const char* end) {
  const auto after_digits = [&](const char* p) {
    return std::find_if(p, end, [](char c) { return c < '0' || '9' < c; });
  };
  const char* whole = begin != end && *begin == '-' ? begin + 1 : begin;
  const char* p = after_digits(whole);
  auto n_digits = p - whole;
  if (p != end && *p == '.') {
    const char* fraction = p + 1;
    p = after_digits(fraction);
    n_digits += p - fraction;
  }
  if (n_digits == 0) return begin;
  if (p == end || (*p != 'e' && *p != 'E')) return p;
  const char* exponent = p + 1;
  if (exponent != end && (*exponent == '-' || *exponent == '+')) ++exponent;
  const char* stop = after_digits(exponent);
  return stop == exponent ? p : stop;
}

// The number that a text is, with a point whatever the user's language has.
inline double number_of(const char* text) {
#if defined(_WIN32)
  static const _locale_t c_locale = _create_locale(LC_ALL, "C");
  return _strtod_l(text, nullptr, c_locale);
#else
  static const locale_t c_locale = newlocale(LC_ALL_MASK, "C", nullptr);
  return strtod_l(text, nullptr, c_locale);
#endif
}

inline std::from_chars_result read_decimal(const char* begin, const char* end, double& value) {
  const char* stop = decimal_end(begin, end);
  if (stop == begin) return {begin, std::errc::invalid_argument};
  const std::string text(begin, stop);
  const double found = number_of(text.c_str());
  const auto mantissa = text.substr(0, text.find_first_of("eE"));
  const bool vanished = found == 0 && mantissa.find_first_of("123456789") != text.npos;
  if (vanished || std::isinf(found)) return {stop, std::errc::result_out_of_range};
  value = found;
  return {stop, std::errc{}};
}

#endif

}  // namespace ranksvm::svmlight
