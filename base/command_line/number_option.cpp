#include "base/command_line/arguments.h"

#include <charconv>

#include <fmt/format.h>

#include "base/diagnostic.h"

namespace debubble {

std::function<std::string(const std::string&)> real_number(double least, double most) {
    return [least, most](const std::string& text) -> std::string {
        double value = 0;
        const char* const end = text.data() + text.size();
        const auto [stop, error] = std::from_chars(text.data(), end, value);
        if (error == std::errc{} && stop == end && value >= least && value <= most) return {};
        return fmt::format("'{}' is not a number from {} to {}", printable(text), least, most);
    };
}

}  // namespace debubble
