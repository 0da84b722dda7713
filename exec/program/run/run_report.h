#pragma once

#include <chrono>
#include <cstdint>
#include <cstdio>
#include <fstream>
#include <nlohmann/json.hpp>
#include <optional>
#include <string>

#include "exec/program/run/training_loop.h"
#include "scenarios/plan/scenario.h"

/// The output of a run, for people and programs: while it runs, and at its end.
namespace debubble::exec {

/// The work of a step of a run, and the number of steps.
struct RunLength {
    std::int64_t first_step = 0;
    std::int64_t last_step = 0;
    double tokens_per_step = 0;
    std::optional<double> step_s_at_peak = {};  ///< unset: no MFU is shown
};

/// A line such as "step 12/100  loss 3.4567  grad norm 1.23  lr 0.0003  12300 tokens/s  MFU 34.5 %
/// 2 min 03 s left".
std::string progress_line(const StepMetrics& metrics, const RunLength& length, double elapsed_s);
/// A line such as "evaluation after step 12: loss 3.4567, 34.5 % right, over 4096 targets in 1.2
/// s".
std::string progress_line(const Evaluation& evaluation);
/// Lines of JSON. The first line of a file says what the others are and of which plan.
std::string metrics_header(const scenarios::Scenario& scenario, const RunLength& length);
std::string metrics_line(const StepMetrics& metrics, const RunLength& length);
std::string metrics_line(const Evaluation& evaluation);

/// Shows steps as they come, in one line that is rewritten on a terminal or a line each elsewhere,
/// and evaluations, a line each; and writes both to a file, a JSON line each. One thread uses it.
class Progress {
public:
    /// `rewrites`: steps share one line if `out` is a terminal. `metrics`: the file, or empty; a
    /// resumed run appends to it. `header`: the line that goes there first. Throws WorldError.
    Progress(const RunLength& length, std::FILE* out, bool rewrites, const std::string& metrics,
             const std::string& header);
    ~Progress();
    Progress(const Progress&) = delete;
    Progress& operator=(const Progress&) = delete;

    void show(const StepMetrics& metrics);
    void show(const Evaluation& evaluation);

private:
    void keep(const std::string& metrics);

    RunLength length_;
    std::FILE* out_;
    bool on_terminal_;
    bool line_is_open_ = false;
    std::string path_;
    std::ofstream metrics_;
    std::chrono::steady_clock::time_point begin_ = std::chrono::steady_clock::now();
};

/// The keys of `simulate --json`, measured, and `losses`: one number per step of this run, before
/// that step's update. Precondition: at least one step was run, and this is global rank 0.
nlohmann::ordered_json run_report(const RunJob& job, const RunOutcome& outcome);

/// The report in some lines for a person.
std::string run_summary(const RunJob& job, const RunOutcome& outcome);

}  // namespace debubble::exec
