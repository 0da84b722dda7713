#include "tests/exec/support/training_job.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <mutex>

#include <fmt/format.h>

#include "exec/comm/transports.h"
#include "exec/core/pieces/pieces.h"
#include "exec/core/stage/operators/executor_scenario.h"
#include "exec/cpu/cpu_kernels.h"
#include "exec/io/checkpoint/checkpoint.h"
#include "scenarios/plan/derived.h"
#include "scenarios/read/read_scenario.h"
#include "schedule/dependencies.h"

namespace debubble::exec {

namespace {

constexpr int kSamples = 8;  ///< samples of a step; microbatches have one each
constexpr int kHalves = 2;   ///< halves of a sequence: two sequence-parallel ranks see one each

const std::map<std::string, std::string> kModels{
    {"gpt2",
     "{name: tiny, family: gpt2, layers: 4, hidden: 12, heads: 2, vocab: 13, "
     "max_positions: 8, dropout: 0}"},
    {"llama",
     "{name: tiny, family: llama, layers: 4, hidden: 8, heads: 4, kv_heads: 2, ffn: 12, "
     "vocab: 11, max_positions: 8}"},
    // Norms whose weights are w of 1 + w, and biases.
    {"centred",
     "{name: tiny, family: llama, layers: 4, hidden: 8, heads: 4, kv_heads: 2, ffn: 12, "
     "vocab: 11, max_positions: 8, norm: layer_norm, zero_centred_norms: true, qk_norm: heads, "
     "linear_bias: true}"},
    {"deepseek",
     "{name: tiny, family: deepseek, layers: 4, hidden: 8, heads: 4, kv_heads: 2, ffn: 4, "
     "vocab: 11, max_positions: 8, experts: 4, experts_per_token: 2, router: sigmoid, "
     "router_bias_correction: true, layer_groups: [{count: 1, experts: 0}, {count: 3}]}"},
    {"experts",
     "{name: tiny, family: llama, layers: 4, hidden: 8, heads: 4, kv_heads: 2, ffn: 6, "
     "vocab: 11, max_positions: 8, experts: 4, experts_per_token: 2}"},
    {"vit",
     "{name: tiny, family: vit, layers: 2, hidden: 8, heads: 2, vocab: 5, image_size: 4, "
     "patch_size: 2}"}};

/// splitmix64's finalizer.
std::uint64_t mixed(std::uint64_t x) {
    x = (x ^ (x >> 30)) * 0xbf58476d1ce4e5b9;
    x = (x ^ (x >> 27)) * 0x94d049bb133111eb;
    return x ^ (x >> 31);
}

/// The part that half of a sample's positions adds to the gradient of an element of the whole
/// tensor.
struct MadeUp {
    std::uint64_t seed;
    bool rough;

    MadeUp(const std::string& role, int step, int sample, int half, bool rough_numbers)
        : seed(mixed(stream_of(7, role).id ^ mixed(step * 1000 + sample * 10 + half))),
          rough(rough_numbers) {}
    double operator()(std::int64_t element) const {
        const std::uint64_t word = mixed(seed + 0x9e3779b97f4a7c15 * (element + 1));
        if (rough) return static_cast<double>(word >> 40) / (1 << 24) - 0.5;
        return static_cast<double>(static_cast<int>(word % 17) - 8) / 64;
    }
};

/// The parts that a parameter plays: embedding and head where it is both.
std::vector<std::string> roles_of(const models::StageGraph& graph,
                                  const models::Parameter& parameter) {
    if (!parameter.tied_to.empty()) return {"head"};
    const bool both = graph.architecture.tied_embedding && graph.content.head &&
                      parameter.sharding != models::Sharding::Replicated &&
                      parameter.name == graph.parameters.front().name && graph.content.embedding;
    if (both) return {parameter.name, "head"};
    return {parameter.name};
}

/// One rank of the job, walking through its Program.
struct JobRank {
    const Layout& layout;
    const scenarios::Scenario& scenario;
    const scenarios::Plan& plan;
    DeviceLanes* lanes;  ///< of the rank's device; nullptr: the processor computes
    RankTraining training;
    std::vector<models::StageGraph> graphs = {};  ///< by stage
    std::vector<Pending> gathers = {};            ///< by stage
    std::vector<Pending> reductions = {};
    std::vector<Pending> last = {};
    int step = 0;

    static void wait(Pending& pending) {
        if (pending) pending->wait(within(std::chrono::seconds(60)));
        pending = nullptr;
    }

