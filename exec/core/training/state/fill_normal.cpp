#include "exec/core/training/state/initial_values.h"

#include <cmath>
#include <numbers>

namespace debubble::exec {

namespace {

/// Normal numbers 2k and 2k + 1; word 2k gives the radius and word 2k + 1 the angle.
struct NormalPair {
    double radius, angle;

    NormalPair(const PhiloxCounter& words, std::uint64_t index) {
        const std::size_t pair = index % 4 / 2 * 2;
        constexpr double kToUnit = 1.0 / 4294967296.0;
        radius = std::sqrt(-2 * std::log((words[pair] + 1.0) * kToUnit));
        angle = 2 * std::numbers::pi * (words[pair + 1] * kToUnit);
    }
    double first() const { return radius * std::cos(angle); }
    double second() const { return radius * std::sin(angle); }
};

}  // namespace

template <class T>
void fill_normal(const RandomStream& stream, double deviation, std::int64_t first, View<T> run) {
    const auto begin = static_cast<std::uint64_t>(first);
    const std::uint64_t end = begin + static_cast<std::uint64_t>(run.size());
    PhiloxCounter words = stream.block(begin / 4);
    for (std::uint64_t index = begin / 2 * 2; index < end; index += 2) {
        if (index % 4 == 0) words = stream.block(index / 4);
        const NormalPair pair(words, index);
        if (index >= begin) run.data[index - begin] = static_cast<T>(deviation * pair.first());
        if (index + 1 < end)
            run.data[index + 1 - begin] = static_cast<T>(deviation * pair.second());
    }
}

template void fill_normal<float>(const RandomStream&, double, std::int64_t, View<float>);
template void fill_normal<double>(const RandomStream&, double, std::int64_t, View<double>);

}  // namespace debubble::exec
