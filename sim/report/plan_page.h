#pragma once

#include <span>
#include <string>
#include <vector>

#include "sim/bill_rows.h"
#include "sim/predict.h"
#include "sim/zoo.h"
#include "trace/page/page.h"

/// Predictions as a self-contained page (trace/page).
namespace debubble::sim {

struct PlanOnPage {
    const scenarios::Scenario* scenario = nullptr;
    const PredictionWithTrace* answer = nullptr;
    std::vector<BillRow> bill = {};  ///< parts of the step; empty: left out
    std::vector<ZooRow> zoo = {};    ///< all schedules; empty: left out
    std::string left_out = {};       ///< a sentence about left-out parts, as text
};

/// One plan with its figures, or several on one time axis. Precondition: there is one; all have
/// traces.
page::Page page_of(std::span<const PlanOnPage> plans);

/// The page of an existing prediction, such as the window's.
page::Page page_of(const Prediction& prediction, Bytes memory_limit, picture::Document document,
                   const std::vector<BillRow>& bill);

/// Maximum number of actions of a plan that is simulated again for its bill and for the other
/// schedules.
inline constexpr std::size_t kMostPlayedAgain = 60'000;

}  // namespace debubble::sim
