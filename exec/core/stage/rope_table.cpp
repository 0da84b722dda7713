#include "exec/core/stage/rope_table.h"

#include <cmath>

namespace debubble::exec {

template <class T>
void rope_table(double theta, View<T> cosines, View<T> sines) {
    const std::int64_t half = cosines.columns();
    for (std::int64_t position = 0; position < cosines.rows(); ++position) {
        for (std::int64_t i = 0; i < half; ++i) {
            const double exponent = static_cast<double>(i) / static_cast<double>(half);
            const double angle = static_cast<double>(position) * std::pow(theta, -exponent);
            cosines.row(position)[i] = static_cast<T>(std::cos(angle));
            sines.row(position)[i] = static_cast<T>(std::sin(angle));
        }
    }
}

template void rope_table<float>(double, View<float>, View<float>);
template void rope_table<double>(double, View<double>, View<double>);

}  // namespace debubble::exec
