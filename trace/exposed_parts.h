#pragma once

#include <cstddef>
#include <cstdint>
#include <unordered_map>
#include <vector>

#include "base/purposes.h"

namespace debubble {

/// Exposed times divided by purpose, each kept once: a trace has millions of spans, and the passes
/// of a plan few different times. They are numbered from 1 in the order in which they are added, so
/// that equal traces have equal numbers.
class ExposedParts {
public:
    /// The number of these parts; 0 if all of them are 0.
    std::uint32_t number(const DurationByKind& parts);

    /// The parts of a number; all are 0 for number 0.
    DurationByKind of(std::uint32_t number) const {
        return number == 0 ? DurationByKind{} : parts_[number - 1];
    }
    std::size_t size() const { return parts_.size(); }

    friend bool operator==(const ExposedParts& a, const ExposedParts& b) {
        return a.parts_ == b.parts_;
    }

private:
    struct Hash {
        std::size_t operator()(const DurationByKind& parts) const;
    };
    std::vector<DurationByKind> parts_;  ///< number 1 first
    std::unordered_map<DurationByKind, std::uint32_t, Hash> numbers_;
};

}  // namespace debubble
