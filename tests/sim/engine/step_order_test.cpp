#include <algorithm>
#include <cstdlib>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include <unistd.h>

#include <fmt/format.h>
#include <gmock/gmock.h>

#include "base/command_line/exit_status.h"
#include "base/diagnostic.h"
#include "base/file.h"
#include "models/counts/counts.h"
#include "models/graph/graph.h"
#include "scenarios/plan/plan.h"
#include "schedule/csv/csv.h"
#include "sim/cost/physical_models.h"
#include "sim/engine/build_task_graph.h"
#include "sim/plan/priced_plan.h"
#include "sim/predict.h"
#include "tests/sim/engine/random_plans.h"

/// Properties of steps that hold whatever the job, tried on jobs drawn at random.
/// DEBUBBLE_RANDOM_JOBS sets how many, DEBUBBLE_RANDOM_SEED where the dice begin.
namespace debubble::sim {
namespace {

int number_from(const char* variable, int otherwise) {
    const char* text = std::getenv(variable);
    return text == nullptr ? otherwise : std::atoi(text);
}

std::optional<PredictionWithTrace> try_predict(const RandomJob& job, bool keep_trace) {
    PredictOptions options;
    options.keep_trace = keep_trace;
    options.play_allocator = false;
    try {
        return predict(scenario_of(job), options);
    } catch (const InputError&) {
    } catch (const NegativeAnswer&) {
    }
    return std::nullopt;
}

std::string placement_text(const Placement& placement) {
    std::string text = "[";
    for (const auto& row : placement.stages) {
        text += text.size() > 1 ? ", [" : "[";
        for (std::size_t i = 0; i < row.size(); ++i)
            text += fmt::format("{}{}", i > 0 ? ", " : "", row[i].index);
        text += "]";
    }
    return text + "]";
}

/// The computes of a Program as a file, so that its order holds whatever computes cost.
class HeldOrder {
public:
    explicit HeldOrder(const Program& program)
        : path_(std::filesystem::temp_directory_path() /
                fmt::format("held-order-{}-{}.csv", getpid(), number())) {
        Schedule computes = program;
        for (ActionList& list : computes.ranks)
            std::erase_if(list, [](const Action& action) {
                bool is_compute = false;
                for_each_compute(action, [&](const Compute&) { is_compute = true; });
                return !is_compute;
            });
        write_file(path_, write_csv(computes));
    }
    ~HeldOrder() { std::filesystem::remove(path_); }
    HeldOrder(const HeldOrder&) = delete;
    HeldOrder& operator=(const HeldOrder&) = delete;
    std::string path() const { return path_.string(); }

private:
    static int number() {
        static int made = 0;
        return ++made;
    }
    std::filesystem::path path_;
};

struct Longer {
    double by = 0;
    std::string what;
};

/// A possible job, whose order is held where its schedule searches for one, and its prediction
/// without a trace.
struct TriedJob {
    RandomJob job;
    std::unique_ptr<const HeldOrder> order;
    PredictionWithTrace predicted;
};

std::optional<TriedJob> next_job(Dice& dice) {
    TriedJob tried{random_job(dice), nullptr, {}};
    std::optional<PredictionWithTrace> predicted =
        try_predict(tried.job, searches_its_order(tried.job));
    if (!predicted) return std::nullopt;
    if (searches_its_order(tried.job)) {
        tried.order = std::make_unique<const HeldOrder>(predicted->trace.program);
        tried.job.csv = tried.order->path();
        tried.job.placement = placement_text(predicted->trace.program.placement);
        predicted = try_predict(tried.job, false);
        EXPECT_TRUE(predicted) << to_text(tried.job);
        if (!predicted) return std::nullopt;
    }
    tried.predicted = std::move(*predicted);
    return tried;
}

/// All properties are tried on the same jobs.
const std::vector<TriedJob>& tried_jobs() {
    static const std::vector<TriedJob> all = [] {
        const auto wanted = static_cast<std::size_t>(number_from("DEBUBBLE_RANDOM_JOBS", 300));
        Dice dice(static_cast<std::uint64_t>(number_from("DEBUBBLE_RANDOM_SEED", 1)));
        std::vector<TriedJob> tried;
        while (tried.size() < wanted)
            if (std::optional<TriedJob> job = next_job(dice)) tried.push_back(std::move(*job));
        return tried;
    }();
    return all;
}

constexpr double kLonger = 0.003;

/// The seconds of messages and of reductions between replicas, on the rank that has most of them.
double seconds_on_cards(const Prediction& prediction) {
    double most = 0;
    for (const RankPrediction& rank : prediction.ranks)
        most = std::max(most, rank.communication[CommunicationKind::Data].seconds() +
                                  rank.communication[CommunicationKind::Pipeline].seconds());
    return most;
}

/// The longest path through the tasks of a step, if every flow had its links to itself.
double step_without_sharing(const RandomJob& job) {
    const scenarios::Scenario scenario = scenario_of(job);
    const scenarios::Plan plan = scenarios::make_plan(scenario);
    const auto prices =
        std::make_shared<const SchedulePrices>(scenario, plan.stages, plan.schedule);
    const auto costs = make_cost_model(prices);
    const auto memory = make_memory_model(prices);
    TaskGraph graph = build_task_graph(plan.program, *costs, *memory, played_step(scenario, plan));
    const auto alone = [&](Bytes bytes, const auto& links) {
        double longest = 0;
        for (const Link link : links)
            longest = std::max(longest, static_cast<double>(bytes.count) /
                                            costs->links()[static_cast<std::size_t>(link)].value);
        return longest;
    };
    const auto takes = [&](const Task& task) {
        const auto cost = static_cast<std::size_t>(task.cost);
        if (!task.is_flow) return seconds(graph.compute_costs[cost].duration);
        const Flow& flow = graph.flows[cost];
        double longest = alone(flow.bytes, flow.links);
        for (const LinkBytes& part : flow.also)
            longest = std::max(longest, alone(part.bytes, part.links));
        return seconds(flow.latency) + longest;
    };
    std::vector<double> begins(graph.tasks.size());
    std::vector<TaskId> ready;
    double end = 0;
    for (TaskId id = 0; id < static_cast<TaskId>(graph.tasks.size()); ++id)
        if (graph.tasks[static_cast<std::size_t>(id)].open_edges == 0) ready.push_back(id);
    const auto fire = [&](std::span<const TaskId> successors, double when) {
        for (const TaskId next : successors) {
            double& begin = begins[static_cast<std::size_t>(next)];
            begin = std::max(begin, when);
            if (--graph.tasks[static_cast<std::size_t>(next)].open_edges == 0)
                ready.push_back(next);
        }
    };
    while (!ready.empty()) {
        const TaskId id = ready.back();
        ready.pop_back();
        const double begin = begins[static_cast<std::size_t>(id)];
        const double over = begin + takes(graph.tasks[static_cast<std::size_t>(id)]);
        end = std::max(end, over);
        fire(graph.after_begin.of(id), begin);
        fire(graph.after_end.of(id), over);
    }
    return end;
}

/// True where a flow that begins earlier takes half of a card from one that others wait for, as
/// flows have no priorities: with links of their own for all of them the step is no longer, and it
/// is longer by at most what flows take, since half of a card doubles their time.
bool flows_are_in_the_way(const RandomJob& job, const RandomJob& easier, double more,
                          const Prediction& there) {
    return more <= seconds_on_cards(there) &&
           step_without_sharing(easier) <= step_without_sharing(job) * (1 + kLonger);
}

TEST(StepOrder, LessWorkAndBetterMachinesNeverLengthenAStep) {
    int compared = 0;
    std::size_t of_sharing = 0;
    std::vector<Longer> longer;
    for (const TriedJob& tried : tried_jobs()) {
        const double step = tried.predicted.prediction.step_time_s;
        for (const Easier& easier : easier_jobs(tried.job)) {
            const auto there = try_predict(easier.job, false);
            if (!there) continue;
            ++compared;
            const double by = there->prediction.step_time_s / step - 1;
            if (by <= kLonger) continue;
            if (flows_are_in_the_way(tried.job, easier.job, by * step, there->prediction))
                ++of_sharing;
            else
                longer.push_back(
                    {by, fmt::format("{} makes {:.4f} s {:.4f} s:\n{}", easier.what, step,
                                     there->prediction.step_time_s, to_text(tried.job))});
        }
    }
    std::ranges::sort(longer, {}, [](const Longer& l) { return -l.by; });
    fmt::print("{} jobs, {} compared, {} longer, {} by flows in the way\n", tried_jobs().size(),
               compared, longer.size(), of_sharing);
    EXPECT_LE(of_sharing, static_cast<std::size_t>(compared) / 300);
    for (const Longer& l : longer)
        ADD_FAILURE() << fmt::format("{:.2f} % longer: {}", 100 * l.by, l.what);
}

TEST(StepOrder, EveryNanosecondOfARankIsAccountedFor) {
    for (const TriedJob& tried : tried_jobs())
        for (const RankPrediction& rank : tried.predicted.prediction.ranks) {
            const double idle = seconds(
                tried.predicted.statistics.ranks[static_cast<std::size_t>(rank.rank.index)].idle);
            EXPECT_NEAR(rank.busy_s + rank.exposed_comm_s + rank.optimizer_s + idle,
                        tried.predicted.prediction.step_time_s, 1e-8)
                << to_text(tried.job);
        }
}

/// Bytes that cross each link in a step, and what they take at least.
struct Crossing {
    std::vector<double> bytes;
    double seconds = 0;
};

Crossing crossing(const scenarios::Scenario& scenario) {
    const scenarios::Plan plan = scenarios::make_plan(scenario);
    const auto prices =
        std::make_shared<const SchedulePrices>(scenario, plan.stages, plan.schedule);
    const auto costs = make_cost_model(prices);
    const auto memory = make_memory_model(prices);
    const TaskGraph graph = build_task_graph(plan.program, *costs, *memory, {});
    Crossing sum;
    sum.bytes.resize(costs->links().size());
    for (const Task& task : graph.tasks) {
        if (!task.is_flow) continue;
        const Flow& flow = graph.flows[static_cast<std::size_t>(task.cost)];
        for (const Link link : flow.links)
            sum.bytes[static_cast<std::size_t>(link)] += static_cast<double>(flow.bytes.count);
        for (const LinkBytes& part : flow.also)
            for (const Link link : part.links)
                sum.bytes[static_cast<std::size_t>(link)] += static_cast<double>(part.bytes.count);
    }
    for (std::size_t link = 0; link < sum.bytes.size(); ++link)
        sum.seconds = std::max(sum.seconds, sum.bytes[link] / costs->links()[link].value);
    return sum;
}

TEST(StepOrder, NoStepIsShorterThanItsBytesNeedOnAnyLinkHiddenOrNot) {
    for (const TriedJob& tried : tried_jobs()) {
        const Crossing bytes = crossing(scenario_of(tried.job));
        EXPECT_GE(tried.predicted.prediction.step_time_s * (1 + 1e-9), bytes.seconds)
            << to_text(tried.job);
        RandomJob unhidden = tried.job;
        unhidden.nothing_hidden = true;
        const Crossing in_the_open = crossing(scenario_of(unhidden));
        for (std::size_t link = 0; link < bytes.bytes.size(); ++link)
            EXPECT_NEAR(bytes.bytes[link], in_the_open.bytes[link], 1e-6 * bytes.bytes[link] + 100)
                << "hiding moves no byte less, link " << link << " of\n"
                << to_text(tried.job);
    }
}

/// Llama 3 8B, ZeRO-2 over four DGX A100 with cards of 100 Gb/s.
scenarios::Scenario reduces_after_every_backward(int seq_length) {
    return scenarios::parse_scenario(
        fmt::format("model: llama3-8b\ncluster: dgx-a100-80gb\nnodes: 4\n"
                    "parallel: {{tensor: 8, data: 4, zero_stage: 2}}\nschedule: 1f1b\n"
                    "training: {{micro_batches: 8, micro_batch: 1, global_batch: 32, "
                    "seq_length: {}}}\nframework: megatron-2024\n",
                    seq_length),
        "zero-2.yaml", {{"cluster.network.nic_bandwidth", "100 Gb/s"}});
}

TEST(StepOrder, WhatHidesBesideTheNextMicrobatchIsOnTheWireAllTheSame) {
    const auto step = [](int seq_length) {
        return predict(reduces_after_every_backward(seq_length)).prediction.step_time_s;
    };
    // A GPU sums its eighth of the gradients in fp32 over a ring of four, eight times, by a card.
    const scenarios::Scenario job = reduces_after_every_backward(256);
    const auto elements = static_cast<double>(models::parameter_count(job.model)) / 8;
    const double wire = 8 * elements * 4 * (3.0 / 4) / (12.5e9 * job.cluster.network.efficiency);
    EXPECT_GT(wire, 2);
    EXPECT_GT(step(256), wire);
    EXPECT_GE(step(4096), step(256)) << "more work";
}

}  // namespace
}  // namespace debubble::sim
