#pragma once

#include <chrono>
#include <cstddef>
#include <optional>
#include <vector>

#include "exec/core/stage/operators/pairs.h"
#include "exec/core/stage/passes/stage_parts.h"
#include "schedule/action.h"

namespace debubble::exec {

/// A pass to be run.
struct PassAsked {
    Pass meant{};
    MicroBatch micro_batch;
    const std::vector<models::OperatorRun>& runs;
    std::optional<int> kept;  ///< tensor that is returned where the plan would free it
    bool again = false;
    /// Whether the parameters are opened and closed layer by layer: not for a forward beside
    /// another pass, which finds all of them there.
    bool opens = true;
};

/// A pass, operator by operator.
class PassRun {
public:
    /// Keeps references to its arguments' slice and runs.
    PassRun(StageParts& parts, const PassAsked& asked);

    bool is_over() const { return at_ == runs().size(); }
    std::size_t position() const { return at_; }  ///< number of the next run
    /// Precondition of these two: the pass is not over.
    const models::Operator& coming() const { return graph_.operators[runs()[at_].op]; }
    models::Part coming_part() const { return runs()[at_].part; }

    /// Runs the next operator, or two as one call.
    void next();
    /// Asks for the exchange of rows that the next operator is.
    void ask();
    /// Waits for it.
    Interval await();
    /// Precondition: the pass is over.
    ArenaTensor end();

private:
    const std::vector<models::OperatorRun>& runs() const { return asked_.runs; }
    StageParameters& parameters() const { return parts_.state.tools.parameters; }
    OperatorCall call_of(const models::OperatorRun& run) const;
    void start(const models::OperatorRun& run, const OperatorCall& call);
    void end(const models::OperatorRun& run, const OperatorCall& call);
    void two(const OperatorPair& pair, const models::OperatorRun& run, const OperatorCall& call);
    void open_for(const models::Operator& op);
    void end_sharding();
    void free(const models::OperatorRun& run);

    StageParts& parts_;
    const PassAsked asked_;
    const models::StageGraph& graph_;
    LiveTensors& live_;
    std::chrono::nanoseconds waited_;
    std::size_t at_ = 0;
    ArenaTensor result_;
    std::vector<models::Part> called_;
    /// An operator of the layer whose parameters are open.
    const models::Operator* opened_ = nullptr;
    Pending exchange_;
    const models::OperatorRun* exchanging_ = nullptr;  ///< the run whose exchange was asked for
};

}  // namespace debubble::exec
