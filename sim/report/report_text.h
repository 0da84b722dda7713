#pragma once

#include <string>

#include "sim/plan/plan_words.h"
#include "sim/predict.h"
#include "trace/picture/shapes/svg.h"

/// A prediction as text for people.
namespace debubble::sim {

struct ReportOptions {
    bool color = false;    ///< ANSI colours, for a terminal
    bool explain = false;  ///< definitions of the figures at the end
};

/// A page of at most 100 columns: the plan, the headline figures, the parts of the step, a table of
/// the ranks, whether it fits, notes and, on request, definitions.
std::string report_text(const scenarios::Scenario& scenario, const PredictionWithTrace& answer,
                        const ReportOptions& options = {});

/// "5.31 s to 6.02 s, as 80 % of the 27 measured steps most like it (megatron-2026, ...)"; mentions
/// it where those were mostly longer or shorter than predicted, so that the step itself is outside.
std::string range_words(const StepRange& range, double step_time_s);

/// The words "fits", "does not fit" or "cannot be told".
std::string fits_text(const Prediction& prediction);
/// "15.9 s (15.2 s to 16.6 s), ...: the measured plan took 1.031 times its prediction; ..."
std::string anchored_words(const AnchoredFigures& anchored);

/// "70.12 to 74.90 GiB by 80 % of the 16 published peaks most like it (pytorch-compile, dense)".
std::string memory_range_words(const MemoryRange& range);

/// The headline "gpt2-xl: step 1.23 s, bubble 12.3 %, MFU 41.2 %, fits".
std::string headline(const Prediction& prediction);

/// Title, plan and memory limit of the picture of a prediction.
SvgOptions picture_of(const scenarios::Scenario& scenario, const PredictionWithTrace& answer);

}  // namespace debubble::sim
