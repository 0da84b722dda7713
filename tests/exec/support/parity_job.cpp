#include "tests/exec/support/parity_job.h"

#include <algorithm>
#include <map>
#include <mutex>
#include <random>

#include <fmt/format.h>

#include "base/file.h"
#include "exec/comm/local.h"
#include "exec/cpu/cpu_kernels.h"
#include "scenarios/read_scenario.h"
#include "schedule/csv.h"
#include "schedule/generators/generators.h"
#include "tests/exec/support/scratch_folder.h"
#include "tests/schedule/with_offload.h"

namespace debubble::exec::parity {

namespace {

const std::map<std::string, std::string> kModels{
    {"gpt2",
     "{name: tiny, family: gpt2, layers: 8, hidden: 16, heads: 4, vocab: 27, "
     "max_positions: 8, dropout: 0}"},
    {"gpt2-dropout",
     "{name: tiny, family: gpt2, layers: 8, hidden: 16, heads: 4, vocab: 27, "
     "max_positions: 8, dropout: 0.2}"},
    {"gpt2-wide",
     "{name: wide, family: gpt2, layers: 8, hidden: 64, heads: 4, vocab: 203, "
     "max_positions: 64, dropout: 0}"},
    {"llama-wide",
     "{name: wide, family: llama, layers: 8, hidden: 64, heads: 4, kv_heads: 2, ffn: 160, "
     "vocab: 203, max_positions: 64}"},
    {"llama-vocabulary",
     "{name: wide, family: llama, layers: 4, hidden: 64, heads: 4, kv_heads: 2, ffn: 160, "
     "vocab: 3001, max_positions: 64}"},
    {"llama",
     "{name: tiny, family: llama, layers: 8, hidden: 16, heads: 4, kv_heads: 2, ffn: 24, "
     "vocab: 22, max_positions: 8}"},
    // Kinds of attention and MLPs that have no parameters of their own, or of their heads alone.
    {"heads",
     "{name: tiny, family: llama, layers: 8, hidden: 16, heads: 4, kv_heads: 2, head_dim: 6, "
     "ffn: 24, vocab: 22, max_positions: 8, scaled_embedding: true, qkv_bias: true, "
     "qk_norm: heads, layer_groups: [{count: 2, pattern: [{window: 3, rope_theta: 100}, "
     "{chunk: 3, positions: none, query_temperature: {floor: 2, scale: 0.5}}, "
     "{head_dim: 8, rotary_dim: 4, activation: geglu_tanh, score_softcap: 2, "
     "rope_scaling: {type: llama3, factor: 4, original_positions: 8}}, "
     "{qk_norm: none, activation: squared_relu, "
     "rope_scaling: {type: yarn, factor: 4, original_positions: 8}}]}]}"},
    // Norms and parts at other places, and what caps scores and logits or takes part in a softmax.
    {"places",
     "{name: tiny, family: llama, layers: 8, hidden: 16, heads: 4, kv_heads: 2, head_dim: 6, "
     "ffn: 24, vocab: 22, max_positions: 8, logit_softcap: 3, zero_centred_norms: true, "
     "layer_groups: "
     "[{count: 2, pattern: [{sinks: true, window: 3}, {norm_position: both}, "
     "{norm_position: after, qk_norm: width}, {parallel_residual: true, qk_norm: l2}]}]}"},
    {"heads-wide",
     "{name: wide, family: llama, layers: 8, hidden: 64, heads: 4, kv_heads: 2, ffn: 160, "
     "vocab: 203, max_positions: 64, qkv_bias: true, qk_norm: heads, window: 17, rotary_dim: 8, "
     "activation: geglu}"},
    {"sinks-wide",
     "{name: wide, family: llama, layers: 8, hidden: 64, heads: 4, kv_heads: 2, ffn: 160, "
     "vocab: 203, max_positions: 64, sinks: true, window: 17}"},
    {"norms-both-wide",
     "{name: wide, family: llama, layers: 8, hidden: 64, heads: 4, kv_heads: 2, ffn: 160, "
     "vocab: 203, max_positions: 64, norm_position: both}"},
    {"norms-after-wide",
     "{name: wide, family: llama, layers: 8, hidden: 64, heads: 4, kv_heads: 2, ffn: 160, "
     "vocab: 203, max_positions: 64, norm_position: after, qk_norm: width}"},
    {"parallel-wide",
     "{name: wide, family: llama, layers: 8, hidden: 64, heads: 4, kv_heads: 2, ffn: 160, "
     "vocab: 203, max_positions: 64, parallel_residual: true, qk_norm: l2}"},
    {"latent-wide",
     "{name: wide, family: deepseek, layers: 8, hidden: 64, heads: 4, ffn: 160, vocab: 203, "
     "max_positions: 64, latent_attention: {query_rank: 24, key_rank: 16, head_dim: 16, "
     "rope_dim: 8, value_dim: 12}}"},
    {"latent",
     "{name: tiny, family: deepseek, layers: 8, hidden: 16, heads: 4, ffn: 24, vocab: 22, "
     "max_positions: 8, rope_scaling: {type: yarn, factor: 4, original_positions: 8, mscale: 1}, "
     "latent_attention: {query_rank: 6, key_rank: 5, head_dim: 4, rope_dim: 2, value_dim: 3}, "
     "layer_groups: [{count: 4}, {count: 4, latent_attention: "
     "{key_rank: 6, head_dim: 2, rope_dim: 4, value_dim: 5}}]}"},
    {"mixtral",
     "{name: tiny, family: llama, layers: 8, hidden: 16, heads: 4, kv_heads: 2, ffn: 24, "
     "vocab: 22, max_positions: 8, experts: 4, experts_per_token: 2}"},
    {"mixtral-odd",
     "{name: tiny, family: llama, layers: 8, hidden: 16, heads: 4, kv_heads: 2, ffn: 24, "
     "vocab: 22, max_positions: 8, experts: 5, experts_per_token: 3}"},
    {"mixtral-many",
     "{name: wide, family: llama, layers: 8, hidden: 32, heads: 4, kv_heads: 2, ffn: 16, "
     "vocab: 203, max_positions: 64, experts: 128, experts_per_token: 2}"},
    {"mixtral-wide",
     "{name: wide, family: llama, layers: 8, hidden: 64, heads: 4, kv_heads: 2, ffn: 96, "
     "vocab: 203, max_positions: 64, experts: 4, experts_per_token: 2}"},
    // A dense layer of another width first, then experts beside which every token has one more.
    {"shared-experts",
     "{name: tiny, family: deepseek, layers: 8, hidden: 16, heads: 4, kv_heads: 2, ffn: 12, "
     "vocab: 22, max_positions: 8, experts: 4, experts_per_token: 2, shared_ffn: 20, "
     "layer_groups: [{count: 1, experts: 0, ffn: 40}, {count: 7}]}"},
    {"shared-experts-wide",
     "{name: wide, family: deepseek, layers: 8, hidden: 64, heads: 4, kv_heads: 2, ffn: 48, "
     "vocab: 203, max_positions: 64, experts: 4, experts_per_token: 2, shared_ffn: 80, "
     "layer_groups: [{count: 2, experts: 0, ffn: 160}, {count: 6}]}"},
    // DeepSeek-V3's router: sigmoids, groups, a correction of the choice.
    {"sigmoid-experts",
     "{name: tiny, family: deepseek, layers: 8, hidden: 16, heads: 4, kv_heads: 2, ffn: 12, "
     "vocab: 22, max_positions: 8, experts: 8, experts_per_token: 2, shared_ffn: 20, "
     "router: sigmoid, router_groups: 4, router_groups_chosen: 2, router_scaling: 2.5, "
     "router_bias_correction: true, router_dtype: fp32, "
     "layer_groups: [{count: 1, experts: 0, ffn: 40}, {count: 7}]}"},
    {"sigmoid-experts-wide",
     "{name: wide, family: deepseek, layers: 8, hidden: 64, heads: 4, kv_heads: 2, ffn: 48, "
     "vocab: 203, max_positions: 64, experts: 8, experts_per_token: 2, shared_ffn: 80, "
     "router: sigmoid, router_groups: 4, router_groups_chosen: 2, router_scaling: 2.5, "
     "router_bias_correction: true, router_dtype: fp32, "
     "layer_groups: [{count: 1, experts: 0, ffn: 160}, {count: 7}]}"},
    // Qwen3-Next's experts beside common attention.
    {"gated-shared-experts",
     "{name: tiny, family: qwen3_next, layers: 8, hidden: 16, heads: 4, kv_heads: 2, ffn: 12, "
     "vocab: 22, max_positions: 8, experts: 6, experts_per_token: 3, shared_ffn: 12, "
     "shared_gate: true}"},
    // Qwen3-Next's attention, MPT's, and Llama 4's experts and layers without positions.
    {"gated-attention",
     "{name: tiny, family: qwen3_next, layers: 8, hidden: 16, heads: 4, kv_heads: 2, head_dim: 6, "
     "ffn: 24, vocab: 22, max_positions: 8, qk_norm: heads, rotary_dim: 4, output_gate: true}"},
    {"gated-attention-wide",
     "{name: wide, family: qwen3_next, layers: 8, hidden: 64, heads: 4, kv_heads: 2, ffn: 160, "
     "vocab: 203, max_positions: 64, qk_norm: heads, rotary_dim: 8, output_gate: true}"},
    {"alibi",
     "{name: tiny, family: mpt, layers: 8, hidden: 24, heads: 6, vocab: 27, max_positions: 8, "
     "dropout: 0, activation: gelu, positions: alibi, linear_bias: false, norm_bias: false}"},
    {"weighed-experts",
     "{name: tiny, family: llama4, layers: 8, hidden: 16, heads: 4, kv_heads: 2, ffn: 12, "
     "vocab: 22, max_positions: 8, experts: 4, experts_per_token: 2, shared_ffn: 12, "
     "router: sigmoid, router_renormalises: false, weighs_experts_input: true, layer_groups: "
     "[{count: 4, pattern: [{qk_norm: l2, chunk: 5}, {positions: none, query_temperature: "
     "{floor: 2, scale: 0.5}}]}]}"},
    {"weighed-experts-wide",
     "{name: wide, family: llama4, layers: 8, hidden: 64, heads: 4, kv_heads: 2, ffn: 48, "
     "vocab: 203, max_positions: 64, experts: 4, experts_per_token: 2, shared_ffn: 80, "
     "router: sigmoid, router_renormalises: false, weighs_experts_input: true}"},
    // Experts that are not gated, and gpt-oss's gates and biases.
    {"squared-relu-experts",
     "{name: tiny, family: deepseek, layers: 8, hidden: 16, heads: 4, kv_heads: 2, ffn: 12, "
     "vocab: 22, max_positions: 8, experts: 4, experts_per_token: 2, shared_ffn: 20, "
     "activation: squared_relu}"},
    {"clamped-experts",
     "{name: tiny, family: gpt_oss, layers: 8, hidden: 16, heads: 4, kv_heads: 2, ffn: 12, "
     "vocab: 22, max_positions: 8, experts: 4, experts_per_token: 2, activation: clamped_swiglu, "
     "linear_bias: true, router_bias: true}"},
    // DeepSeek-V2's: the softmax of all logits, groups by their best expert.
    {"pre-softmax-experts",
     "{name: tiny, family: deepseek, layers: 8, hidden: 16, heads: 4, kv_heads: 2, ffn: 12, "
     "vocab: 22, max_positions: 8, experts: 6, experts_per_token: 2, shared_ffn: 20, "
     "router: pre_softmax, router_groups: 3, router_groups_chosen: 2, router_scaling: 4}"},
    // Multi-token prediction beside experts, and beside one table of embeddings and head.
    {"predicting-experts",
     "{name: tiny, family: deepseek, layers: 8, hidden: 16, heads: 4, kv_heads: 2, ffn: 12, "
     "vocab: 22, max_positions: 8, experts: 4, experts_per_token: 2, shared_ffn: 20, "
     "mtp_layers: 2, layer_groups: [{count: 1, experts: 0, ffn: 40}, {count: 7}]}"},
    {"predicting",
     "{name: tiny, family: llama, layers: 8, hidden: 16, heads: 4, kv_heads: 2, ffn: 24, "
     "vocab: 22, max_positions: 8, tied_embedding: true, mtp_layers: 2}"},
    {"predicting-wide",
     "{name: wide, family: llama, layers: 8, hidden: 64, heads: 4, kv_heads: 2, ffn: 160, "
     "vocab: 203, max_positions: 64, mtp_layers: 2}"},
    {"predicting-untied",
     "{name: tiny, family: llama, layers: 8, hidden: 16, heads: 4, kv_heads: 2, ffn: 24, "
     "vocab: 22, max_positions: 8, scaled_embedding: true, logit_softcap: 3, mtp_layers: 1}"},
    {"vit",
     "{name: tiny, family: vit, layers: 8, hidden: 16, heads: 4, vocab: 5, image_size: 4, "
     "patch_size: 2}"}};

constexpr std::int32_t kIgnored = -100;

/// One sample of the step's global batch, the same for every caller.
struct Sample {
    Tensor inputs;
    Tensor targets;
};

/// A batch of as many samples as a microbatch has, each of the same shape whatever their number.
Sample stacked(const std::vector<Sample>& samples) {
    const auto stack = [&](Tensor Sample::*member) {
        const Tensor& first = samples[0].*member;
        const auto count = static_cast<std::int64_t>(samples.size());
        const Shape& one = first.shape();
        Tensor all(one.rank() == 1   ? Shape{count}
                   : one.rank() == 2 ? Shape{count, one[1]}
                                     : Shape{count, one[1], one[2], one[3]},
                   first.type());
        std::byte* to = all.view().data;
        for (const Sample& sample : samples)
            to = std::copy_n((sample.*member).view().data, first.bytes(), to);
        return all;
    };
    return {stack(&Sample::inputs), stack(&Sample::targets)};
}

Sample sample_of(const scenarios::Scenario& scenario, int step, int number) {
    const models::Architecture& model = scenario.model;
    std::mt19937 random(static_cast<unsigned>(1000 * step + number));
    const auto entry = [&] {
        return static_cast<std::int32_t>(random() % static_cast<unsigned>(model.vocab));
    };
    if (model.family == models::Family::Vit) {
        const std::int64_t side = model.image_size.value();
        Sample sample{Tensor({1, model.channels.value_or(3), side, side}),
                      Tensor({1}, DataType::Int32)};
        std::uniform_real_distribution<float> pixel(-1, 1);
        for (float& value : sample.inputs.as<float>()) value = pixel(random);
        sample.targets.as<std::int32_t>()[0] = entry();
        return sample;
    }
    const Shape shape{1, scenario.training.seq_length};
    Sample sample{Tensor(shape, DataType::Int32), Tensor(shape, DataType::Int32)};
    for (std::int32_t& token : sample.inputs.as<std::int32_t>()) token = entry();
    for (std::int32_t& target : sample.targets.as<std::int32_t>())
        target = random() % 5 == 0 ? kIgnored : entry();
    return sample;
}

std::int64_t counted(const scenarios::Scenario& scenario, int step) {
    std::int64_t count = 0;
    for (int number = 0; number < scenario.training.global_batch; ++number) {
        const Sample sample = sample_of(scenario, step, number);
        for (const std::int32_t target : sample.targets.as<std::int32_t>())
            count += target == kIgnored ? 0 : 1;
    }
    return count;
}

/// Puts the rank's part of the reduced gradients of the last step.
void put_gradients(RankTraining& training, GlobalTensors& gradients) {
    HostCopies copies(*training.kernels);
    for (const LocalStage& local : training.stages) {
        TrainedStage& state = *local.state;
        for (const UnitState& unit : state.units()) {
            for (const UnitSlot& slot : unit.unit().slots) {
                const FlatRange range = intersection(slot.range, unit.owned());
                if (range.count == 0) continue;
                const TensorView held = copies.of(unit.held_gradients(range));
                for (const Piece& piece : pieces_of<const std::byte>(
                         state.parameters()[slot.parameter], state.execution(),
                         state.cutting_rank(slot.parameter), "gradient", held.type, held.data,
                         FlatRange{range.first - slot.range.first, range.count}))
                    put(piece, gradients);
            }
        }
    }
}

/// The batch of one data rank, in microbatches.
struct Share {
    std::vector<Sample> samples;
    StepInputs inputs;

