#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "models/graph/operator_runs.h"
#include "scenarios/cluster/measured.h"
#include "scenarios/plan/derived.h"
#include "scenarios/plan/plan.h"
#include "scenarios/read/read_scenario.h"
#include "sim/cost/passes/measured_pass.h"
#include "sim/cost/passes/pair_time.h"
#include "sim/cost/price_part.h"
#include "sim/cost/schedule_prices.h"
#include "sim/predict.h"

/// Promises of predictions on a calibrated machine, whose figures are made up.
namespace debubble::sim {
namespace {

using models::Part;
using scenarios::Measured;
using scenarios::Scenario;

Scenario small_job(const std::string& schedule, int layers = 8) {
    return scenarios::parse_scenario(
        fmt::format("model: {{name: small, family: llama, layers: {}, hidden: 64, heads: 4, "
                    "kv_heads: 4, ffn: 128, vocab: 64, max_positions: 64, tied_embedding: false}}\n"
                    "cluster: this-machine\nframework: debubble\ngpus: 2\nparallel: {{pipeline: 2, "
                    "data: 1}}\n"
                    "schedule: {}\n"
                    "training: {{global_batch: 6, micro_batch: 1, seq_length: 64, "
                    "precision: fp32, attention: flash}}\n",
                    layers, schedule),
        "calibrated.yaml");
}

models::StageGraph graph_of(const Scenario& scenario, const models::StageContent& content) {
    return models::build_stage(scenario.model, scenarios::execution_of(scenario), content);
}

/// Another time for every operator and part, so that no two sums agree by chance.
Measured invented(const Scenario& scenario) {
    Measured measured;
    std::int64_t time = 10'007;
    const int half = scenario.model.layers.count() / 2;
    for (const models::StageContent& content : {models::StageContent{0, half, true, false},
                                                models::StageContent{half, half, false, true}}) {
        const models::StageGraph graph = graph_of(scenario, content);
        for (const models::Operator& op : graph.operators)
            for (const Part part :
                 {Part::Forward, Part::Again, Part::Fused, Part::Input, Part::Weight}) {
                const scenarios::MeasuredOperator found{Duration{time}};
                const auto key = std::pair(signature_of(graph, op), part);
                if (measured.operators.try_emplace(key, found).second) time += 1'009;
            }
    }
    measured.pass_overhead = Duration{333};
    return measured;
}

Scenario calibrated(Scenario scenario, const Measured& measured) {
    scenario.cluster.measured = std::make_shared<const Measured>(measured);
    return scenario;
}

/// Added up over a stage built in full, by hand.
Duration sum(const Scenario& scenario, const models::StageContent& content, Part part) {
    const models::StageGraph graph = graph_of(scenario, content);
    const Measured& measured = *scenario.cluster.measured;
    Duration all = measured.pass_overhead;
    for (const models::Operator& op : graph.operators)
        all += measured.operators.at({signature_of(graph, op), part}).median;
    return all;
}

Duration length(const Trace& trace, Pass pass, int stage) {
    for (const Span& span : trace.spans)
        if (const auto* c = std::get_if<Compute>(&span.action))
            if (c->pass == pass && c->stage.index == stage) return span.length();
    return Duration{-1};
}

TEST(Calibrated, APassTakesTheSumOfItsOperatorsMedians) {
    const Scenario scenario = small_job("1f1b", 12);  // six layers a stage: folded to three
    const Scenario job = calibrated(scenario, invented(scenario));
    const Trace trace = predict(job).trace;
    const models::StageContent first{0, 6, true, false}, last{6, 6, false, true};
    EXPECT_EQ(length(trace, Pass::Forward, 0), sum(job, first, Part::Forward));
    EXPECT_EQ(length(trace, Pass::Forward, 1), sum(job, last, Part::Forward));
    EXPECT_EQ(length(trace, Pass::Backward, 0), sum(job, first, Part::Fused));
    EXPECT_EQ(length(trace, Pass::Backward, 1), sum(job, last, Part::Fused));
}

TEST(Calibrated, APartedBackwardTakesItsParts) {
    const Scenario scenario = small_job("zb-h1");
    const Scenario job = calibrated(scenario, invented(scenario));
    const Trace trace = predict(job).trace;
    const models::StageContent last{4, 4, false, true};
    EXPECT_EQ(length(trace, Pass::BackwardInput, 1), sum(job, last, Part::Input));
    EXPECT_EQ(length(trace, Pass::BackwardWeight, 1), sum(job, last, Part::Weight));
}

TEST(Calibrated, TermsThatNothingHidesAreAmongThePartsAndStayInPairs) {
    const Scenario scenario = small_job("1f1b");
    const Scenario job = calibrated(scenario, invented(scenario));
    const scenarios::Plan plan = scenarios::make_plan(job);
    const SchedulePrices prices(job, plan.stages, plan.schedule);
    const StagePrice& stage = prices.of(Compute{Pass::Forward, Stage{0}, MicroBatch{}});
    ASSERT_EQ(sum_of(added_terms(job, stage.graph(), Pass::Forward)), Duration{333});
    Duration parts{}, terms{};
    for (const PricePart& part : stage.parts(Pass::Forward)) {
        parts += part.takes;
        if (std::holds_alternative<CostTerm>(part.from)) terms += part.takes;
    }
    EXPECT_EQ(parts, stage.of(Pass::Forward).duration);
    EXPECT_EQ(terms, Duration{333});
    const PassWork pair = pair_of(stage.work(Pass::Forward), stage.work(Pass::Backward), {});
    EXPECT_DOUBLE_EQ(pair.added, 2 * 333e-9);
    EXPECT_NEAR(length_of(pair),
                seconds(stage.of(Pass::Forward).duration + stage.of(Pass::Backward).duration),
                1e-12);
}

/// (m + p - 1)(F + B) for equal stages, and messages and the step that take no time.
TEST(Calibrated, StepsOfEqualStagesTakeTheClosedForm) {
    for (const char* schedule : {"gpipe", "1f1b"}) {
        const Scenario scenario = small_job(schedule);
        Measured measured = invented(scenario);
        // Embedding, head and loss cost nothing, so both stages are equal.
        const models::StageGraph all = graph_of(scenario, {0, 8, true, true});
        for (const models::Operator& op : all.operators)
            if (!op.layer)
                for (const Part part : {Part::Forward, Part::Fused})
                    measured.operators[{signature_of(all, op), part}].median = {};
        // The norms of a stage differ in where their gradients come from.
        for (auto& [key, found] : measured.operators)
            if (key.first.starts_with("norm")) found.median = {};
        Scenario job = calibrated(scenario, measured);
        job.cluster.node_link.bandwidth = {1e18};
        job.cluster.node_link.latency = job.cluster.node_link.base_latency = {};
        const Duration f = sum(job, {2, 4, false, false}, Part::Forward);
        const Duration b = sum(job, {2, 4, false, false}, Part::Fused);
        const double closed = seconds((6 + 2 - 1) * (f + b));
        // A link rounds each message up to a nanosecond.
        EXPECT_NEAR(predict(job).prediction.step_time_s, closed, 30e-9) << schedule;
    }
}

TEST(Calibrated, OptimizerAndNormTakeWhatTheirElementsTake) {
    const Scenario scenario = small_job("1f1b");
    Measured measured = invented(scenario);
    const double without = predict(calibrated(scenario, measured)).prediction.ranks[0].optimizer_s;
    EXPECT_EQ(without, 0);
    measured.optimizer_seconds_per_element = 1e-6;
    const Prediction p = predict(calibrated(scenario, measured)).prediction;
    const auto elements = graph_of(scenario, {0, 4, true, false}).parameter_elements();
    EXPECT_NEAR(p.ranks[0].optimizer_s, 1e-6 * static_cast<double>(elements), 1e-9);
}

/// What a run does between its actions is in no action's time, and in the step's.
TEST(Calibrated, TheHostsTimeBetweenStepsIsNoActionsTime) {
    const Scenario scenario = small_job("1f1b");
    Measured measured = invented(scenario);
    measured.optimizer_seconds_per_element = 1e-9;
    measured.norm_seconds_per_element = 1e-10;
    const auto without = predict(calibrated(scenario, measured));
    measured.step_overhead = Duration{5000};
    measured.zero_seconds_per_element = 1e-8;
    const auto with = predict(calibrated(scenario, measured));
    const auto elements = graph_of(scenario, {0, 4, true, false}).parameter_elements();
    const double between = 5e-6 + 1e-8 * static_cast<double>(elements);
    EXPECT_NEAR(with.prediction.step_time_s - without.prediction.step_time_s, between, 2e-9);
    ASSERT_EQ(with.trace.spans.size(), without.trace.spans.size());
    for (std::size_t i = 0; i < with.trace.spans.size(); ++i) {
        EXPECT_EQ(with.trace.spans[i].action, without.trace.spans[i].action);
        EXPECT_EQ(with.trace.spans[i].length(), without.trace.spans[i].length())
            << to_text(with.trace.spans[i].action);
    }
    for (std::size_t rank = 0; rank < 2; ++rank) {
        const auto launch = static_cast<std::size_t>(BubbleCause::Launch);
        EXPECT_NEAR(seconds(with.statistics.ranks[rank].idle_by_cause[launch] -
                            without.statistics.ranks[rank].idle_by_cause[launch]),
                    between, 2e-9);
    }
}

TEST(Calibrated, SaysThatOthersUsedTheMachineThatWasMeasured) {
    const Scenario scenario = small_job("1f1b");
    Measured measured = invented(scenario);
    const auto said = [&] {
        const Prediction p = predict(calibrated(scenario, measured)).prediction;
        return std::ranges::count_if(p.notes, [](const std::string& note) {
            return note.find("had a core for 58 % of the time") != std::string::npos;
        });
    };
    EXPECT_EQ(said(), 0);
    measured.core_share = 0.58;
    EXPECT_EQ(said(), 1);
}

/// Two replicas of one stage whose collectives take what they move, and a time to begin.
Scenario replicas_of(int zero_stage, Measured& measured, Duration latency) {
    Scenario scenario = small_job("1f1b");
    scenario.parallel.data = scenario.gpus = 2;
    scenario.parallel.pipeline = 1;
    scenario.parallel.zero_stage = zero_stage;
    scenario.training.micro_batches = 3;
    measured = invented(scenario);
    using Kind = models::Collective::Kind;
    for (const Kind kind : {Kind::AllReduce, Kind::ReduceScatter, Kind::AllGather})
        measured.collectives[{kind, 2}] = {latency, {1e9}};
    return calibrated(scenario, measured);
}

Duration reduction(const Trace& trace) {
    for (const Span& span : trace.spans)
        if (std::holds_alternative<ReduceGrad>(span.action)) return span.length();
    return Duration{-1};
}

Span first_backward(const Trace& trace) {
    return *std::ranges::find_if(trace.spans, [](const Span& span) {
        const auto* c = std::get_if<Compute>(&span.action);
        return c != nullptr && c->pass == Pass::Backward;
    });
}

/// Whole gradients have no room under ZeRO-2: the pass waits for a layer's reduction before it
/// makes the next layer's, and only the last one is left to REDUCE_GRAD.
TEST(Calibrated, AProcessorsPassHasTheReductionsOfAllLayersButTheLast) {
    Measured measured;
    const Trace once = predict(replicas_of(1, measured, {})).trace;
    const Trace each = predict(replicas_of(2, measured, {})).trace;
    const Span pass = first_backward(each);
    EXPECT_EQ(first_backward(once).exposed, Duration{});
    EXPECT_GT(pass.exposed, Duration{});
    EXPECT_EQ(pass.length() - pass.exposed, first_backward(once).length());
    EXPECT_NEAR(seconds(pass.exposed + reduction(each)), seconds(reduction(once)), 2e-9);
    EXPECT_LT(reduction(each), reduction(once) / 2) << "of ten units";
}

/// Embedding, eight layers and head begin a collective each.
TEST(Calibrated, AProcessorReducesEachUnitByItself) {
    Measured measured;
    const Duration without = reduction(predict(replicas_of(1, measured, {})).trace);
    const Duration with = reduction(predict(replicas_of(1, measured, Duration{1000})).trace);
    EXPECT_NEAR(seconds(with - without), 10 * 1e-6, 2e-9);
}

TEST(Calibrated, NamesWhatWasNotMeasuredAndPricesIt) {
    const Scenario scenario = small_job("1f1b");
    Measured measured = invented(scenario);
    const models::StageGraph all = graph_of(scenario, {0, 8, true, true});
    const auto attention = std::ranges::find_if(
        all.operators, [](const models::Operator& op) { return op.as<models::op::Attention>(); });
    const std::string missing = signature_of(all, *attention);
    measured.operators.erase({missing, Part::Fused});
    const auto answer = predict(calibrated(scenario, measured));
    const auto full = predict(calibrated(scenario, invented(scenario)));
    EXPECT_GT(length(answer.trace, Pass::Backward, 0), Duration{});
    EXPECT_NE(length(answer.trace, Pass::Backward, 0), length(full.trace, Pass::Backward, 0));
    EXPECT_EQ(length(answer.trace, Pass::Forward, 0), length(full.trace, Pass::Forward, 0));
    std::vector<std::string> said;
    for (const ProvenanceNote& note : answer.prediction.provenance)
        if (note.what.starts_with("not measured: ")) said.push_back(note.what);
    EXPECT_THAT(said, testing::ElementsAre("not measured: " + missing + " (backward)"));
    for (const ProvenanceNote& note : full.prediction.provenance)
        EXPECT_FALSE(note.what.starts_with("not measured")) << note.what;
}

TEST(Calibrated, CollectivesOfTheMeasuredGroupTakeWhatWasMeasured) {
    Scenario scenario = small_job("1f1b");
    scenario.parallel.data = scenario.gpus = 2;
    scenario.parallel.pipeline = 1;
    scenario.framework.overlap_grad_reduce = false;
    scenario.training.micro_batches = 3;
    Measured measured = invented(scenario);
    const auto kind = models::Collective::Kind::AllReduce;
    measured.collectives[{kind, 2}] = {Duration{1'000'000}, {1e15}};
    const double fast = predict(calibrated(scenario, measured)).prediction.step_time_s;
    measured.collectives[{kind, 2}] = {Duration{51'000'000}, {1e15}};
    const double slow = predict(calibrated(scenario, measured)).prediction.step_time_s;
    // The reductions of the gradients of embedding, layers and head, and the norm's.
    EXPECT_NEAR(slow - fast, (10 + 1) * 0.05, 1e-6);
}

}  // namespace
}  // namespace debubble::sim