    int sample_of(const GridPlace& at, const Compute& compute) const {
        return at.data * scenario.training.micro_batches + compute.micro_batch.index;
    }
    /// Samples, and halves of them, whose gradient of a parameter this rank makes: its own or, of
    /// an expert, those of all ranks whose rows come to it.
    std::vector<std::pair<int, int>> seen_by(const models::Parameter& parameter,
                                             const models::Execution& execution,
                                             const Compute& compute) const {
        const TrainingGroups& groups = *training.groups;
        std::vector<int> ranks{groups.grid.global_rank(groups.place)};
        if (parameter.expert) ranks = groups.grid.expert_block_group(groups.place);
        const bool whole = parameter.sharding == models::Sharding::Replicated || parameter.expert;
        std::vector<std::pair<int, int>> seen;
        for (const int rank : ranks) {
            const GridPlace at = groups.grid.place_of(rank);
            for (int half = 0; half < kHalves; ++half)
                if (!whole || !execution.sequence_parallel || half == at.tensor)
                    seen.emplace_back(sample_of(at, compute), half);
        }
        return seen;
    }

    void add_gradient(const Compute& compute, TrainedStage& state, int parameter) {
        const models::StageGraph& graph = graphs[compute.stage.index];
        const models::Parameter& described = state.parameters()[parameter];
        const int sample = sample_of(training.groups->place, compute);
        HostCopies host(*training.kernels);
        const TensorView gradient = host.of(state.gradient(parameter));
        const Dimensions strides = row_major_strides(described.shape);
        for (const std::string& role : roles_of(graph, described)) {
            for (const auto& [of_sample, half] : seen_by(described, graph.execution, compute)) {
                const MadeUp made(role, step, of_sample, half, layout.rough);
                for (const Slice& slice :
                     slices_of(described, graph.execution, state.cutting_rank(parameter)))
                    for (std::int64_t e = 0; e < slice.box.elements(); ++e) {
                        std::int64_t rest = e, global = 0, local = slice.offset;
                        for (std::size_t d = strides.size(); d-- > 0;) {
                            const std::int64_t i = rest % slice.box.extent[d];
                            rest /= slice.box.extent[d];
                            global += (slice.box.begin[d] + i) * strides[d];
                            local += i * slice.strides[d];
                        }
                        add(gradient, local, made(global) * training.step->loss_scale());
                    }
            }
        }
        const bool overflows = std::ranges::count(layout.overflowing_steps, step) > 0;
        if (overflows && sample == kSamples - 1 && role_is_last(graph, parameter))
            add(gradient, 0, std::numeric_limits<double>::infinity());
        host.write_back();
    }
    static bool role_is_last(const models::StageGraph& graph, int parameter) {
        return graph.content.head && parameter + 1 == static_cast<int>(graph.parameters.size());
    }
    static void add(const TensorView& to, std::int64_t at, double value) {
        if (to.type == DataType::Fp32) {
            to.as<float>()[at] += static_cast<float>(value);
            return;
        }
        const Tensor sum({1});
        const TensorView element{to.data + at * size_of(to.type), {1}, to.type};
        const auto kernels = make_fixed_order_kernels();
        kernels->copy(element, sum.view());
        sum.as<float>()[0] += static_cast<float>(value);
        kernels->copy(sum.view(), element);
    }

    /// Tokens for the experts of each layer, as many as come from this microbatch's sample.
    void add_loads(const Compute& compute, TrainedStage& state) const {
        const int sample = training.groups->place.data * scenario.training.micro_batches +
                           compute.micro_batch.index;
        for (const RouterState::Layer& layer : state.routers().layers()) {
            const MadeUp made(fmt::format("loads of layer {}", layer.layer), step, sample, 0,
                              false);
            const View<float> loads = state.expert_loads(layer.layer).as<float>();
            for (std::int64_t e = 0; e < layer.experts; ++e)
                loads[e] += static_cast<float>(made(e) + 1);
        }
    }

