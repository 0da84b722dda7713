#pragma once

#include <optional>
#include <stop_token>
#include <string>
#include <vector>

#include "scenarios/plan/scenario.h"
#include "sim/explain/bill.h"
#include "trace/picture/colours.h"

/// The bill of a plan as rows of a waterfall.
namespace debubble::sim {

struct BillRow {
    BillPart part;     ///< without a key for the step itself
    double share = 0;  ///< of the step, as all below
    double from = 0;   ///< where its bar begins and ends
    double to = 0;
    std::optional<double> shorter;  ///< how much shorter the step is if the part is free
    Rgb light;                      ///< colour of its bar
    Rgb dark;
    bool whole = false;  ///< the last row: the step itself
    /// Whether the step is shorter at all, as figures are written.
    bool is_shorter() const { return shorter.value_or(0) >= 0.0005; }
};

/// The parts in their order, and the step.
std::vector<BillRow> bill_rows(const Bill& bill);

/// Plays the plan some ten times. Pure and thread-safe. Throws Cancelled soon after the answer is
/// no longer wanted, and what predict() throws.
Bill bill_of_plan(const scenarios::Scenario& scenario, const std::stop_token& stop = {});

}  // namespace debubble::sim
