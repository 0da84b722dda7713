#include "text/fields.h"

#include <cmath>

#include <fmt/format.h>

namespace debubble::text {

std::string shown(std::int64_t value) {
    return fmt::format("{}", value);
}

std::string shown(double value) {
    return fmt::format("{:.12g}", value);
}

std::string shown(bool value) {
    return value ? "true" : "false";
}

std::string shown(const std::string& value) {
    return value;
}

std::string shown(Bytes value) {
    struct Unit {
        std::string_view name;
        std::int64_t size;
    };
    constexpr Unit kUnits[] = {{"GiB", 1 << 30},  {"GB", 1'000'000'000}, {"MiB", 1 << 20},
                               {"MB", 1'000'000}, {"KiB", 1 << 10},      {"KB", 1000}};
    for (const Unit& unit : kUnits)
        if (value.count != 0 && value.count % unit.size == 0)
            return fmt::format("{} {}", value.count / unit.size, unit.name);
    return fmt::format("{} B", value.count);
}

std::string shown(BytesPerSecond value) {
    return fmt::format("{:.6g} GB/s", value.value / 1e9);
}

std::string shown(Duration value) {
    return fmt::format("{:.6g} us", seconds(value) * 1e6);
}

std::string shown_flop_rate(double value) {
    return value == 0 ? "0 FLOP/s" : fmt::format("{:.6g} TFLOP/s", value / 1e12);
}

std::string shown_power(double watts) {
    return fmt::format("{:.6g} W", watts);
}

std::string shown_span(double seconds) {
    struct Unit {
        std::string_view name;
        double seconds;
    };
    constexpr Unit kUnits[] = {{"d", 86400}, {"h", 3600}, {"min", 60}};
    for (const Unit& unit : kUnits)
        if (seconds >= unit.seconds && std::fmod(seconds, unit.seconds) == 0)
            return fmt::format("{:.6g} {}", seconds / unit.seconds, unit.name);
    return fmt::format("{:.6g} s", seconds);
}

Key base_key(std::string folder, std::string example) {
    return {"base",
            {Form{ShippedForm{std::move(folder)}}},
            "Shipped file or path whose values apply where this map gives no other.",
            std::move(example),
            "none: the map gives every value itself"};
}

}  // namespace debubble::text
