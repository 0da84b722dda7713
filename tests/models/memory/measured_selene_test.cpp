#include <gtest/gtest.h>

#include "models/graph/graph.h"
#include "tests/models/architectures.h"
#include "tests/models/memory/measured_rows.h"

/// Figure 1 of Korthikanti et al. 2022. The figure is drawn from the paper's own
/// formulas, so the graph must give it to the digit: without norm statistics, without
/// embeddings, biases and norms among the parameters, and with the first stage's p
/// microbatches (and those of interleaving) in flight.
namespace debubble::models {
namespace {

struct Figures {
    double activations = 0;
    double weights = 0;  ///< of the rank's layers
};

Figures of_a_layer(const Architecture& model, const Execution& how) {
    const StageGraph graph = build_stage(model, how, {0, 1, false, false});
    std::int64_t held = 0;
    for (const Step& step : forward_steps(graph).steps) {
        if (step.kind == Step::Kind::Run) continue;
        const Tensor& tensor = graph.tensors[step.index];
        if (tensor.name.find("statistics") != std::string::npos) continue;
        held += step.kind == Step::Kind::Allocate ? tensor.bytes.count : -tensor.bytes.count;
    }
    double weights = 0;
    for (const Parameter& parameter : graph.parameters) {
        if (parameter.shape.size() < 2) continue;
        weights += static_cast<double>(parameter.elements_of_rank(how));
    }
    return {static_cast<double>(held), weights};
}

TEST(MeasuredMemory, OfKorthikantisFigureIsTheGraphs) {
    SKIP_WITHOUT_MEASUREMENTS();
    for (const Row& row : measured_rows("selene_memory.csv")) {
        const bool large = row.at("model") == "gpt3-175b";
        const Architecture model =
            large ? gpt(96, 12288, 96, 51200, 2048) : gpt(48, 6144, 64, 51200, 2048);
        Execution how;
        how.seq_length = 2048;
        how.micro_batch = whole(row, "micro_batch");
        how.tensor = static_cast<int>(whole(row, "tensor"));
        how.attention = AttentionKernel::Unfused;
        how.hidden_dropout = how.attention_dropout = true;
        const double p = real(row, "pipeline"), v = real(row, "virtual_stages");
        const double in_flight = model.layers.count() * (v > 1 ? 1 + (p - 1) / (p * v) : 1);
        const Figures none = of_a_layer(model, how);
        EXPECT_NEAR(none.activations * in_flight / kGiB, real(row, "activations_none_gib"), 0.01);
        EXPECT_NEAR(18 * none.weights * model.layers.count() / p / kGiB,
                    real(row, "params_and_optimizer_gib"), 0.01);
        how.sequence_parallel = true;
        how.recompute = Recompute::Selective;
        EXPECT_NEAR(of_a_layer(model, how).activations * in_flight / kGiB,
                    real(row, "activations_sp_selective_gib"), 0.01);
    }
}

}  // namespace
}  // namespace debubble::models
