#pragma once

#include <optional>
#include <string>

#include "base/units.h"
#include "sim/run_plan/run_figures.h"

namespace debubble::sim {

/// What a plan's whole training takes: `training.tokens` by its step, with what `reliability`,
/// `price` and `energy` of the scenario say. docs/definitions.md defines the figures.
struct RunPlan {
    std::int64_t tokens = 0;
    std::int64_t steps = 0;
    Bytes checkpoint;    ///< of the whole model, once
    double write_s = 0;  ///< until storage has it
    double load_s = 0;   ///< until all ranks have read it
    RunFigures figures;
    bool chose_interval = false;  ///< checkpoint.every is auto
    int gpus = 1;                 ///< that are paid for, spares included
    double gpu_hours = 0;         ///< of these GPUs, in the median run
    std::optional<double> cost;
    std::string currency;
    /// Megawatt-hours of the site in the median run, and of the job's GPUs at their limit of power,
    /// as model cards count them. Unset where no power is known.
    std::optional<double> energy_mwh;
    std::optional<double> gpus_mwh;
    std::optional<double> co2_t;  ///< tonnes

    double days() const { return figures.p50_s / 86400; }
};

}  // namespace debubble::sim