    void pass(const Compute& compute) {
        wait(gathers[compute.stage.index]);
        TrainedStage& state = training.state_of(compute.stage);
        if (compute.pass == Pass::Forward) add_loads(compute, state);
        const bool adds = compute.pass == Pass::Backward || compute.pass == Pass::BackwardWeight;
        if (adds) wait(reductions[compute.stage.index]);
        std::vector<std::optional<int>> layers;
        for (const UnitState& unit : state.units())
            if (std::ranges::find(layers, unit.unit().layer) == layers.end())
                layers.push_back(unit.unit().layer);
        state.begin_pass(layers, PassReads::Parameters);
        for (const std::optional<int>& layer : layers) {
            state.open(layer);
            for (const UnitState& unit : state.units()) {
                if (unit.unit().layer != layer) continue;
                for (const UnitSlot& slot : unit.unit().slots) {
                    (void)state.value(slot.parameter);  // is there
                    if (adds) add_gradient(compute, state, slot.parameter);
                }
            }
            state.close(layer);
        }
        state.end_pass();
    }

    void act(const Action& action) {
        TrainingStep& actions = *training.step;
        if (const auto* a = std::get_if<Unshard>(&action))
            gathers[a->stage.index] = actions.unshard(a->stage);
        if (const auto* a = std::get_if<Reshard>(&action)) actions.reshard(a->stage);
        if (const auto* a = std::get_if<ReduceGrad>(&action))
            reductions[a->stage.index] = actions.reduce_grad(a->stage);
        if (const auto* a = std::get_if<TiedGradReduce>(&action))
            last.push_back(actions.tied_grad_reduce(a->stage));
        if (std::holds_alternative<GradNorm>(action)) {
            for (Pending& reduction : reductions) wait(reduction);
            last.push_back(actions.grad_norm());
        }
        if (std::holds_alternative<OptimizerStep>(action)) actions.optimizer_step();
    }

    void run_step(int number) {
        step = number;
        if (lanes != nullptr) lanes->begin_step();
        training.step->begin_step(number);
        const ActionList& list = plan.program.ranks[training.groups->place.pipeline];
        for (std::size_t i = 0; i < list.size(); ++i) {
            for_each_compute(list[i], [&](const Compute& compute) {
                if (reduction_follows(list, i, compute))
                    training.step->reduction_follows(compute.stage);
                pass(compute);
            });
            act(list[i]);
        }
        for (Pending& pending : last) wait(pending);
        for (Pending& pending : gathers) wait(pending);
        last.clear();
        if (lanes != nullptr) lanes->finish();
    }

    /// Whether all that passes would see is `weights`, rounded to the compute type.
    bool sees(const GlobalTensors& weights) {
        bool equal = true;
        for (const LocalStage& local : training.stages) {
            TrainedStage& state = *local.state;
            if (state.policy().shares_values() && !state.policy().gathers_in_passes) {
                Pending gathered = training.step->unshard(local.stage);
                wait(gathered);
            }
            state.begin_pass({}, PassReads::Parameters);
            for (const UnitState& unit : state.units()) state.open(unit.unit().layer);
            for (std::size_t p = 0; p < state.parameters().size(); ++p) {
                const models::Parameter& parameter = state.parameters()[p];
                HostCopies host(*training.kernels);
                const TensorView value = host.of(state.value(static_cast<int>(p)));
                const Tensor expected(value.shape, value.type);
                for (const Slice& slice : slices_of(parameter, state.execution(),
                                                    state.cutting_rank(static_cast<int>(p)))) {
                    const Slice all{whole(parameter.shape), 0, row_major_strides(parameter.shape)};
                    copy_box(slice.box, all, DataType::Fp32,
                             reinterpret_cast<const std::byte*>(
                                 weights.at(stored_name(parameter)).data()),
                             slice, value.type, expected.view().data);
                }
                equal = equal &&
                        std::equal(value.data, value.data + value.bytes(), expected.view().data);
            }
            for (const UnitState& unit : state.units()) state.close(unit.unit().layer);
            state.end_pass();
        }
        return equal;
    }
};

void save(const JobCheckpoint& checkpoint, const JobRank& rank, Communicator& world) {
    const CheckpointWriter writer(checkpoint.save_to, 1, world.size());
    writer.write_rank(world.global_rank(), rank.training.pieces_to_save());
    world.barrier("checkpoint")->wait(within(std::chrono::seconds(60)));
    if (world.global_rank() != 0) return;
    Manifest manifest;
    manifest.training.step = 1;
    manifest.training.optimizer_steps = rank.training.step->steps_taken();
    manifest.training.loss_scale = rank.training.step->loss_scale_state();
    manifest.program_sha256 = program_hash(rank.plan.program);
    manifest.layout.ranks = world.size();
    manifest.architecture = rank.scenario.model;
    writer.commit(manifest);
}

void load_state(const JobCheckpoint& from, JobRank& rank) {
    const Checkpoint checkpoint = open_checkpoint(from.load_from + "/step_1");
    load(checkpoint.pieces, rank.training.pieces_to_load(from.wanted));
    if (from.wanted == Wanted::Everything)
        rank.training.step->restore(checkpoint.manifest.training.optimizer_steps,
                                    checkpoint.manifest.training.loss_scale);
}

}  // namespace

scenarios::Scenario scenario_of(const Layout& layout) {
    return scenarios::parse_scenario(
        fmt::format(R"(
model: {}
cluster: dgx-a100-40gb
parallel: {}
schedule: {}
framework: {{base: debubble, post_validation: {}}}
training:
  global_batch: {}
  micro_batch: 1
  seq_length: {}
  precision: {}
  seed: 5
  {}
)",
                    kModels.at(layout.model), layout.parallel, layout.schedule,
                    layout.post_validation, kSamples, layout.model == "vit" ? 5 : 4,
                    layout.precision, layout.training),
        "layout.yaml");
}

