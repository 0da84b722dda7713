#pragma once

#include <span>
#include <string>
#include <vector>

#include "sim/bill_rows.h"
#include "sim/predict.h"
#include "sim/zoo.h"
#include "trace/page/page.h"

/// Predictions as a page to mail (trace/page).
namespace debubble::sim {

struct PlanOnPage {
    const scenarios::Scenario* scenario = nullptr;
    const PredictionWithTrace* answer = nullptr;
    std::vector<BillRow> bill = {};  ///< where the step goes; empty: not said
    std::vector<ZooRow> zoo = {};    ///< all schedules; empty: not said
    std::string left_out = {};       ///< a sentence about what is not said, as text
};

/// One plan with its figures, or several on one clock. Precondition: there is one; all have traces.
page::Page page_of(std::span<const PlanOnPage> plans);

/// The timeline of a plan with all that is known of it.
picture::Document document_of(const PlanOnPage& plan);

/// What is said about a plan besides its prediction.
struct PlayedAgain {
    std::vector<BillRow> bill = {};
    std::vector<ZooRow> zoo = {};
    std::string left_out = {};
};

/// The page of a plan that was predicted before, such as the window's.
page::Page page_of(const Prediction& prediction, Bytes memory_limit, picture::Document document,
                   const PlayedAgain& again);

/// The most actions of a plan that is played again for its bill and for the other schedules.
inline constexpr std::size_t kMostPlayedAgain = 60'000;
/// Says that a plan has more.
std::string too_many_actions(std::size_t actions);

}  // namespace debubble::sim