    Share(const scenarios::Scenario& scenario, int data_rank, int step, double loss_scale) {
        const int count = scenario.training.micro_batches;
        const int each = static_cast<int>(scenario.training.micro_batch);
        const auto first_of = [&](int mb) { return (data_rank * count + mb) * each; };
        for (int mb = 0; mb < count; ++mb) {
            std::vector<Sample> of_this;
            for (int i = 0; i < each; ++i)
                of_this.push_back(sample_of(scenario, step, first_of(mb) + i));
            samples.push_back(stacked(of_this));
        }
        inputs.step = step;
        inputs.seed = 3;
        inputs.gradient_scale = loss_scale / static_cast<double>(counted(scenario, step));
        inputs.micro_batch_scale = loss_scale / static_cast<double>(scenario.all_micro_batches());
        inputs.ignore_index = kIgnored;
        for (int mb = 0; mb < count; ++mb)
            inputs.micro_batches.push_back(
                {samples[mb].inputs.view(), samples[mb].targets.view(), first_of(mb)});
    }
};

}  // namespace

namespace {

scenarios::Scenario read(const Case& c, const char* precision, const std::string& schedule) {
    return scenarios::parse_scenario(
        fmt::format(R"(
model: {}
cluster: dgx-a100-40gb
parallel: {}
schedule: {}
framework:
  {{base: debubble, library_workspace: 0 B, allocator: exact, vocabulary_multiple: {}{}}}
training:
  global_batch: {}
  micro_batch: {}
  seq_length: {}
  precision: {}
  seed: 5
  optimizer: {}
  {}
)",
                    kModels.at(c.model), c.parallel, schedule, c.vocabulary_multiple, c.framework,
                    c.micro_batches * c.micro_batch, c.micro_batch,
                    c.model == "vit" ? 5 : c.seq_length, precision, c.optimizer, c.training),
        "parity.yaml");
}

/// The text of the case's schedule with OFFLOAD and RELOAD, written to a file once.
std::string offloading_schedule(const Case& c) {
    static const ScratchFolder folder;
    static std::mutex mutex;
    static std::map<std::string, std::string> known;
    const std::lock_guard lock(mutex);
    std::string& text = known[fmt::format("{} {} {}", c.model, c.parallel, c.schedule)];
    if (!text.empty()) return text;
    const scenarios::Scenario whole = read(c, "fp32", c.schedule);
    const auto file = folder.path() / fmt::format("{}.csv", known.size());
    write_file(file, write_csv(with_offload(scenarios::make_plan(whole).program)));
    const Generator* generator = find_generator(whole.schedule.name);
    text = fmt::format("{{csv: {}, placement: {}, stages_per_rank: {}, slices: {}}}", file.string(),
                       generator->stages_per_rank == 2 ? "v" : "loop",
                       whole.parallel.stages_per_rank, whole.schedule.slices);
    return text;
}

}  // namespace

