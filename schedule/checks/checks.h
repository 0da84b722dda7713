#pragma once

#include <cstddef>
#include <string>
#include <utility>
#include <vector>

#include "schedule/schedule.h"
#include "schedule/violation.h"

/// The parts of validate() that check the lists without executing them.
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

/// Each compute exactly once, on a rank that holds its stage, after what it needs from that rank
/// itself; recomputes, offloads and reloads in between.
void check_computes(const Schedule& schedule, Findings& findings);

/// Each result that another rank needs is sent and received once, after the compute that makes it
/// and before the compute that needs it. Precondition: check_computes() has found nothing.
void check_messages(const Program& program, Findings& findings);

/// Unshard and Reshard alternate around the computes; every gradient is reduced before the
/// optimizer step, and all ranks take part in the collectives of all ranks.
void check_collectives(const Schedule& schedule, Findings& findings);

}  // namespace debubble
