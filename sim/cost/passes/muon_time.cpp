#include "sim/cost/passes/muon_time.h"

#include <algorithm>
#include <set>
#include <variant>

#include "models/graph/operator_runs.h"
#include "sim/cost/kernels/kernel_cost.h"

namespace debubble::sim {
namespace {

constexpr int kMomentumBytes = 4;  ///< momentum is gathered in fp32

/// One orthogonalisation: X X^T, its square, and their GEMM with X, in bf16.
double seconds_of(const StepMatrix& matrix, int steps, const scenarios::Scenario& scenario,
                  const PassPricer& pricer) {
    const std::int64_t m = std::min(matrix.rows, matrix.columns);
    const std::int64_t n = std::max(matrix.rows, matrix.columns);
    const auto product = [&](std::int64_t columns, std::int64_t inner) {
        return seconds(
            kernel_time(models::Gemm{1, m, columns, inner, {}, 2}, scenario.cluster.gpu));
    };
    double gather = 0;
    if (matrix.gathered_by > 1)
        gather =
            seconds(pricer.collective({models::Collective::Kind::AllGather,
                                       matrix.expert ? models::Collective::Group::ExpertTensor
                                                     : models::Collective::Group::Tensor,
                                       Bytes{kMomentumBytes * matrix.rows * matrix.columns}, 0}));
    return gather + steps * (product(m, n) + product(m, m) + product(n, m));
}

}  // namespace

std::vector<StepMatrix> step_matrices(const models::StageGraph& graph, LayerFold fold) {
    std::vector<StepMatrix> matrices;
    std::set<int> counted;
    for (const models::Operator& op : graph.operators) {
        if (!op.layer) continue;  // embedding and head
        const int times = op.layer == fold.layer ? fold.times : 1;
        for (const int index : op.parameters) {
            const models::Parameter& parameter = graph.parameters[index];
            if (!parameter.hidden_matrix) continue;
            if (!counted.insert(index).second) continue;
            const bool cut = parameter.sharding != models::Sharding::Replicated;
            StepMatrix matrix{parameter.shape[0], parameter.shape[1], parameter.expert,
                              cut ? parameter.cutting_ranks(graph.execution) : 1,
                              times * parameter.count};
            // The parts of a packed matrix are orthogonalised separately.
            matrix.count *= parameter.parts;
            (parameter.transposed ? matrix.columns : matrix.rows) /= parameter.parts;
            const auto known = std::ranges::find_if(matrices, [&](StepMatrix other) {
                other.count = matrix.count;
                return other == matrix;
            });
            if (known != matrices.end())
                known->count += matrix.count;
            else
                matrices.push_back(matrix);
        }
    }
    return matrices;
}

double newton_schulz_flops(const StepMatrix& matrix, int steps) {
    const auto m = static_cast<double>(std::min(matrix.rows, matrix.columns));
    const auto n = static_cast<double>(std::max(matrix.rows, matrix.columns));
    return steps * (4 * m * m * n + 2 * m * m * m);
}

Duration muon_time(const scenarios::Scenario& scenario, const std::vector<StepMatrix>& matrices,
                   const PassPricer& pricer) {
    const auto* muon = std::get_if<scenarios::MuonOptions>(&scenario.training.run.optimizer);
    if (muon == nullptr) return {};
    const scenarios::Parallel& parallel = scenario.parallel;
    const bool shares = parallel.zero_stage > 0;
    double sum = 0;
    double longest = 0;
    for (const StepMatrix& matrix : matrices) {
        const double each = seconds_of(matrix, muon->steps, scenario, pricer);
        const int owners = !shares         ? 1
                           : matrix.expert ? parallel.expert_replicas()
                                           : parallel.replicas();
        sum += each * matrix.count / owners;
        longest = std::max(longest, each);
    }
    return from_seconds(std::max(sum, longest));
}

}  // namespace debubble::sim