Case offloaded(Case c) {
    c.offloads = true;
    return c;
}

/// Megatron-Core refuses pairs of experts in fp32, in which trainings are compared here.
scenarios::Scenario scenario_of(const Case& c) {
    if (c.offloads) return read(c, "fp32", offloading_schedule(c));
    if (c.schedule.find("combined-1f1b") == std::string::npos) return read(c, "fp32", c.schedule);
    Case plain;
    plain.parallel = "{data: 1}";
    scenarios::Scenario scenario = read(c, "bf16", c.schedule);
    scenario.training.precision = read(plain, "fp32", "1f1b").training.precision;
    return scenario;
}

Job::Job(const Case& c)
    : scenario(scenario_of(c)),
      plan(scenarios::make_plan(scenario)),
      options(training_options(scenario)),
      patience(c.patience),
      device(c.device) {}

std::int64_t counted_targets(const Job& job, int step) {
    return counted(job.scenario, step);
}

StepRecord train_step(RankJob& rank, const Job& job, int step) {
    const int data_rank = rank.groups().place.data;
    const Share share(job.scenario, data_rank, step, rank.training().loss_scale());
    StepRecord record = rank.step(share.inputs);
    const Program& program = job.plan.program;
    const ActionLog expected = log_of(program.ranks[rank.rank().index], program.stage_count());
    if (const auto difference = first_difference(expected, rank.log()))
        throw std::logic_error(fmt::format("rank {} {}", rank.rank().index, *difference));
    return record;
}

