#include "text/quantity.h"

#include <charconv>
#include <cmath>
#include <span>
#include <vector>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/diagnostic.h"

namespace debubble::text {
namespace {

struct Unit {
    std::string_view name;
    double factor;
};

constexpr double kKi = 1024;
constexpr Unit kBytes[] = {{"B", 1},
                           {"KB", 1e3},
                           {"MB", 1e6},
                           {"GB", 1e9},
                           {"TB", 1e12},
                           {"KiB", kKi},
                           {"MiB", kKi* kKi},
                           {"GiB", kKi* kKi* kKi},
                           {"TiB", kKi* kKi* kKi* kKi}};
constexpr Unit kRates[] = {{"B/s", 1},
                           {"KB/s", 1e3},
                           {"MB/s", 1e6},
                           {"GB/s", 1e9},
                           {"TB/s", 1e12},
                           {"MiB/s", kKi* kKi},
                           {"GiB/s", kKi* kKi* kKi},
                           {"Mb/s", 1e6 / 8},
                           {"Gb/s", 1e9 / 8},
                           {"Tb/s", 1e12 / 8}};
constexpr Unit kDurations[] = {{"ns", 1e-9}, {"us", 1e-6}, {"ms", 1e-3}, {"s", 1}, {"min", 60}};
constexpr Unit kFlopRates[] = {
    {"FLOP/s", 1}, {"GFLOP/s", 1e9}, {"TFLOP/s", 1e12}, {"PFLOP/s", 1e15}};

constexpr Unit kPowers[] = {{"W", 1}, {"kW", 1e3}};
constexpr Unit kSpans[] = {{"s", 1}, {"min", 60}, {"h", 3600}, {"d", 86400}};
constexpr Unit kCounts[] = {{"", 1}, {"K", 1e3}, {"M", 1e6}, {"B", 1e9}, {"T", 1e12}};

/// The units of a quantity, and how a person may write one.
struct QuantityWords {
    std::span<const Unit> units;
    std::string_view example;
};

QuantityWords words_of(Quantity quantity) {
    switch (quantity) {
        case Quantity::Bytes: return {kBytes, "80 GiB"};
        case Quantity::Rate: return {kRates, "900 GB/s"};
        case Quantity::Duration: return {kDurations, "3 us"};
        case Quantity::FlopRate: return {kFlopRates, "312 TFLOP/s"};
        case Quantity::Power: return {kPowers, "700 W"};
        case Quantity::Span: return {kSpans, "4 h"};
        case Quantity::Count: return {kCounts, "15T"};
    }
    return {};
}

std::string_view trimmed(std::string_view text) {
    while (!text.empty() && text.front() == ' ') text.remove_prefix(1);
    while (!text.empty() && text.back() == ' ') text.remove_suffix(1);
    return text;
}

std::string unit_mistake(std::string_view text, std::string_view unit, std::span<const Unit> units,
                         std::string_view example) {
    std::vector<std::string> names;
    for (const Unit& u : units)
        if (!u.name.empty()) names.emplace_back(u.name);
    if (unit.empty()) return fmt::format("'{}' has no unit; write it as '{}'", text, example);
    const bool letters = units.data() == std::data(kCounts);  // each as near as any other
    if (const auto guess = did_you_mean(unit, names); guess && !letters)
        return fmt::format("unknown unit '{}'; did you mean '{}'?", unit, *guess);
    return fmt::format("unknown unit '{}'; known: {}", unit, fmt::join(names, ", "));
}

/// The value in the base unit; not negative.
Parsed<double> parse_quantity(std::string_view text, Quantity quantity) {
    const auto [units, example] = words_of(quantity);
    text = trimmed(text);
    const std::size_t end = text.find_first_not_of("0123456789.+-eE");
    std::string_view number = text.substr(0, end);
    std::string_view unit = end == std::string_view::npos ? "" : text.substr(end);
    const auto value = parse_real(trimmed(number));
    if (!value)
        return {{}, fmt::format("'{}' is not a number with a unit such as '{}'", text, example)};
    if (*value < 0) return {{}, fmt::format("'{}' is negative", text)};
    unit = trimmed(unit);
    for (const Unit& u : units)
        if (u.name == unit) return {*value * u.factor, {}};
    return {{}, unit_mistake(text, unit, units, example)};
}

}  // namespace

std::vector<std::string> unit_names(Quantity quantity) {
    std::vector<std::string> names;
    for (const Unit& unit : words_of(quantity).units) names.emplace_back(unit.name);
    std::erase(names, std::string());
    return names;
}

std::string_view example_of(Quantity quantity) {
    return words_of(quantity).example;
}

std::optional<std::int64_t> parse_whole(std::string_view text) {
    std::int64_t value = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc{} || stop != end) return std::nullopt;
    return value;
}

