#pragma once

#include <span>
#include <string>
#include <string_view>
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

/// Maximum number of actions of a plan that is simulated again for its bill and for the other
/// schedules.
inline constexpr std::size_t kMostPlayedAgain = 60'000;
/// Says that a plan has more.
std::string too_many_actions(std::size_t actions);

// The parts of a plan's page below its timeline, as HTML; empty where they do not apply.

std::string figures_section(const Prediction& prediction);
std::string ranks_section(const Prediction& prediction, Bytes memory_limit);
std::string notes_section(const Prediction& prediction);
std::string provenance_section(const Prediction& prediction);
std::string report_section(const scenarios::Scenario& scenario, const PredictionWithTrace& answer);

/// A waterfall from the step of perfect kernels to the real one.
std::string bill_section(const std::vector<BillRow>& rows);

/// Every schedule with its small picture, which is added to `pictures`.
std::string zoo_section(const std::vector<ZooRow>& rows, std::vector<page::SmallPicture>& pictures);

std::string paragraph(std::string_view words);     ///< of text
std::string preformatted(std::string_view words);  ///< of text

}  // namespace debubble::sim
