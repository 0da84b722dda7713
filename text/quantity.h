#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"

/// Numbers with units, as people write them in YAML: '80 GiB', '900 GB/s',
/// '200 Gb/s', '3 us', '312 TFLOP/s', '700 W', '4 h', '15T'. Units are never guessed: GB is 1e9
/// bytes, GiB 2^30, Gb 1e9 bits, and a number without its unit is a mistake, but for counts.
namespace debubble::text {

/// A whole or real number and nothing else; no inf, no nan. Reals may end in .5 and
/// have an exponent; whole numbers have digits only.
std::optional<std::int64_t> parse_whole(std::string_view text);
/// Also one that is written with an exponent or decimals, as 1e9, 6.4e1 or 64.0, up to 2^53.
std::optional<std::int64_t> parse_whole_value(std::string_view text);
std::optional<double> parse_real(std::string_view text);

enum class Quantity : std::uint8_t {
    Bytes,
    Rate,
    Duration,  ///< of kernels and steps
    FlopRate,
    Power,
    Span,   ///< of time, up to years: of repairs and runs
    Count,  ///< of tokens: K, M, B (1e9) and T (1e12) are units, and none is one
};

/// The units that are known: "B", "KB", ...
std::vector<std::string> unit_names(Quantity quantity);
std::string_view example_of(Quantity quantity);  ///< "80 GiB"

/// Either the value or the sentence that says what is wrong with the text.
template <class T>
struct Parsed {
    std::optional<T> value;
    std::string mistake;
};

/// The values have bounds, far beyond any machine: 1e18 bytes, 1e18 bytes a second, 10,000 seconds.
Parsed<Bytes> parse_bytes(std::string_view text);
Parsed<BytesPerSecond> parse_rate(std::string_view text);
Parsed<Duration> parse_duration(std::string_view text);
/// FLOP per second: 0, which means not known, or from 1e6 to 1e19.
Parsed<double> parse_flop_rate(std::string_view text);
/// Watts, at most 1e6.
Parsed<double> parse_power(std::string_view text);
/// Seconds, at most 1e9, some thirty years.
Parsed<double> parse_span(std::string_view text);
/// A whole number, from 1 to 1e18.
Parsed<std::int64_t> parse_count(std::string_view text);

}  // namespace debubble::text
