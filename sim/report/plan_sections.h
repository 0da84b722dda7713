#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "sim/bill_rows.h"
#include "sim/predict.h"
#include "sim/zoo.h"
#include "trace/page/page.h"

/// The parts of a plan's page below its timeline, as HTML; empty where they do not apply.
namespace debubble::sim {

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
