#pragma once

#include <algorithm>
#include <cmath>
#include <cstring>
#include <functional>
#include <random>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "exec/core/tensor.h"

/// Helpers with tensors for tests of operators.
namespace debubble::exec {

/// Uniform in [-1, 1).
template <class T>
Tensor random_tensor(const Shape& shape, unsigned seed) {
    Tensor tensor(shape, data_type_of<T>);
    std::mt19937 random(seed);
    std::uniform_real_distribution<double> uniform(-1, 1);
    for (T& element : tensor.as<T>()) element = static_cast<T>(uniform(random));
    return tensor;
}

inline Tensor integers(std::initializer_list<std::int32_t> values) {
    Tensor tensor({static_cast<std::int64_t>(values.size())}, DataType::Int32);
    std::ranges::copy(values, tensor.as<std::int32_t>().begin());
    return tensor;
}

template <class T>
double largest_magnitude(View<const T> x) {
    double largest = 0;
    for (const T element : x) largest = std::max(largest, std::abs(static_cast<double>(element)));
    return largest;
}

/// The largest difference, over the largest magnitude of b or `scale` if that is larger.
template <class T>
double relative_difference(View<const T> a, View<const T> b, double scale = 1e-30) {
    if (a.size() != b.size()) return std::numeric_limits<double>::infinity();
    double largest = 0;
    for (std::int64_t i = 0; i < a.size(); ++i) {
        const double difference = std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
        if (!(difference <= largest)) largest = difference;  // a NaN stays
    }
    return largest / std::max(scale, largest_magnitude(b));
}

inline double relative_difference(const Tensor& a, const Tensor& b, double scale = 1e-30) {
    return relative_difference<float>(a.as<float>(), b.as<float>(), scale);
}

/// Records an error in the XML of --gtest_output, so that its distance from the bound can be seen.
inline void record_error(const std::string& name, double error) {
    std::ostringstream text;
    text << error;
    testing::Test::RecordProperty(name, text.str());
}

inline testing::AssertionResult same_bits(const Tensor& a, const Tensor& b) {
    if (a.bytes() != b.bytes()) {
        return testing::AssertionFailure() << a.shape().text() << " and " << b.shape().text();
    }
    const std::byte* first = a.view().data;
    const std::byte* second = b.view().data;
    for (std::int64_t i = 0; i < a.bytes(); ++i) {
        if (first[i] != second[i]) {
            return testing::AssertionFailure()
                   << "element " << i / size_of(a.type()) << " of " << a.shape().text();
        }
    }
    return testing::AssertionSuccess();
}

inline double dot(View<const double> a, View<const double> b) {
    double sum = 0;
    for (std::int64_t i = 0; i < a.size(); ++i) sum += a[i] * b[i];
    return sum;
}

/// Compares dx with central differences of loss() in every element of x. In double the
/// difference quotient of a smooth function of order one is good to about 1e-9.
inline void expect_gradient(const Tensor& x, const Tensor& dx, const std::function<double()>& loss,
                            const std::string& name) {
    constexpr double kStep = 1e-5;
    Tensor numeric(x.shape(), DataType::Fp64);
    const View<double> values = x.as<double>();
    for (std::int64_t i = 0; i < values.size(); ++i) {
        const double value = values[i];
        values[i] = value + kStep;
        const double above = loss();
        values[i] = value - kStep;
        const double below = loss();
        values[i] = value;
        numeric.as<double>()[i] = (above - below) / (2 * kStep);
    }
    EXPECT_LT(relative_difference<double>(dx.as<double>(), numeric.as<double>(), 1e-3), 1e-7)
        << name;
    EXPECT_GT(largest_magnitude<double>(dx.as<double>()), 0) << name << " has no gradient to test";
}

}  // namespace debubble::exec
