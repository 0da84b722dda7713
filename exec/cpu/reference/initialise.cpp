#include "exec/cpu/reference/initialise.h"

#include <cmath>
#include <numbers>

namespace debubble::exec::reference {

namespace {

/// Word 2k gives the radius and word 2k + 1 the angle of normal numbers 2k and 2k + 1.
double normal(const PhiloxCounter& words, std::uint64_t index) {
    const std::size_t pair = index % 4 / 2 * 2;
    constexpr double kToUnit = 1.0 / 4294967296.0;
    const double radius = std::sqrt(-2 * std::log((words[pair] + 1.0) * kToUnit));
    const double angle = 2 * std::numbers::pi * (words[pair + 1] * kToUnit);
    return radius * (index % 2 == 0 ? std::cos(angle) : std::sin(angle));
}

}  // namespace

template <Real T>
void fill_normal(const RandomStream& stream, double deviation, std::int64_t first, Out<T> run) {
    auto index = static_cast<std::uint64_t>(first);
    PhiloxCounter words = stream.block(index / 4);
    for (T& element : run) {
        if (index % 4 == 0) words = stream.block(index / 4);
        element = static_cast<T>(deviation * normal(words, index));
        ++index;
    }
}

template void fill_normal<float>(const RandomStream&, double, std::int64_t, Out<float>);
template void fill_normal<double>(const RandomStream&, double, std::int64_t, Out<double>);

}  // namespace debubble::exec::reference
