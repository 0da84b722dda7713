#pragma once

#include <memory>
#include <optional>
#include <stop_token>

#include "scenarios/plan/plan.h"
#include "scenarios/plan/scenario.h"
#include "sim/explain/bill.h"
#include "sim/plan/prediction.h"
#include "trace/picture/document/link_table.h"
#include "trace/picture/document/operators.h"
#include "trace/statistics.h"
#include "trace/trace.h"

/// The prediction of a scenario.
namespace debubble::sim {

struct StepToAllocate;

struct PredictOptions {
    bool keep_trace = true;      ///< if false, only the figures
    bool draw_loads = true;      ///< if false, loads are even whatever the scenario says
    bool hash_program = true;    ///< if false, Prediction::schedule_hash stays empty
    bool explain = true;         ///< if false, no notes, range and provenance
    bool play_allocator = true;  ///< predicts reserved memory too; slower
    /// Skips the allocator where the requested memory is too much already, and where the device has
    /// so much more that no allocator was seen to exceed it (most_reserved()).
    bool only_where_it_decides = false;
    /// Without keep_trace: PredictionWithTrace::trace has the spans, and nothing else.
    bool keep_spans = false;
    /// Without play_allocator: PredictionWithTrace::to_allocate is set, for play_allocators()
    /// (sim/allocators_later.h).
    bool allocators_later = false;
    bool plan_run = true;       ///< Prediction::run, where the scenario has training.tokens
    bool bill = false;          ///< PredictionWithTrace::bill, by some ten plays of the plan
    std::stop_token stop = {};  ///< once the answer is not wanted any more, predict throws
                                ///< Cancelled soon
    const scenarios::Plan* plan = nullptr;  ///< if set, played instead of priced_plan()
    ChoicesDone choosing = {};              ///< told how far training.recompute: auto is
};

struct PredictionWithTrace {
    Prediction prediction;
    Trace trace;
    Statistics statistics;
    Bytes memory_limit;  ///< memory of one device
    /// The scenario that was played: with what training.recompute: auto and parallel.partition:
    /// balanced chose.
    scenarios::Scenario played;
    /// The operators of the passes, where a trace was kept.
    std::shared_ptr<const picture::OperatorTable> operators = {};
    std::shared_ptr<const picture::LinkTable> links = {};  ///< of the spans, where a trace was kept
    std::optional<Bill> bill = {};                         ///< if PredictOptions asks for it
    std::shared_ptr<const StepToAllocate> to_allocate = {};
};

/// The plan that predict() plays. A generator that uses costs gets those of the scenario. Pure and
/// thread-safe. Throws InputError for an impossible plan, InvalidSchedule for a bad file.
/// Precondition: training.recompute is not auto.
scenarios::Plan priced_plan(const scenarios::Scenario& scenario);

/// The scenario with what training.recompute: auto and parallel.partition: balanced choose; any
/// other one as it is.
scenarios::Scenario with_choices_made(scenarios::Scenario scenario,
                                      const ChoicesDone& choosing = {});

/// Builds the stages, generates and lowers the schedule, prices it, plays it and sums up. Pure and
/// thread-safe. Throws InputError for an impossible plan.
PredictionWithTrace predict(const scenarios::Scenario& scenario,
                            const PredictOptions& options = {});

/// The bytes of the optimizer's moments that a rank holds at its peak and has not made yet at that
/// moment of the first step. None where the peak is the optimizer's own.
Bytes moments_made_later(const RankPrediction& rank, const scenarios::Scenario& scenario);

}  // namespace debubble::sim
