#include <nlohmann/json.hpp>

#include "sim/report/plan_json.h"
#include "sim/report/traces/profile_report.h"

namespace debubble::sim {
namespace {

using Json = nlohmann::ordered_json;
using profile::Evidence;
using profile::RankFacts;

std::string_view word_of(Evidence evidence) {
    switch (evidence) {
        case Evidence::Named: return "named";
        case Evidence::Anchors: return "anchors";
        case Evidence::None: break;
    }
    return "none";
}

Json causes_json(const IdleByCause& causes) {
    Json out = Json::object();
    for (std::size_t c = 0; c < kBubbleCauses; ++c)
        if (causes[c] > Duration{} || !is_rare(static_cast<BubbleCause>(c)))
            out[std::string(name_of(static_cast<BubbleCause>(c)))] = seconds(causes[c]);
    return out;
}

Json rank_json(const RankStatistics& rank) {
    return {{"rank", rank.rank.index},
            {"replica", rank.replica},
            {"busy_s", seconds(rank.busy)},
            {"idle_s", seconds(rank.idle)},
            {"exposed_comm_s", seconds(rank.exposed)},
            {"optimizer_s", seconds(rank.optimizer)},
            {"span_bubble", rank.span_bubble},
            {"idle_by_cause_s", causes_json(rank.idle_by_cause)}};
}

Json classes_json(const profile::DeviceAccount& account) {
    Json out = Json::object();
    for (std::size_t c = 0; c < profile::kKernelClasses; ++c)
        if (account.count[c] > 0)
            out[std::string(profile::name_of(static_cast<profile::KernelClass>(c)))] = {
                {"count", account.count[c]}, {"time_s", seconds(account.by_class[c])}};
    return out;
}

Json file_json(const RankFacts& rank) {
    const profile::DeviceAccount& a = rank.account;
    Json json = {{"file", rank.file},
                 {"format", rank.format},
                 {"global_rank", rank.global_rank},
                 {"rank", rank.rank.index},
                 {"replica", rank.replica},
                 {"device", rank.device},
                 {"events", rank.events},
                 {"evidence", word_of(rank.evidence)},
                 {"anchors", rank.anchors},
                 {"anchors_that_fit", rank.fitting},
                 {"attention_layers", rank.layers},
                 {"clock_ahead_s", 1e-9 * static_cast<double>(rank.clock_ahead)},
                 {"clock_drift", rank.clock_drift},
                 {"kernels", a.kernels},
                 {"span_s", seconds(a.span)},
                 {"busy_s", seconds(a.busy)},
                 {"compute_s", seconds(a.compute)},
                 {"communication_s", seconds(a.communication)},
                 {"overlapped_s", seconds(a.overlapped)},
                 {"exposed_s", seconds(a.exposed)},
                 {"idle_s", seconds(a.idle)},
                 {"host_wait_s", seconds(a.host_wait)},
                 {"kernel_wait_s", seconds(a.kernel_wait)},
                 {"classes", classes_json(a)},
                 {"exchanges",
                  {{"count", rank.exchanges.kernels},
                   {"total_s", seconds(rank.exchanges.total)},
                   {"transfer_s", seconds(rank.exchanges.transfer)},
                   {"wait_s", seconds(rank.exchanges.wait)}}},
                 {"peak_allocated_bytes", nullptr},
                 {"unknown_kernels", rank.unknown},
                 {"notes", rank.notes}};
    if (rank.peak_allocated) json["peak_allocated_bytes"] = *rank.peak_allocated;
    return json;
}

Json memory_json(const RankMemory& rank) {
    const auto since_start = [](Instant at) { return seconds(at.time_since_epoch()); };
    Json held = Json::array();
    for (const HeldBytes& point : rank.held)
        held.push_back({{"at_s", since_start(point.at)}, {"bytes", point.held.count}});
    return {{"rank", rank.rank.index},
            {"peak_bytes", rank.peak.count},
            {"at_s", since_start(rank.at)},
            {"action", rank.action.empty() ? Json(nullptr) : Json(rank.action)},
            {"held", std::move(held)}};
}

}  // namespace

std::string to_json(const ProfileReport& report) {
    const profile::ProfiledRun& run = report.run;
    const Statistics& s = report.statistics;
    const Duration step = report.step.header.step_time.value_or(s.step);
    Json json = schema_json("profile");
    const bool found = !report.step.spans.empty();
    json["steps"] = report.steps;
    json["step_names"] = run.step_names;
    json["step_time_s"] = found ? Json(seconds(step)) : Json(nullptr);
    json["makespan_s"] = found ? Json(seconds(s.makespan)) : Json(nullptr);
    json["bubble"] = found ? Json(s.bubble) : Json(nullptr);
    json["span_bubble"] = found ? Json(s.span_bubble) : Json(nullptr);
    json["idle_by_cause_s"] = causes_json(idle_by_cause(s));
    json["order"] = run.order ? Json(*run.order) : Json(nullptr);
    json["confidence"] = run.confidence();
    json["schedule_hash"] = run.trace.header.program_hash;
    json["clocks"] = {{"shared", run.clocks.shared},
                      {"matched", run.clocks.matched},
                      {"error_s", seconds(run.clocks.error)}};
    json["ranks"] = Json::array();
    for (const RankStatistics& rank : s.ranks) json["ranks"].push_back(rank_json(rank));
    json["files"] = Json::array();
    for (const RankFacts& rank : run.ranks) json["files"].push_back(file_json(rank));
    json["memory"] = Json::array();
    for (const RankMemory& rank : memory_of_ranks(run.trace))
        json["memory"].push_back(memory_json(rank));
    json["notes"] = run.notes;
    json["comparison"] = nullptr;
    if (report.beside) {
        json["comparison"] = Json::parse(to_json(*report.beside));
        json["comparison"]["left_out"] = report.beside_left_out;
    }
    json["as_fast_as_others"] = nullptr;
    if (report.what_if) {
        Json ranks = Json::array();
        for (const Rank rank : report.what_if->ranks) ranks.push_back(rank.index);
        json["as_fast_as_others"] = {
            {"ranks", ranks},
            {"replayed_step_time_s", seconds(report.what_if->as_measured.step_time)},
            {"step_time_s", seconds(report.what_if->levelled.step_time)},
            {"replayed_bubble", report.what_if->as_measured.bubble},
            {"bubble", report.what_if->levelled.bubble}};
    }
    return json.dump(2, ' ', false, Json::error_handler_t::replace) + '\n';
}

}  // namespace debubble::sim
