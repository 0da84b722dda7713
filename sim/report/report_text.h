#pragma once

#include <string>

#include "sim/predict.h"
#include "trace/picture/svg.h"

/// A prediction as a person reads it.
namespace debubble::sim {

struct ReportOptions {
    bool color = false;  ///< ANSI colours, for a terminal
};

/// A page of at most 100 columns: what was asked, the headline figures, where
/// the step goes, a table of the ranks, whether it fits, notes and definitions.
std::string report_text(const scenarios::Scenario& scenario, const PredictionWithTrace& answer,
                        const ReportOptions& options = {});

/// "fits", "fits, but tight" or "does not fit".
std::string fits_text(const Prediction& prediction);

/// "gpt2-xl: step 1.23 s, bubble 12.3 %, MFU 41.2 %, fits".
std::string headline(const Prediction& prediction);

/// Title, plan and memory limit of the picture of a prediction.
SvgOptions picture_of(const scenarios::Scenario& scenario, const PredictionWithTrace& answer);

/// "tensor 8, pipeline 8, data 2; 1f1b; 64 microbatches of 1 x 2048 tokens".
std::string plan_of(const scenarios::Scenario& scenario);

}  // namespace debubble::sim
