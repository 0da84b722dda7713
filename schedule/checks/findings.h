#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "schedule/violation.h"

namespace debubble {

/// The violations found so far. Above a thousand they are only counted.
class Findings {
public:
    void add(Violation::Kind kind, Rank rank, std::size_t position, std::string message) {
        if (violations_.size() < kMost)
            violations_.push_back({kind, rank, position, std::move(message)});
        else
            ++left_out_;
    }
    bool empty() const { return violations_.empty(); }
    std::vector<Violation> take() &&;

private:
    static constexpr std::size_t kMost = 1000;
    std::vector<Violation> violations_;
    std::size_t left_out_ = 0;
};

}  // namespace debubble
