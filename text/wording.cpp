#include "text/wording.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <utility>

#include <fmt/format.h>

namespace debubble::text {
namespace {

struct UnitRow {
    double per_second;
    std::string_view name;
};
constexpr ArrayBy<TimeUnit, UnitRow, 3> kUnits{UnitRow{1e6, "us"}, UnitRow{1e3, "ms"},
                                               UnitRow{1, "s"}};

/// A unit of time, and its length in nanoseconds.
struct TimeUnitRow {
    double ns;
    std::string_view name;
};
constexpr std::array kTimeUnits{TimeUnitRow{1, "ns"}, TimeUnitRow{1e3, "\u00b5s"},
                                TimeUnitRow{1e6, "ms"}, TimeUnitRow{1e9, "s"}};

const TimeUnitRow& time_unit_of(Duration time) {
    const double ns = std::abs(static_cast<double>(time.count()));
    return kTimeUnits[ns < 1e3 ? 0 : ns < 1e6 ? 1 : ns < 1e9 ? 2 : 3];
}

std::string with_thousands(std::int64_t n) {
    const std::string digits = fmt::format("{}", n);
    std::string out;
    for (std::size_t i = 0; i < digits.size(); ++i) {
        const std::size_t left = digits.size() - i;
        if (left % 3 == 0 && i > 0 && digits[i - 1] != '-') out += ',';
        out += digits[i];
    }
    return out;
}

/// Start of the letter that byte `at` belongs to, so that UTF-8 stays whole.
std::size_t letter_start(std::string_view text, std::size_t at) {
    while (at > 0 && (static_cast<unsigned char>(text[at]) & 0xc0U) == 0x80) --at;
    return at;
}

}  // namespace

TimeUnit unit_of(double longest_s) {
    if (longest_s >= 1) return TimeUnit::Seconds;
    return longest_s >= 1e-3 ? TimeUnit::Milliseconds : TimeUnit::Microseconds;
}

std::string_view name_of(TimeUnit unit) {
    return kUnits[unit].name;
}

std::string number_text(double s, TimeUnit unit) {
    return fmt::format("{:.3f}", s * kUnits[unit].per_second);
}

std::string time_text(double s, TimeUnit unit) {
    return fmt::format("{} {}", number_text(s, unit), name_of(unit));
}

std::string time_text(double s) {
    return time_text(s, unit_of(s));
}

std::string time_text(Duration time) {
    const auto& [ns, name] = time_unit_of(time);
    if (ns == 1) return fmt::format("{} ns", time.count());
    return fmt::format("{:.4g} {}", static_cast<double>(time.count()) / ns, name);
}

TickFormat::TickFormat(Duration greatest, Duration apart)
    : unit_ns_(time_unit_of(greatest).ns), name_(time_unit_of(greatest).name) {
    const double parts = unit_ns_ / static_cast<double>(apart.count());
    decimals_ = parts > 1 ? static_cast<int>(std::ceil(std::log10(parts) - 1e-9)) : 0;
}

std::string TickFormat::text(Duration tick) const {
    return fmt::format("{:.{}f} {}", static_cast<double>(tick.count()) / unit_ns_, decimals_,
                       name_);
}

std::string percent(double fraction) {
    return fmt::format("{:.1f} %", 100 * fraction);
}

std::string gib_text(Bytes bytes) {
    return fmt::format("{:.2f}", gib(bytes));
}

std::string size_text(Bytes bytes) {
    const double mib = static_cast<double>(bytes.count) / (1024.0 * 1024.0);
    return mib >= 1024 ? gib_text(bytes) + " GiB" : fmt::format("{:.4g} MiB", mib);
}

std::string count_text(std::int64_t number) {
    const auto n = static_cast<double>(number);
    if (n >= 1e12) return fmt::format("{:.2f} T", n / 1e12);
    if (n >= 1e9) return fmt::format("{:.2f} B", n / 1e9);
    if (n >= 1e6) return fmt::format("{:.1f} M", n / 1e6);
    return with_thousands(number);
}

std::string rate_text(double per_s) {
    if (!(std::abs(per_s) < 1e15)) return fmt::format("{:.4g}", per_s);
    if (std::abs(per_s) >= 1000) return with_thousands(std::llround(per_s));
    return fmt::format("{:.4g}", per_s);
}

std::string flop_rate_text(double flops_per_s) {
    constexpr std::pair<double, std::string_view> kRates[] = {
        {1e12, "TFLOP/s"}, {1e9, "GFLOP/s"}, {1e6, "MFLOP/s"}};
    for (const auto& [size, name] : kRates)
        if (flops_per_s >= size) return fmt::format("{:.1f} {}", flops_per_s / size, name);
    return fmt::format("{:.4g} FLOP/s", flops_per_s);
}

std::string stages_text(const std::vector<Stage>& stages) {
    std::string text;
    for (std::size_t first = 0, last = 0; first < stages.size(); first = last + 1) {
        last = first;
        while (last + 1 < stages.size() && stages[last + 1].index == stages[last].index + 1) ++last;
        if (!text.empty()) text += ',';
        text += std::to_string(stages[first].index);
        if (last > first) text += fmt::format("-{}", stages[last].index);
    }
    return text;
}

std::string shortened(std::string_view text, std::size_t columns) {
    if (text.size() <= columns) return std::string(text);
    return std::string(text.substr(0, letter_start(text, columns - 3))) + "...";
}

std::vector<std::string> wrapped(std::string_view text, std::size_t columns, std::size_t indent) {
    std::vector<std::string> lines;
    std::string begin;
    while (begin.size() + text.size() > columns) {
        std::size_t cut = text.rfind(' ', columns - begin.size());
        const bool at_space = cut != std::string_view::npos && text.find_first_not_of(' ') < cut;
        if (!at_space) cut = letter_start(text, columns - begin.size());
        lines.push_back(begin + std::string(text.substr(0, cut)));
        text.remove_prefix(cut + (at_space ? 1 : 0));
        begin = std::string(indent, ' ');
    }
    lines.push_back(begin + std::string(text));
    return lines;
}

}  // namespace debubble::text
