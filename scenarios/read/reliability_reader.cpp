#include <algorithm>
#include <cctype>
#include <cmath>

#include <fmt/format.h>

#include "models/counts/counts.h"
#include "models/graph/graph.h"
#include "scenarios/read/draft.h"
#include "text/quantity.h"

/// The keys `reliability`, `price` and `energy`.
namespace debubble::scenarios {
namespace {

using text::custom;
using text::described;
using text::Fields;
using text::flag;
using text::Form;
using text::free_text;
using text::MappingReader;
using text::Node;
using text::NodePtr;
using text::QuantityForm;
using text::rate;
using text::read_fields;
using text::real;
using text::required;
using text::section;
using text::span;
using text::whole;

constexpr double kMostFailures = 10'000;  ///< a year or a day
constexpr double kMostSlowed = 1000;
constexpr int kMostDrawnRuns = 100'000;
constexpr std::int64_t kMostOfRunSeeds = 1'000'000'000'000;
constexpr const char* kReliabilityFolder = "scenarios/reliability";

const Form kTimeSpan{QuantityForm{text::Quantity::Span}};

const Fields<RestartTimes>& restart_fields() {
    static const Fields<RestartTimes> kFields{
        {"scheduler", span(&RestartTimes::scheduler_s),
         "Until the job has its machines: killed, queued, placed.", "5 min"},
        {"start", span(&RestartTimes::start_s), "Processes, communicators and compilation.",
         "2 min"},
        {"load", span(&RestartTimes::load_s), "Until the checkpoint is read.", "90 s",
         "its bytes by checkpoint.read_bandwidth"}};
    return kFields;
}

/// One span for all of it, or a map of its parts.
void read_restart_times(MappingReader& in, std::string_view key, Reliability& reliability) {
    const NodePtr value = in.value(key);
    if (!value) return;
    if (!value->is(Node::Kind::Map)) {
        double whole = 0;
        if (in.span(key, whole)) reliability.restart = {whole, 0, 0.0};
        return;
    }
    reliability.restart = {};
    MappingReader parts(value, key, in.mistakes());
    read_fields(parts, restart_fields(), reliability.restart);
    parts.finish();
}

/// A span that is not 0, or `auto`.
void read_save_interval(MappingReader& in, std::string_view key, CheckpointPolicy& policy) {
    const NodePtr value = in.value(key);
    if (!value || (value->is(Node::Kind::Scalar) && value->scalar == "auto")) return;
    double every = 0;
    if (!in.span(key, every)) return;
    if (every <= 0)
        in.complain(key, fmt::format("'{}' must be more than 0 s, or auto", key));
    else
        policy.every_s = every;
}

const Fields<CheckpointPolicy>& save_policy_fields() {
    static const Fields<CheckpointPolicy> kFields{
        {"every", custom(read_save_interval, {kTimeSpan, Form{text::WordForm{{"auto"}}}}),
         "The work between two saves, of whole steps; auto: what loses least time.", "30 min",
         "auto"},
        {"async", flag(&CheckpointPolicy::async),
         "Steps wait until a copy is in the host's memory, from where it is written while they go "
         "on; else until it is written.",
         "true"},
        {"write_bandwidth", rate(&CheckpointPolicy::write_bandwidth),
         "The rate at which the storage takes a checkpoint from the whole job.", "2 TB/s",
         "0.65 GB/s for each machine"},
        {"read_bandwidth", rate(&CheckpointPolicy::read_bandwidth),
         "The rate at which the whole job reads one.", "4 TB/s", "2.4 GB/s for each machine"},
        {"latency", span(&CheckpointPolicy::latency_s),
         "What each write takes beside its bytes: planning, files, barriers.", "2 s",
         "16.5 s of an asynchronous write, else none"},
        {"pause", span(&CheckpointPolicy::pause_s),
         "What a save holds all ranks up for, where that was measured.", "2 s",
         "the bytes of the fullest rank or of the whole, by the rate at which they are copied or "
         "written"},
        {"keep_in_memory", flag(&CheckpointPolicy::keep_in_memory),
         "Each save stays in the host's memory with a copy on another machine, so that all "
         "failures "
         "but those of switches load from there; fewer saves go to storage.",
         "true"}};
    return kFields;
}

const Fields<SlowRankRate>& slow_rank_fields() {
    static const Fields<SlowRankRate> kFields{
        {"rate", required(real(&SlowRankRate::per_gpu_year, 0, kMostFailures, "per GPU year")),
         "How often a GPU becomes slow.", "0.02"},
        {"factor", real(&SlowRankRate::factor, 1, kMostSlowed, "ratio"),
         "The factor by which it makes all steps longer.", "1.06"},
        {"detect", span(&SlowRankRate::detect_s),
         "Until it is found and replaced, with a planned restart.", "2 h"}};
    return kFields;
}

const Fields<PlannedMaintenance>& maintenance_fields() {
    static const Fields<PlannedMaintenance> kFields{
        {"every", required(span(&PlannedMaintenance::every_s)),
         "From one planned stop to the next.", "1 d"},
        {"takes", required(span(&PlannedMaintenance::takes_s)),
         "How long a stop takes, without the restart after it.", "30 min"}};
    return kFields;
}

constexpr const char* kNoSuchPart = "none";  ///< the word that takes away what a base has

template <class T>
void read_part_map(MappingReader& in, std::string_view key, const Fields<T>& fields,
                   std::optional<T>& out) {
    const NodePtr value = in.value(key);
    if (!value || (value->is(Node::Kind::Scalar) && value->scalar == kNoSuchPart)) return;
    MappingReader inner(value, key, in.mistakes());
    read_fields(inner, fields, out.emplace());
    inner.finish();
}

void read_slow_rank(MappingReader& in, std::string_view key, Reliability& reliability) {
    read_part_map(in, key, slow_rank_fields(), reliability.slow_rank);
}

void read_maintenance(MappingReader& in, std::string_view key, Reliability& reliability) {
    read_part_map(in, key, maintenance_fields(), reliability.maintenance);
    if (reliability.maintenance && reliability.maintenance->every_s <= 0 && in.good())
        in.complain(key, "'maintenance.every' must be more than 0 s");
}

const Fields<Reliability>& reliability_fields() {
    static const Fields<Reliability> kFields{
        {"name", free_text(&Reliability::name), "The name of these figures.", "my-site", "none"},
        {"failures_per_gpu_year",
         real(&Reliability::failures_per_gpu_year, 0, kMostFailures, "per GPU year"),
         "Failures of a GPU or its memory that stop a job.", "0.11"},
        {"failures_per_host_year",
         real(&Reliability::failures_per_host_year, 0, kMostFailures, "per machine year"),
         "Failures of what a machine has besides its GPUs: adapters, processors, disks, power.",
         "0.2"},
        {"failures_per_switch_year",
         real(&Reliability::failures_per_switch_year, 0, kMostFailures, "per switch year"),
         "Failures that take all machines of a switch at once.", "0.3"},
        {"hosts_per_switch", whole(&Reliability::hosts_per_switch, 1, kMostGpus, "machines"),
         "Machines that a switch connects.", "16"},
        {"failures_per_job_day",
         real(&Reliability::failures_per_job_day, 0, kMostFailures, "per day"),
         "Stops by software, whose rate does not grow with the job.", "0.2"},
        {"detect", span(&Reliability::detect_s), "From a failure until it is noticed.", "5 min"},
        {"restart",
         custom(read_restart_times, {kTimeSpan, Form{text::MapForm{described(restart_fields())}}}),
         "From there until all ranks train: one time for all of it, or a map of its parts.",
         "{scheduler: 5 min, start: 2 min}", "10 min"},
        {"checkpoint", section(&Reliability::checkpoint, save_policy_fields()),
         "How the run saves weights and optimizer state.",
         "{every: auto, async: true, write_bandwidth: 2 TB/s}", "a synchronous save"},
        {"spares", whole(&Reliability::spares, 0, kMostGpus, "machines"),
         "Machines that wait to replace others, and are paid for.", "16",
         "none, and a replacement is always there"},
        {"repair", span(&Reliability::repair_s), "Until a machine that failed can be used again.",
         "4 h"},
        {"elastic", flag(&Reliability::elastic),
         "Data-parallel replicas that lie on other machines go on while one is restarted.", "true"},
        {"stall", span(&Reliability::stall_s),
         "What the loss of a replica holds up the others for, if elastic.", "3 min"},
        {"slow_rank",
         custom(read_slow_rank, {Form{text::MapForm{described(slow_rank_fields())}},
                                 Form{text::WordForm{{kNoSuchPart}}}}),
         "GPUs that become slow, until somebody finds them.",
         "{rate: 0.02, factor: 1.06, detect: 2 h}", "none"},
        {"maintenance",
         custom(read_maintenance, {Form{text::MapForm{described(maintenance_fields())}},
                                   Form{text::WordForm{{kNoSuchPart}}}}),
         "Planned stops, before which the job saves.", "{every: 1 d, takes: 30 min}", "none"},
        {"draws", whole(&Reliability::draws, 1, kMostDrawnRuns, "runs"),
         "The number of runs that are drawn.", "1000"},
        {"seed", whole(&Reliability::seed, 0, kMostOfRunSeeds),
         "The seed of all draws: the same one gives the same runs.", "7"}};
    return kFields;
}

/// "2.5 USD"
void read_gpu_hour(MappingReader& in, std::string_view key, Price& price) {
    constexpr double kMostMoney = 1e9;
    const NodePtr value = in.scalar(key, "an amount of money");
    if (!value) return;
    const std::string& words = value->scalar;
    const std::size_t space = words.find(' ');
    const auto amount = text::parse_real(words.substr(0, space));
    const std::string currency = space == std::string::npos ? "" : words.substr(space + 1);
    const bool is_code = currency.size() == 3 && std::ranges::all_of(currency, [](unsigned char c) {
                             return std::isupper(c) != 0;
                         });
    if (!amount || *amount < 0 || *amount > kMostMoney || !is_code)
        in.complain(key, fmt::format("'{}' is an amount from 0 to 1e+09 and a currency's three "
                                     "letters, as '2.5 USD', not '{}'",
                                     key, words));
    else
        price = {*amount, currency};
}

const Fields<Price>& price_fields() {
    static const Fields<Price> kFields{
        {"gpu_hour", required(custom(read_gpu_hour, {Form{text::TextForm{}}})),
         "What a GPU costs in an hour, with the currency.", "2.5 USD"}};
    return kFields;
}

const Fields<EnergyUse>& energy_fields() {
    static const Fields<EnergyUse> kFields{
        {"busy", real(&EnergyUse::busy, 0, 1, "share"),
         "What a machine that trains takes of cluster.node_power.", "0.8"},
        {"idle", real(&EnergyUse::idle, 0, 1, "share"), "What a machine takes of it that waits.",
         "0.2"},
        {"pue", real(&EnergyUse::pue, 1, 10, "ratio"),
         "The power of the whole site over that of its machines; 1: the machines alone.", "1.1"},
        {"co2", real(&EnergyUse::co2_per_kwh, 0, 10, "kg per kWh"),
         "What the grid emits for a kilowatt-hour.", "0.4", "not counted"}};
    return kFields;
}

template <class T>
void read_whole_map(MappingReader& in, std::string_view key, const NodePtr& map,
                    const Fields<T>& fields, T& out) {
    MappingReader inner(map, key, in.mistakes());
    read_fields(inner, fields, out);
    inner.finish();
}

}  // namespace

std::vector<Form> reliability_forms() {
    std::vector<text::Key> keys = described(reliability_fields());
    keys.insert(keys.begin(), text::base_key(kReliabilityFolder, "llama3-2024"));
    return {Form{text::ShippedForm{kReliabilityFolder}}, Form{text::MapForm{std::move(keys)}}};
}

std::vector<Form> price_forms() {
    return {Form{text::MapForm{described(price_fields())}}};
}

std::vector<Form> energy_forms() {
    return {Form{text::MapForm{described(energy_fields())}}};
}

Reliability read_reliability(const NodePtr& value, text::ShippedFiles& shipped,
                             text::Mistakes& mistakes) {
    Reliability reliability;
    const NodePtr map = shipped.resolve(value, "reliability", kReliabilityFolder, mistakes);
    if (!map) return reliability;
    MappingReader in(map, "reliability", mistakes);
    read_fields(in, reliability_fields(), reliability);
    in.finish();
    return reliability;
}

/// What was found of the cluster itself goes above a profile of another one, and what the scenario
/// writes above both.
void read_reliability(Draft& draft) {
    constexpr const char* kKey = "reliability";
    const NodePtr value = draft.top.value(kKey);
    const NodePtr& own = draft.scenario.cluster.reliability;
    if (!value && !own) return;
    NodePtr map = value ? value : own;
    if (value && own) {
        const NodePtr base = value->is(Node::Kind::Map) ? value->get("base") : value;
        map = own;
        if (base) {
            const NodePtr profile =
                draft.shipped->resolve(base, kKey, kReliabilityFolder, draft.mistakes());
            if (!profile) return;
            map = text::merged_deeply(*profile, *own);
        }
        if (value->is(Node::Kind::Map))
            map = text::merged_deeply(*map, *text::without(value, "base"));
    }
    draft.scenario.reliability = read_reliability(map, *draft.shipped, draft.mistakes());
}

void read_price(MappingReader& scenario, std::string_view key, Draft& draft) {
    if (const NodePtr map = scenario.value(key))
        read_whole_map(scenario, key, map, price_fields(), draft.scenario.price.emplace());
}

void read_energy(MappingReader& scenario, std::string_view key, Draft& draft) {
    if (const NodePtr map = scenario.value(key))
        read_whole_map(scenario, key, map, energy_fields(), draft.scenario.energy);
}

namespace {

/// Complains at a key of `reliability`, or where that is named.
void complain_of_reliability(Draft& draft, std::string_view key, const std::string& why) {
    const NodePtr map = draft.top.value("reliability");
    if (!map) return draft.top.complain("cluster", why);
    const bool written = map->is(Node::Kind::Map);
    MappingReader in(written ? map : draft.top.mapping(), written ? "reliability" : "scenario",
                     draft.mistakes());
    in.complain(written && in.has(key) ? key : "reliability", why);
}

/// Copies of saves must fit into the memories of the hosts. Shares are even here; the fullest rank
/// of an uneven cut holds more.
void check_copies(Draft& draft) {
    const Scenario& scenario = draft.scenario;
    const Cluster& cluster = scenario.cluster;
    if (!scenario.reliability->checkpoint.keep_in_memory || !cluster.host_memory) return;
    const auto whole = static_cast<double>(
        checkpoint_bytes(scenario, models::parameter_count(scenario.model)).count);
    const int each = std::min(cluster.gpus_per_node, scenario.gpus);
    const double held = kSavesInMemory * whole * each / scenario.gpus;
    if (held <= static_cast<double>(cluster.host_memory->count)) return;
    complain_of_reliability(
        draft, "checkpoint",
        fmt::format("keep_in_memory holds {:.3g} GB on each node ({} saves of {:.3g} GB: the last "
                    "complete one and the next, each with a neighbour's), which has {:.3g} GB "
                    "(cluster.host_memory)",
                    held / 1e9, kSavesInMemory, held / kSavesInMemory / 1e9,
                    static_cast<double>(cluster.host_memory->count) / 1e9));
}

}  // namespace

void check_reliability(Draft& draft) {
    const Scenario& scenario = draft.scenario;
    if (!scenario.reliability) return;
    check_copies(draft);
    // Replicas that go on must have the whole state among them.
    if (!scenario.reliability->elastic || elastic_replicas(scenario) > 1) return;
    complain_of_reliability(draft, "elastic",
                            scenario.parallel.replicas() == 1
                                ? "there is one replica: nothing goes on without it"
                                : "no replica has the whole state: it is cut over all of them "
                                  "(parallel.zero_stage); parallel.shard leaves copies");
}

Bytes checkpoint_bytes(const Scenario& scenario, std::int64_t parameters) {
    const Precision& precision = scenario.training.precision;
    const double moments = moments_of(scenario.training.run.optimizer);
    double each = static_cast<double>(models::size_of(precision.compute)) +
                  moments * static_cast<double>(models::size_of(precision.moments));
    if (precision.main_params) each += static_cast<double>(models::size_of(*precision.main_params));
    return Bytes{std::llround(static_cast<double>(parameters) * each)};
}

int elastic_replicas(const Scenario& scenario) {
    const Parallel& parallel = scenario.parallel;
    return parallel.zero_stage == 0 ? parallel.data : parallel.copies();
}

}  // namespace debubble::scenarios
