#include "sim/cost/passes/measured_pass.h"

#include <fmt/format.h>

#include "models/graph/operator_runs.h"

namespace debubble::sim {

MeasuredPass measured_pass(const scenarios::Measured& measured, const models::StageGraph& graph,
                           std::span<const models::OperatorRun> runs, bool again, LayerFold fold,
                           const PassPricer& pricer) {
    MeasuredPass pass;
    for (const models::OperatorRun& run : runs) {
        const models::Operator& op = graph.operators[run.op];
        const models::Part part = again ? models::Part::Again : run.part;
        const std::string signature = signature_of(graph, op);
        const int times = op.layer == fold.layer ? fold.times : 1;
        if (const auto* found = measured.find(signature, part)) {
            const Duration takes = times * found->median;
            pass.duration = checked(pass.duration + takes);
            pass.operators.push_back({static_cast<int>(run.op), times, takes, true});
            continue;
        }
        const std::vector<models::Kernel> kernels = kernels_of(op, run.part);
        if (kernels.empty()) continue;  // the operator lacks this part
        const PassTime priced = pricer.time(kernels, fold);
        const Duration takes = from_seconds(priced.total());
        pass.duration = checked(pass.duration + takes);
        pass.operators.push_back({static_cast<int>(run.op), times, takes, false});
        pass.exposed += priced.exposed;
        pass.missing.insert(fmt::format("{} ({})", signature, name_of(part)));
    }
    return pass;
}

}  // namespace debubble::sim
