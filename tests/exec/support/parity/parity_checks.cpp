#include "tests/exec/support/parity/parity_checks.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "models/counts/counts.h"
#include "trace/executed_order.h"

namespace debubble::exec::parity {

namespace {

double norm_of(const std::vector<float>& x) {
    double sum = 0;
    for (const float value : x) sum += static_cast<double>(value) * value;
    return std::sqrt(sum);
}

double distance(const std::vector<float>& a, const std::vector<float>& b) {
    double sum = 0;
    for (std::size_t i = 0; i < a.size(); ++i) {
        const double difference = static_cast<double>(a[i]) - b[i];
        sum += difference * difference;
    }
    return std::sqrt(sum);
}

/// The name up to the operator's parameter: "h.3.attn".
std::string layer_of(const std::string& name) {
    return name.substr(0, name.rfind('.'));
}

/// ||a - b|| <= tolerance ||b|| tensor by tensor. What is zero in theory, like a key's bias
/// gradient, is measured by the largest tensor of its operator.
void expect_equal(const GlobalTensors& mine, const GlobalTensors& whole, double tolerance,
                  const char* what) {
    ASSERT_EQ(mine.size(), whole.size());
    std::map<std::string, double> largest;
    for (const auto& [name, tensor] : whole)
        largest[layer_of(name)] = std::max(largest[layer_of(name)], norm_of(tensor));
    for (const auto& [name, tensor] : whole) {
        ASSERT_EQ(mine.at(name).size(), tensor.size()) << name;
        const double scale =
            name.find("key.bias") == std::string::npos ? norm_of(tensor) : largest[layer_of(name)];
        EXPECT_LE(distance(mine.at(name), tensor), tolerance * scale) << what << " of " << name;
    }
}

bool has_several_holders(const Program& program) {
    std::map<Stage, int> holders;
    for (const auto& row : program.placement.stages)
        for (const Stage stage : row) ++holders[stage];
    return std::ranges::any_of(holders, [](const auto& stage) { return stage.second > 1; });
}

/// A head alone is reduced after its pass.
bool has_layers(const scenarios::Plan& plan, Rank rank) {
    return std::ranges::any_of(plan.program.placement.stages_of(rank), [&](Stage stage) {
        return plan.stages[static_cast<std::size_t>(stage.index)].layers > 0;
    });
}

/// Passes stand still for the collectives of tensor, context and expert parallelism, for gathers of
/// layers and reductions of whole gradients that have no room, and for nothing else.
void expect_exposed_communication(const Case& c, const std::vector<StepRecord>& records) {
    const scenarios::Parallel& parallel = scenario_of(c).parallel;
    const scenarios::Plan plan = scenarios::make_plan(scenario_of(c));
    const bool shards =
        parallel.zero_stage >= 2 && parallel.data > 1 && !has_several_holders(plan.program);
    const bool exchanges = parallel.tensor > 1 || parallel.context > 1 || parallel.expert > 1 ||
                           parallel.expert_tensor > 1;
    for (const StepRecord& record : records) {
        Duration exposed{};
        for (const Span& span : record.spans) {
            EXPECT_LE(span.exposed, span.length());
            exposed += span.exposed;
        }
        EXPECT_EQ(exposed > Duration{}, exchanges || (shards && has_layers(plan, record.rank)))
            << "rank " << record.rank.index;
    }
}

/// The same training on one rank; made once for each kind of it.
const Result& on_one_rank(const Case& c) {
    static std::map<std::string, Result> results;
    Case alone = c;
    alone.parallel = "{data: 1}";
    alone.schedule = "1f1b";
    alone.offloads = false;
    alone.vocabulary_multiple = Case{}.vocabulary_multiple;
    alone.transport = Transport::Buffered;
    const std::string key =
        fmt::format("{} {} {} {} {} {} {} {}", c.model, c.micro_batches, c.micro_batch,
                    c.seq_length, c.optimizer, c.training, c.framework, c.device != nullptr);
    const auto found = results.find(key);
    if (found != results.end()) return found->second;
    return results.emplace(key, train(alone, 2)).first->second;
}

int ranks_of_a_stage(const scenarios::Scenario& scenario) {
    const scenarios::Parallel& parallel = scenario.parallel;
    return parallel.tensor * parallel.context * parallel.data;
}

/// Parameters whose gradient is summed in the same order as on one rank: microbatch after
/// microbatch, in one place.
std::set<std::string> summed_alike(const Case& c, const scenarios::Plan& plan) {
    const scenarios::Scenario scenario = scenario_of(c);
    if (ranks_of_a_stage(scenario) * scenario.schedule.slices > 1) return {};
    std::set<std::string> names;
    for (int s = 0; s < plan.program.stage_count(); ++s) {
        const std::vector<Rank> holders = plan.program.placement.ranks_of(Stage{s});
        if (holders.size() > 1) continue;
        std::vector<MicroBatch> order;
        for (const Action& action : plan.program.ranks[holders[0].index])
            for_each_compute(action, [&](const Compute& compute) {
                const bool sums =
                    compute.pass == Pass::Backward || compute.pass == Pass::BackwardWeight;
                if (sums && compute.stage == Stage{s}) order.push_back(compute.micro_batch);
            });
        if (!std::ranges::is_sorted(order)) continue;
        for (std::string& name : models::parameter_names(scenario.model, plan.stages[s]))
            names.insert(std::move(name));
    }
    if (scenario.model.shares_embedding())
        for (const char* table :
             {"wte.weight", "model.embed_tokens.weight", "transformer.wte.weight"})
            names.erase(table);
    return names;
}

}  // namespace

void expect_training_of_the_processor(const Case& c) {
    constexpr double kTolerance = 1e-5;
    Case on_processor = c;
    on_processor.device = nullptr;
    const Result mine = train(c, 2), whole = train(on_processor, 2);
    for (int step = 0; step < 2; ++step) {
        EXPECT_NEAR(mine.losses[step], whole.losses[step], kTolerance * whole.losses[step]);
        EXPECT_NEAR(mine.norms[step], whole.norms[step], kTolerance * whole.norms[step]);
        EXPECT_NEAR(mine.router_losses[step], whole.router_losses[step],
                    kTolerance * whole.router_losses[step]);
    }
    EXPECT_NEAR(mine.evaluated, whole.evaluated, kTolerance * whole.evaluated);
    expect_equal(mine.gradients, whole.gradients, kTolerance, "gradient");
    expect_equal(mine.weights, whole.weights, kTolerance, "weight");
}

void expect_training_of_one_rank(const Case& c, Result mine, bool to_the_bit) {
    const Result& whole = on_one_rank(c);
    // Whose bits may differ has products by a library, which may choose others for one rank.
    const double tolerance = ranks_of_a_stage(scenario_of(c)) > 1 || !to_the_bit ? 1e-5 : 1e-6;
    for (int step = 0; step < 2; ++step) {
        EXPECT_NEAR(mine.losses[step], whole.losses[step], tolerance * whole.losses[step]);
        EXPECT_NEAR(mine.norms[step], whole.norms[step], tolerance * whole.norms[step]);
        EXPECT_NEAR(mine.router_losses[step], whole.router_losses[step],
                    tolerance * whole.router_losses[step]);
    }
    EXPECT_NEAR(mine.evaluated, whole.evaluated, tolerance * whole.evaluated);
    EXPECT_NE(mine.evaluated, mine.losses[1]) << "the weights have moved";
    expect_equal(mine.gradients, whole.gradients, tolerance, "gradient");
    expect_equal(mine.weights, whole.weights, tolerance, "weight");
    const auto same_sums = to_the_bit ? summed_alike(c, mine.plan) : std::set<std::string>{};
    for (const std::string& name : same_sums) {
        if (!whole.gradients.contains(name)) continue;  // a tied head goes by another name
        EXPECT_EQ(mine.gradients.at(name), whole.gradients.at(name)) << "bits of " << name;
    }

    expect_exposed_communication(c, mine.records);
    Trace trace = trace_of(std::move(mine.records));
    trace.program = mine.plan.program;
    trace.header.program_hash = program_hash(mine.plan.program);
    trace.header.clock_error = mine.clock_error;
    EXPECT_THAT(executed_in_order(mine.plan.program, trace), testing::IsEmpty());
}

}  // namespace debubble::exec::parity
