#pragma once

#include <nlohmann/json_fwd.hpp>
#include <string>
#include <vector>

#include "scenarios/plan/scenario.h"
#include "sim/explain/bill.h"
#include "sim/plan/plan_words.h"
#include "sim/plan/prediction.h"
#include "sim/predict.h"
#include "sim/run_plan/run_plan.h"
#include "trace/picture/shapes/svg.h"

/// A prediction as text for people and as JSON, and the parts of which both are made.
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

/// The JSON of `simulate --json` for one scenario: times in seconds, memory in bytes, null where a
/// figure is unknown. The keys are a contract (docs/definitions.md defines them); keys are added,
/// never renamed.
nlohmann::ordered_json report_json(const PredictionWithTrace& answer);

struct TableLine {
    std::string words;
    bool bad = false;  ///< marks a rank that exceeds the memory of its device
};

/// The groups of ranks within a node and across nodes, as "in a node: tensor 8; across nodes: data
/// 4 over 4 nodes"; empty where none crosses.
std::string groups_across_nodes(const scenarios::Scenario& scenario);

/// A heading, and a line for each kind of communication that occurs: its exposed and hidden time,
/// its bytes and their rate, means over the ranks. Empty where nothing is sent.
std::vector<TableLine> communication_table(const Prediction& prediction);

/// A heading, and a line for each rank. Neighbours that differ only in the size of their peak are
/// folded into one. Empty without ranks.
std::vector<TableLine> rank_table(const Prediction& prediction, Bytes memory_limit);

/// A heading, and a line for each part: its time, its share, a bar that starts where the previous
/// part ends, and the step if the part were free.
std::vector<TableLine> bill_table(const Bill& bill);

nlohmann::ordered_json bill_json(const Bill& bill);

/// Lines of figures: a name, and text that may be long.
struct RunLine {
    std::string name;
    std::string words;
};
std::vector<RunLine> run_lines(const RunPlan& run);

/// A heading, and a line for each cause on which the mean run spends time, with its share as a bar.
std::vector<TableLine> run_table(const RunPlan& run);

nlohmann::ordered_json run_json(const RunPlan& run);

/// "54.2 d", "7.3 h", "12 min"
std::string span_words(double seconds);

/// A list of {framework, sentence, place}, one for each rule of the framework that the plan breaks.
nlohmann::ordered_json framework_checks_json(const scenarios::Scenario& scenario);

/// The same as lines below a report; one sentence where no rule is broken.
std::string framework_checks_text(const scenarios::Scenario& scenario);

}  // namespace debubble::sim
