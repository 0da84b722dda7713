#include "exec/program/run/prepare_run.h"

#include <cstdint>
#include <span>

#include <nlohmann/json.hpp>

#include "schedule/csv/csv.h"

namespace debubble::exec {

namespace {

constexpr const char* kPlanLabel = "the plan of rank 0";

/// The text of rank 0 on all ranks. It holds no zero byte: zeros pad it to whole words.
std::string broadcast(Communicator& world, std::string text, std::chrono::nanoseconds patience) {
    auto words = static_cast<std::int32_t>((text.size() + 3) / 4);
    world.broadcast(buffer_of(std::span(&words, 1)), 0, kPlanLabel)->wait(within(patience));
    text.resize(4 * static_cast<std::size_t>(words));
    world.broadcast({std::as_writable_bytes(std::span(text)), DataType::Int32}, 0, kPlanLabel)
        ->wait(within(patience));
    return text.c_str();
}

}  // namespace

std::string plan_text(const RunJob& job) {
    const Program& program = job.plan.program;
    nlohmann::json memory = nlohmann::json::array();
    if (job.planned)
        for (const Bytes bytes : *job.planned) memory.push_back(bytes.count);
    return nlohmann::json{{"name", program.name},
                          {"placement", write_placement(program.placement)},
                          {"csv", write_csv(program)},
                          {"layers", job.layers_of_stages()},
                          {"planned", std::move(memory)}}
        .dump();
}

void adopt_plan(const std::string& text, RunJob& job) {
    const nlohmann::json plan = nlohmann::json::parse(text);
    job.planned.reset();
    for (const auto& bytes : plan["planned"]) {
        if (!job.planned) job.planned.emplace();
        job.planned->push_back(Bytes{bytes});
    }
    if (job.takes_cut) {
        job.scenario.parallel.partition = scenarios::Partition::Explicit;
        job.scenario.parallel.layers_per_stage = plan["layers"].get<std::vector<int>>();
        job.plan.stages = partition_of(job.scenario, job.plan.schedule.stage_count());
    }
    if (!job.program_hash.empty()) return;
    CsvOptions options;
    options.file = kPlanLabel;
    options.name = plan["name"];
    options.placement = read_placement(plan["placement"].get<std::string>(), kPlanLabel);
    options.dialect = Dialect::Current;
    job.plan.program = read_csv(plan["csv"].get<std::string>(), options).schedule;
    job.program_hash = program_hash(job.plan.program);
}

void share_plan(Communicator& world, RunJob& job) {
    const bool tells = world.rank() == 0;
    const std::string text =
        broadcast(world, tells ? plan_text(job) : std::string(), job.request.patience);
    if (!tells) adopt_plan(text, job);
}

}  // namespace debubble::exec