RankResult train_on(Communicator& world, const Job& job) {
    JobOptions how{cpu_kernels_maker("fixed-order", 1), Bytes{1 << 28}, job.patience};
    if (job.device) how.device = job.device(world.global_rank(), world.size());
    RankJob rank(job.scenario, job.plan, job.options, world, how);
    const GridPlace place = rank.groups().place;
    const auto loss_share = [&](int step) {
        const auto targets = static_cast<double>(counted(job.scenario, step));
        return place.tensor == 0 ? rank.loss_total() / targets : 0;
    };
    RankResult result;
    for (int step = 0; step < job.steps; ++step) {
        result.record = train_step(rank, job, step);
        result.loss_shares.push_back(loss_share(step));
        const RouterTotals totals = rank.router_totals();
        const bool counts = rank.groups().place.tensor == 0 || job.scenario.parallel.sequence;
        const double ahead = place.tensor == 0 ? rank.ahead_loss_total() : 0;
        result.router_shares.push_back((counts ? totals.balance + totals.z : 0) +
                                       ahead / static_cast<double>(counted(job.scenario, step)));
        result.norms.push_back(rank.training().outcome().norm);
        result.expert_load = rank.expert_load();
        result.rows = rank.rows_that_came();
        if (step == 0) put_gradients(rank.state(), result.gradients);
    }
    Share again(job.scenario, place.data, job.steps - 1, 1);
    again.inputs.training = false;
    rank.evaluate(again.inputs);
    result.evaluated_share = loss_share(job.steps - 1);
    result.static_memory = rank.arena().held();
    put_weights(rank.state().pieces_to_save(), result.weights);
    return result;
}

