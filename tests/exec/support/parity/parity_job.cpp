#include "tests/exec/support/parity/parity_job.h"

#include <algorithm>
#include <mutex>
#include <random>

#include <fmt/format.h>

#include "exec/comm/transports.h"
#include "exec/cpu/cpu_kernels.h"

namespace debubble::exec::parity {

namespace {

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
        result.rows = rank.received_tokens();
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
