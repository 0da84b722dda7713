#include "tests/exec/parity_job.h"

#include <algorithm>
#include <cctype>
#include <cmath>
#include <mutex>
#include <set>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "schedule/executed_order.h"
#include "schedule/generators/generators.h"

/// Whatever the layout and the schedule, it is the same training.
namespace debubble::exec::parity {
namespace {

using testing::IsEmpty;

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

/// The same training on one rank; made once for each kind of it.
const Result& on_one_rank(const Case& c) {
    static std::map<std::string, Result> results;
    static std::mutex mutex;
    const std::lock_guard lock(mutex);
    Case alone = c;
    alone.parallel = "{data: 1}";
    alone.schedule = "1f1b";
    alone.transport = Transport::Buffered;
    const std::string key =
        fmt::format("{} {} {} {}", c.model, c.micro_batches, c.optimizer, c.training);
    const auto found = results.find(key);
    if (found != results.end()) return found->second;
    return results.emplace(key, train(alone, 2)).first->second;
}

/// Parameters whose gradient is summed in the same order as on one rank: microbatch after
/// microbatch, in one place.
std::set<std::string> summed_alike(const Case& c, const scenarios::Plan& plan) {
    const scenarios::Scenario scenario = scenario_of(c);
    if (scenario.parallel.tensor * scenario.parallel.data * scenario.schedule.slices > 1) return {};
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
    if (scenario.model.tied_embedding) names.erase("wte.weight");
    return names;
}

class Parity : public testing::TestWithParam<Case> {};

TEST_P(Parity, IsTheTrainingOfOneRank) {
    const Case& c = GetParam();
    const Result& whole = on_one_rank(c);
    const Result mine = train(c, 2);
    const double tolerance =
        scenario_of(c).parallel.tensor * scenario_of(c).parallel.data > 1 ? 1e-5 : 1e-6;
    for (int step = 0; step < 2; ++step) {
        EXPECT_NEAR(mine.losses[step], whole.losses[step], tolerance * whole.losses[step]);
        EXPECT_NEAR(mine.norms[step], whole.norms[step], tolerance * whole.norms[step]);
    }
    EXPECT_NEAR(mine.evaluated, whole.evaluated, tolerance * whole.evaluated);
    EXPECT_NE(mine.evaluated, mine.losses[1]) << "the weights have moved";
    expect_equal(mine.gradients, whole.gradients, tolerance, "gradient");
    expect_equal(mine.weights, whole.weights, tolerance, "weight");
    for (const std::string& name : summed_alike(c, mine.plan)) {
        if (!whole.gradients.contains(name)) continue;  // a tied head goes by another name
        EXPECT_EQ(mine.gradients.at(name), whole.gradients.at(name)) << "bits of " << name;
    }

    Trace trace = trace_of(mine.records);
    trace.program = mine.plan.program;
    trace.header.program_hash = program_hash(mine.plan.program);
    EXPECT_THAT(executed_in_order(mine.plan.program, trace), IsEmpty());
}

std::string legal(std::string name) {
    for (char& letter : name)
        if (std::isalnum(static_cast<unsigned char>(letter)) == 0) letter = '_';
    return name;
}

/// Every generator, on 2 and 4 ranks, with p, 2p and 2p + 1 microbatches where it can.
std::vector<Case> generator_cases() {
    std::vector<Case> cases;
    for (const Generator& generator : generators()) {
        for (const int p : {2, 4}) {
            const int v = generator.stages_per_rank.value_or(1);
            for (const int m : {p, 2 * p, 2 * p + 1}) {
                const bool sliced = generator.name == "seq-1f1b";
                const PipelineShape shape{p, v, m, sliced ? 2 : 1};
                if (generator.why_not(shape, {})) continue;
                Case c;
                c.name = legal(fmt::format("{}_p{}_m{}", generator.name, p, m));
                c.schedule = sliced ? fmt::format("{{name: {}, slices: 2}}", generator.name)
                                    : std::string(generator.name);
                c.parallel = fmt::format("{{pipeline: {}, data: 1, stages_per_rank: {}}}", p, v);
                c.micro_batches = m;
                cases.push_back(c);
            }
        }
    }
    return cases;
}

std::string name_of_case(const testing::TestParamInfo<Case>& info) {
    return info.param.name;
}

INSTANTIATE_TEST_SUITE_P(Generators, Parity, testing::ValuesIn(generator_cases()), name_of_case);

Case layout(std::string name, std::string parallel, std::string schedule = "1f1b",
            std::string model = "gpt2", std::string training = {}) {
    Case c;
    c.name = std::move(name);
    c.parallel = std::move(parallel);
    c.schedule = std::move(schedule);
    c.model = std::move(model);
    c.training = std::move(training);
    return c;
}

Case of_batch(int micro_batches, Case c) {
    c.micro_batches = micro_batches;
    return c;
}

Case over(Transport transport, Case c) {
    c.transport = transport;
    return c;
}

INSTANTIATE_TEST_SUITE_P(
    Layouts, Parity,
    testing::Values(
        layout("tp2", "{tensor: 2, data: 1}"), layout("tp4", "{tensor: 4, data: 1}"),
        layout("tp2_sp", "{tensor: 2, data: 1, sequence: true}"),
        layout("tp4_sp", "{tensor: 4, data: 1, sequence: true}"), layout("dp2", "{data: 2}"),
        layout("dp4", "{data: 4}"), layout("zero1", "{data: 2, zero_stage: 1}"),
        layout("zero2", "{data: 2, zero_stage: 2}"), layout("zero3", "{data: 2, zero_stage: 3}"),
        layout("zero3_dp4", "{data: 4, zero_stage: 3}"),
        layout("zero3_by_stage", "{data: 2, zero_stage: 3, wrap: stage}"),
        layout("pp2_zero2", "{pipeline: 2, data: 2, zero_stage: 2, wrap: stage}"),
        layout("pp2_zero3", "{pipeline: 2, data: 2, zero_stage: 3, wrap: stage}"),
        layout("pp2_zero1_zb_h1", "{pipeline: 2, data: 2, zero_stage: 1}", "zb-h1"),
        layout("pp2_zero3_zb_v", "{pipeline: 2, data: 2, zero_stage: 3, wrap: stage}", "zb-v"),
        layout("pp2_tp2_dp2", "{pipeline: 2, tensor: 2, data: 2}"),
        layout("pp2_tp2_dp2_sp_zero1",
               "{pipeline: 2, tensor: 2, data: 2, sequence: true, zero_stage: 1}"),
        of_batch(8, layout("dualpipe_dp2", "{pipeline: 2, data: 2}", "dualpipe")),
        of_batch(8, layout("dualpipe_v_tp2", "{pipeline: 2, tensor: 2, data: 1}", "dualpipe-v")),
        of_batch(8, layout("chimera_dp2_zero2",
                           "{pipeline: 4, data: 2, zero_stage: 2, wrap: stage}", "chimera")),
        of_batch(16, layout("dualpipe_dp2_zero2",
                            "{pipeline: 4, data: 2, zero_stage: 2, wrap: stage}", "dualpipe")),
        of_batch(16, layout("dualpipe_dp2_zero3",
                            "{pipeline: 4, data: 2, zero_stage: 3, wrap: stage}", "dualpipe")),
        layout("llama_tp2", "{tensor: 2, data: 1}", "1f1b", "llama"),
        layout("llama_tp2_sp_pp2", "{tensor: 2, data: 1, pipeline: 2, sequence: true}", "zb-h1",
               "llama"),
        layout("llama_zero3", "{data: 2, zero_stage: 3}", "1f1b", "llama"),
        layout("vit_tp2", "{tensor: 2, data: 1}", "1f1b", "vit"),
        layout("vit_pp2_dp2", "{pipeline: 2, data: 2}", "gpipe", "vit"),
        layout("dropout_pp2", "{pipeline: 2, data: 1}", "zb-h1", "gpt2-dropout"),
        layout("dropout_tp2_sp", "{tensor: 2, data: 1, sequence: true}", "1f1b", "gpt2-dropout"),
        layout("dropout_dp2", "{data: 2}", "1f1b", "gpt2-dropout"),
        layout("recompute_pp2", "{pipeline: 2, data: 1}", "zb-h1", "gpt2", "recompute: full"),
        layout("offload_pp2", "{pipeline: 2, data: 1}", "1f1b", "gpt2",
               "offload_activations: true"),
        over(Transport::Rendezvous, layout("rendezvous_zb_v", "{pipeline: 4, data: 1}", "zb-v")),
        over(Transport::Rendezvous,
             layout("rendezvous_pp2_tp2_dp2", "{pipeline: 2, tensor: 2, data: 2}")),
        layout("clipped_pp2", "{pipeline: 2, data: 1}", "1f1b", "gpt2", "clip_norm: 0.1"),
        layout("clipped_tp2_pp2_dp2", "{pipeline: 2, tensor: 2, data: 2}", "zb-h1", "gpt2",
               "clip_norm: 0.1")),
    name_of_case);

}  // namespace
}  // namespace debubble::exec::parity
