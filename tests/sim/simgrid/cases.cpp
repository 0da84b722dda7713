#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <utility>

#include <fmt/format.h>

#include "scenarios/plan/plan.h"
#include "scenarios/read/read_scenario.h"
#include "sim/cost/physical_models.h"
#include "sim/engine/build_task_graph.h"
#include "sim/engine/simulate.h"
#include "sim/network/topology.h"
#include "tests/sim/simgrid/shared_links.h"

namespace debubble::sim {
namespace {

double log_uniform(std::mt19937& random, double from, double to) {
    return std::exp(std::uniform_real_distribution(std::log(from), std::log(to))(random));
}
int uniform(std::mt19937& random, int from, int to) {
    return std::uniform_int_distribution(from, to)(random);
}

/// So many GPUs of DGX A100, each a pipeline rank; two nodes to a leaf, spines half as wide.
scenarios::Scenario dgx_a100(int ranks) {
    return scenarios::parse_scenario(
        fmt::format("model: gpt3-175b\n"
                    "cluster: dgx-a100-80gb\n"
                    "gpus: {0}\n"
                    "parallel: {{tensor: 1, pipeline: {0}}}\n"
                    "training: {{global_batch: 64, micro_batch: 1, seq_length: 2048}}\n",
                    ranks),
        "dgx_a100.yaml",
        {{"cluster.network.nodes_per_leaf", "2"}, {"cluster.network.oversubscription", "2"}});
}

std::vector<double> capacity_of(std::span<const BytesPerSecond> links) {
    std::vector<double> capacity;
    for (const BytesPerSecond link : links) capacity.push_back(link.value);
    return capacity;
}

Item item_of(const Flow& flow) {
    return {flow.latency, flow.bytes, flow.links, {}, {}};
}

void add_ring(Case& to, const Topology& topology, int gpus, Bytes bytes, int distance) {
    constexpr Duration kHop = std::chrono::microseconds(5);
    const int steps = 2 * (gpus - 1);
    const auto first = static_cast<std::int32_t>(to.items.size());
    const auto at = [&](int step, int gpu) { return first + step * gpus + gpu; };
    for (int step = 0; step < steps; ++step)
        for (int gpu = 0; gpu < gpus; ++gpu) {
            const int next = (gpu + distance) % gpus;
            Item item =
                item_of(topology.message(Rank{gpu}, Rank{next}, Bytes{bytes.count / gpus}, kHop));
            if (step + 1 < steps) item.after_end = {at(step + 1, gpu), at(step + 1, next)};
            to.items.push_back(std::move(item));
        }
}

/// The task that an action of a rank became. Actions of one rank's list differ.
std::map<std::pair<Rank, Action>, TaskId> tasks_by_action(const Program& program,
                                                          const TaskGraph& graph) {
    std::map<std::pair<Rank, Action>, TaskId> tasks;
    for (int rank = 0; rank < program.shape.ranks; ++rank)
        for (std::size_t i = 0; i < program.ranks[rank].size(); ++i)
            tasks[{Rank{rank}, program.ranks[rank][i]}] = graph.tasks_of[rank][i].last;
    return tasks;
}

}  // namespace

Case random_case(std::mt19937& random) {
    Case made;
    const int links = uniform(random, 2, 6);
    for (int i = 0; i < links; ++i) made.capacity.push_back(log_uniform(random, 1e9, 1e11));
    const int flows = uniform(random, 2, 12);
    for (int i = 0; i < flows; ++i) {
        Item item;
        item.delay = Duration{uniform(random, 0, 20'000'000)};
        item.bytes = Bytes{static_cast<std::int64_t>(log_uniform(random, 1e6, 1e9))};
        std::vector<std::int32_t> all(links);
        for (int link = 0; link < links; ++link) all[link] = link;
        std::ranges::shuffle(all, random);
        for (int link = uniform(random, 1, std::min(links, 4)); link > 0; --link)
            item.links.push_back(all[link - 1]);
        if (i > 0 && uniform(random, 0, 3) == 0)
            made.items[uniform(random, 0, i - 1)].after_end.push_back(i);
        made.items.push_back(std::move(item));
    }
    play_here(made);
    return made;
}

Case ring_case(int gpus, Bytes bytes, bool crossed) {
    const scenarios::Scenario scenario = dgx_a100(gpus);
    const Topology topology(scenario);
    Case made;
    made.capacity = capacity_of(topology.links());
    add_ring(made, topology, gpus, bytes, 1);
    if (crossed) add_ring(made, topology, gpus, bytes * 2, gpus / 2 + 1);
    play_here(made);
    return made;
}

Case tiers_case(int ranks, Bytes bytes) {
    const scenarios::Scenario scenario = dgx_a100(ranks);
    const Topology topology(scenario);
    Case made;
    made.capacity = capacity_of(topology.links());
    for (int from = 0; from < ranks; ++from)
        for (int to = 0; to < ranks; ++to)
            if (from != to)
                made.items.push_back(item_of(topology.message(
                    Rank{from}, Rank{to}, bytes * (1 + (from + to) % 5), Duration{20'000})));
    play_here(made);
    return made;
}

/// Items for the bytes of a task's flow on its other tiers, and one that begins when all of it has
/// arrived, by which what waits for the task's end begins. Returns the last one.
std::int32_t add_parts(Case& to, std::int32_t task, const TaskGraph& graph) {
    const Task& of = graph.tasks[task];
    if (!of.is_flow || graph.flows[of.cost].also.empty()) return task;
    const Flow& flow = graph.flows[of.cost];
    Item all;
    all.after_end = std::exchange(to.items[task].after_end, {});
    const auto last = static_cast<std::int32_t>(to.items.size() + flow.also.size());
    to.items[task].after_end.push_back(last);
    for (const LinkBytes& part : flow.also) {
        to.items[task].after_begin.push_back(static_cast<std::int32_t>(to.items.size()));
        to.items.push_back({flow.latency, part.bytes, part.links, {}, {last}});
    }
    to.items.push_back(std::move(all));
    return last;
}

Case program_case(const std::string& name) {
    const scenarios::Scenario scenario = scenarios::read_scenario(name);
    const scenarios::Plan plan = scenarios::make_plan(scenario);
    const auto prices =
        std::make_shared<const SchedulePrices>(scenario, plan.stages, plan.schedule);
    const auto costs = make_cost_model(prices);
    const auto memory = make_memory_model(prices);
    const bool blocks = scenarios::sends_block(scenario);
    SimulateOptions how;
    how.header.sends_block = blocks;
    const TaskGraph graph = build_task_graph(plan.program, *costs, *memory, how);

    Case made;
    made.capacity = capacity_of(costs->links());
    for (std::size_t i = 0; i < graph.tasks.size(); ++i) {
        const Task& task = graph.tasks[i];
        const auto id = static_cast<TaskId>(i);
        Item item;
        if (task.is_flow)
            item = item_of(graph.flows[task.cost]);
        else
            item.delay = graph.compute_costs[task.cost].duration;
        std::ranges::copy(graph.after_begin.of(id), std::back_inserter(item.after_begin));
        std::ranges::copy(graph.after_end.of(id), std::back_inserter(item.after_end));
        made.items.push_back(std::move(item));
    }
    std::vector<std::int32_t> ends(graph.tasks.size());
    for (std::size_t i = 0; i < graph.tasks.size(); ++i)
        ends[i] = add_parts(made, static_cast<std::int32_t>(i), graph);
    made.ends.assign(made.items.size(), std::numeric_limits<double>::quiet_NaN());
    const Simulation simulation = simulate(plan.program, *costs, *memory, how);
    const auto tasks = tasks_by_action(plan.program, graph);
    for (const Span& span : simulation.trace.spans)
        made.ends[ends[tasks.at({span.rank, span.action})]] = seconds(span.end.time_since_epoch());
    return made;
}

}  // namespace debubble::sim
