#pragma once

#include <cstdint>
#include <span>
#include <stdexcept>
#include <string>
#include <vector>

#include "exec/core/communicator/communicator.h"
#include "exec/core/half.h"

namespace debubble::exec {

using namespace std::chrono_literals;

/// Long enough for any machine; reached only by what hangs.
inline Deadline soon() {
    return within(60s);
}
/// For waits that are to fail.
inline Deadline shortly() {
    return within(50ms);
}

inline void check(bool kept, const std::string& promise) {
    if (!kept) throw std::runtime_error("broken promise: " + promise);
}
inline void check_has(const std::string& text, const std::string& part) {
    check(text.find(part) != std::string::npos, "'" + text + "' holds '" + part + "'");
}

/// The sentence of the WorldError that `action` must throw.
template <class Action>
std::string failure_of(const Action& action) {
    try {
        action();
    } catch (const WorldError& error) {
        return error.what();
    }
    throw std::runtime_error("broken promise: the wait fails");
}

/// Values as elements of any type, and back; small integers and their sums are exact in all.
inline std::vector<std::byte> encode(std::span<const double> values, DataType type) {
    std::vector<std::byte> bytes;
    const auto put = [&](const auto& element) {
        const auto view = std::as_bytes(std::span(&element, 1));
        bytes.insert(bytes.end(), view.begin(), view.end());
    };
    for (const double value : values) {
        switch (type) {
            case DataType::Fp64: put(value); break;
            case DataType::Fp32: put(static_cast<float>(value)); break;
            case DataType::Fp16: put(to_float16(static_cast<float>(value))); break;
            case DataType::Bf16: put(to_bfloat16(static_cast<float>(value))); break;
            case DataType::Int32: put(static_cast<std::int32_t>(value)); break;
        }
    }
    return bytes;
}

inline Buffer as_buffer(std::vector<std::byte>& bytes, DataType type) {
    return {bytes, type};
}

/// values[i] = f(i)
template <class F>
std::vector<double> table(std::size_t count, const F& f) {
    std::vector<double> values(count);
    for (std::size_t i = 0; i < count; ++i) values[i] = f(static_cast<int>(i));
    return values;
}

inline constexpr DataType kAllTypes[] = {DataType::Fp64, DataType::Fp32, DataType::Fp16,
                                         DataType::Bf16, DataType::Int32};

}  // namespace debubble::exec