JobResult run_job(const Layout& layout, int steps, const JobCheckpoint& checkpoint) {
    const scenarios::Scenario scenario = executor_scenario(scenario_of(layout));
    const scenarios::Plan plan = scenarios::make_plan(scenario);
    const TrainingOptions options = training_options(scenario);
    JobResult result;
    result.held.resize(scenario.parallel.gpus());
    std::mutex mutex;  // guards result
    run_local(scenario.parallel.gpus(), Transport::Buffered, [&](Communicator& hosts) {
        const std::unique_ptr<Device> device =
            layout.device ? layout.device(hosts.global_rank(), hosts.size()) : nullptr;
        DeviceLanes* const lanes = device ? &device->lanes() : nullptr;
        const std::unique_ptr<Communicator> devices = device ? hosts.on_device(*lanes) : nullptr;
        Communicator& world = devices ? *devices : hosts;
        const auto kernels = device ? device->make_kernels() : make_fixed_order_kernels();
        Arena arena(Bytes{1 << 26}, device.get());
        JobRank rank{layout, scenario, plan, lanes,
                     make_rank_training(scenario, plan, options, world, *kernels, arena,
                                        std::chrono::seconds(60))};
        for (const models::StageContent& content : plan.stages)
            rank.graphs.push_back(
                models::build_stage(scenario.model, scenarios::execution_of(scenario), content));
        rank.gathers.resize(plan.stages.size());
        rank.reductions.resize(plan.stages.size());
        {
            const std::lock_guard lock(mutex);
            result.held[world.global_rank()] = arena.held();
        }
        if (!checkpoint.load_from.empty()) load_state(checkpoint, rank);
        for (int step = checkpoint.first_step; step < checkpoint.first_step + steps; ++step) {
            rank.run_step(step);
            if (world.global_rank() == 0) result.outcomes.push_back(rank.training.step->outcome());
        }
        {
            const std::lock_guard lock(mutex);
            put_weights(rank.training.pieces_to_save(), result.weights);
        }
        if (!checkpoint.save_to.empty()) save(checkpoint, rank, world);
        world.barrier("weights")->wait(within(std::chrono::seconds(60)));
        const bool agrees = rank.sees(result.weights);
        const std::lock_guard lock(mutex);
        result.copies_agree = result.copies_agree && agrees;
    });
    return result;
}

std::map<std::string, std::vector<double>> global_gradient(const Layout& layout, int step) {
    const scenarios::Scenario scenario = scenario_of(layout);
    models::Execution execution = scenarios::execution_of(executor_scenario(scenario));
    execution.expert = 1;  // the experts of all ranks
    const models::StageGraph graph = models::build_stage(
        scenario.model, execution, {0, scenario.model.layers.count(), true, true});
    std::map<std::string, std::vector<double>> gradient;
    for (const models::Parameter& parameter : graph.parameters) {
        std::vector<double> sum(static_cast<std::size_t>(parameter.elements()), 0);
        for (const std::string& role : roles_of(graph, parameter))
            for (int sample = 0; sample < kSamples; ++sample)
                for (int half = 0; half < kHalves; ++half) {
                    const MadeUp made(role, step, sample, half, layout.rough);
                    for (std::size_t e = 0; e < sum.size(); ++e)
                        sum[e] += made(static_cast<std::int64_t>(e));
                }
        gradient[stored_name(parameter)] = std::move(sum);
    }
    return gradient;
}

}  // namespace debubble::exec
