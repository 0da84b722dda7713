#pragma once

#include <stop_token>
#include <string>
#include <vector>

#include "gui/viewmodel/source.h"
#include "scenarios/read/sweep.h"
#include "sim/explain/bill.h"
#include "sim/plan/prediction.h"

/// Changes that make parts of the bill smaller.
namespace debubble::gui {

/// The change of one key that shortens the step most, of the changes that affect a part.
struct Knob {
    std::string part;  ///< BillPart::key
    scenarios::Override change;
    std::string words;  ///< "schedule zb-h1: step -3.2 %, fits"
    double step_time_s = 0;
};

/// The knobs of the parts, in the parts' order, without the parts for which no known change
/// shortens the step and fits. Every change is predicted. Pure and thread-safe; throws Cancelled.
std::vector<Knob> knobs_of(const ScenarioText& source, const sim::Bill& bill,
                           const sim::Prediction& now, const std::stop_token& stop = {});

}  // namespace debubble::gui
