#pragma once

#include <cstdint>
#include <initializer_list>
#include <limits>

namespace debubble {

/// SplitMix64 (Steele, Lea, Flood 2014, doi:10.1145/2660193.2660195), started from a mix of words:
/// a UniformRandomBitGenerator whose numbers are the same with every library, thread and machine.
/// Generators whose words differ in one share nothing, so that each drawn thing has its own.
class RandomBits {
public:
    using result_type = std::uint64_t;
    RandomBits(std::initializer_list<std::uint64_t> words) {
        for (const std::uint64_t word : words) state_ = (*this)() ^ word;
    }
    static constexpr result_type min() { return 0; }
    static constexpr result_type max() { return std::numeric_limits<result_type>::max(); }
    result_type operator()() {
        std::uint64_t z = state_ += 0x9E3779B97F4A7C15;
        z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9;
        z = (z ^ (z >> 27)) * 0x94D049BB133111EB;
        return z ^ (z >> 31);
    }
    /// The next number as a fraction: in [0, 1), in steps of 2^-53.
    double share() { return static_cast<double>((*this)() >> 11) * 0x1p-53; }

private:
    std::uint64_t state_ = 0;
};

}  // namespace debubble
