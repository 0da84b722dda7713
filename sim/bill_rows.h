#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "scenarios/plan/scenario.h"
#include "sim/explain/bill.h"
#include "trace/picture/colours.h"

/// The bill of a plan as rows of a waterfall.
namespace debubble::sim {

struct BillRow {
    std::string key;    ///< BillPart::key; empty for the step itself
    std::string name;   ///< "exposed: expert parallel"
    std::string takes;  ///< "12.3 ms, 4.5 %"
    double from = 0;    ///< where its bar begins and ends, as shares of the step
    double to = 0;
    std::string if_free;  ///< "1.234 s, 5.6 % shorter"; empty where no such step can be played
    std::string freed;    ///< what was played for it, in words
    Rgb light;            ///< colour of its bar
    Rgb dark;
    bool whole = false;  ///< the last row: the step itself
};

/// The parts in their order, and the step.
std::vector<BillRow> bill_rows(const Bill& bill);

/// Plays the plan some ten times. Pure and thread-safe. Throws Cancelled soon after the answer is
/// no longer wanted, and what predict() throws.
Bill bill_of_plan(const scenarios::Scenario& scenario, const std::stop_token& stop = {});

}  // namespace debubble::sim