std::optional<std::int64_t> parse_whole_value(std::string_view text) {
    if (const auto digits = parse_whole(text)) return digits;
    constexpr double kMostExact = 9007199254740992;  // 2^53: every whole double up to it is exact
    const std::optional<double> real = parse_real(text);
    if (!real || std::abs(*real) > kMostExact || *real != std::floor(*real)) return std::nullopt;
    return static_cast<std::int64_t>(*real);
}

std::optional<double> parse_real(std::string_view text) {
    double value = 0;
    const char* const end = text.data() + text.size();
    const auto [stop, error] = std::from_chars(text.data(), end, value);
    if (error != std::errc{} || stop != end || !std::isfinite(value)) return std::nullopt;
    return value;
}

Parsed<Bytes> parse_bytes(std::string_view text) {
    constexpr double kMost = 1e18;
    const auto parsed = parse_quantity(text, Quantity::Bytes);
    if (!parsed.value) return {{}, parsed.mistake};
    if (*parsed.value > kMost) return {{}, fmt::format("'{}' is more than 1e18 bytes", text)};
    return {Bytes{std::llround(*parsed.value)}, {}};
}

Parsed<BytesPerSecond> parse_rate(std::string_view text) {
    constexpr double kMost = 1e18;
    const auto parsed = parse_quantity(text, Quantity::Rate);
    if (!parsed.value) return {{}, parsed.mistake};
    if (*parsed.value > kMost) return {{}, fmt::format("'{}' is more than 1e18 B/s", text)};
    return {BytesPerSecond{*parsed.value}, {}};
}

Parsed<Duration> parse_duration(std::string_view text) {
    constexpr double kMost = 1e4;
    const auto parsed = parse_quantity(text, Quantity::Duration);
    if (!parsed.value) return {{}, parsed.mistake};
    if (*parsed.value > kMost) return {{}, fmt::format("'{}' is more than 10,000 seconds", text)};
    return {from_seconds(*parsed.value), {}};
}

Parsed<double> parse_flop_rate(std::string_view text) {
    constexpr double kLeast = 1e6;
    constexpr double kMost = 1e19;
    auto parsed = parse_quantity(text, Quantity::FlopRate);
    if (!parsed.value || *parsed.value == 0) return parsed;
    if (*parsed.value < kLeast)
        return {{}, fmt::format("'{}' is less than 1e6 FLOP/s; 0 FLOP/s means not known", text)};
    if (*parsed.value > kMost) return {{}, fmt::format("'{}' is more than 1e19 FLOP/s", text)};
    return parsed;
}

Parsed<double> parse_power(std::string_view text) {
    constexpr double kMost = 1e6;
    auto parsed = parse_quantity(text, Quantity::Power);
    if (parsed.value && *parsed.value > kMost)
        return {{}, fmt::format("'{}' is more than 1e6 W", text)};
    return parsed;
}

Parsed<double> parse_span(std::string_view text) {
    constexpr double kMost = 1e9;
    auto parsed = parse_quantity(text, Quantity::Span);
    if (parsed.value && *parsed.value > kMost)
        return {{}, fmt::format("'{}' is more than 1e9 seconds", text)};
    return parsed;
}

Parsed<std::int64_t> parse_count(std::string_view text) {
    constexpr double kMost = 1e18;
    const auto parsed = parse_quantity(text, Quantity::Count);
    if (!parsed.value) return {{}, parsed.mistake};
    if (*parsed.value < 1) return {{}, fmt::format("'{}' is less than 1", text)};
    if (*parsed.value > kMost) return {{}, fmt::format("'{}' is more than 1e18", text)};
    const std::int64_t whole = std::llround(*parsed.value);
    if (std::abs(*parsed.value - static_cast<double>(whole)) > 1e-6)
        return {{}, fmt::format("'{}' is not a whole number", text)};
    return {whole, {}};
}

}  // namespace debubble::text