Result join(const Job& job, std::vector<RankResult> ranks) {
    Result result;
    result.plan = job.plan;
    result.losses.resize(job.steps);
    result.router_losses.resize(job.steps);
    result.norms = ranks.at(0).norms;
    for (RankResult& rank : ranks) {
        for (int step = 0; step < job.steps; ++step) {
            result.losses[step] += rank.loss_shares[step];
            result.router_losses[step] += rank.router_shares[step];
        }
        result.evaluated += rank.evaluated_share;
        exec::join(rank.gradients, result.gradients);
        exec::join(rank.weights, result.weights);
        ClockError& error = result.clock_error;
        error.lanes = std::max(error.lanes, rank.record.clock_error);
        error.ranks = 2 * error.lanes;
        result.records.push_back(std::move(rank.record));
        result.static_memory.push_back(rank.static_memory);
        result.expert_load.push_back(rank.expert_load);
        result.rows.push_back(std::move(rank.rows));
    }
    return result;
}

Result train(const Case& c, int steps) {
    Job job(c);
    job.steps = steps;
    std::vector<RankResult> ranks(static_cast<std::size_t>(job.scenario.parallel.gpus()));
    run_local(static_cast<int>(ranks.size()), c.transport,
              [&](Communicator& world) { ranks[world.global_rank()] = train_on(world, job); });
    return join(job, std::move(ranks));
}

}  // namespace debubble::exec::parity
