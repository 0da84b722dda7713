#include <charconv>

#include <fmt/format.h>

#include "models/network/layer.h"
#include "scenarios/cluster/measured.h"
#include "scenarios/read/draft.h"

/// The key `imbalance`.
namespace debubble::scenarios {
namespace {

using text::custom;
using text::described;
using text::Fields;
using text::flag;
using text::Form;
using text::MappingReader;
using text::NodePtr;
using text::read_fields;
using text::real;
using text::whole;

constexpr double kHighestRouterLoad = 4096;
constexpr double kWidestSpread = 10;
constexpr double kSlowest = 1000;
constexpr int kMostDocuments = 4096;  ///< of a sequence, in the mean
constexpr int kMostDraws = 100'000;
constexpr std::int64_t kHighestSeed = 1'000'000'000'000;

void read_loads(MappingReader& in, std::string_view key, Imbalance& imbalance) {
    if (!in.reals(key, imbalance.router_loads, 1, kHighestRouterLoad)) return;
    if (imbalance.router_loads.empty()) in.complain(key, "'loads' is empty");
    if (in.has("spread")) in.complain(key, "give either 'loads' or 'spread'");
}

const Fields<Imbalance>& router_spread_fields() {
    static const Fields<Imbalance> kFields{
        {"spread", real(&Imbalance::router_spread, 0, kWidestSpread, "of the mean"),
         "The standard deviation of the most loaded rank's expert load over its mean "
         "(training.expert_load), drawn for each layer and microbatch from a lognormal "
         "distribution; no load is below 1.",
         "0.2"},
        {"loads",
         custom(read_loads,
                {Form{text::ListForm{{Form{text::RealForm{1, kHighestRouterLoad, {}}}}, {}}}}),
         "Measured loads of the most loaded rank over the mean of all ranks; each layer and "
         "microbatch draws one.",
         "[1.05, 1.2, 1.6]", "none: drawn by the spread"}};
    return kFields;
}

const Fields<Documents>& document_fields() {
    static const Fields<Documents> kFields{
        {"mean", text::required(real(&Documents::mean, 1, 1e9, "tokens")),
         "The mean length of documents.", "2048"},
        {"spread", real(&Documents::spread, 0, kWidestSpread, "of the mean"),
         "The standard deviation of document lengths over their mean; the distribution is "
         "lognormal.",
         "1.5"},
        {"shortest", whole(&Documents::shortest, 1, kLongestSequence, "tokens"),
         "Shorter documents are padded to this length.", "128"},
        {"longest", whole(&Documents::longest, 1, kLongestSequence, "tokens"),
         "Longer documents are truncated to this length.", "8192", "training.seq_length"},
        {"global_batch_packing", flag(&Documents::global_batch_packing),
         "Each sample of training.global_batch is one document, and every step packs its documents "
         "into microbatches (Megatron's --use-varlen-dataset, Bridge's "
         "enable_global_batch_packing) instead of using prepacked sequences.",
         "true"}};
    return kFields;
}

void read_router_spread(MappingReader& in, std::string_view key, Imbalance& imbalance) {
    const NodePtr value = in.value(key);
    if (!value) return;
    MappingReader inner(value, key, in.mistakes());
    read_fields(inner, router_spread_fields(), imbalance);
    inner.finish();
}

void read_documents(MappingReader& in, std::string_view key, Imbalance& imbalance) {
    const NodePtr value = in.value(key);
    if (!value) return;
    MappingReader inner(value, key, in.mistakes());
    read_fields(inner, document_fields(), imbalance.documents.emplace());
    inner.finish();
}

void read_ranks(MappingReader& in, std::string_view key, Imbalance& imbalance) {
    const NodePtr value = in.value(key);
    if (!value) return;
    MappingReader inner(value, key, in.mistakes());
    if (!value->is(text::Node::Kind::Map)) return;
    for (const text::Node::Entry& entry : value->entries) {
        double factor = 1;
        const bool good = inner.real(entry.key, factor, 1, kSlowest);
        int rank = 0;
        const char* const end = entry.key.data() + entry.key.size();
        const auto [rest, error] = std::from_chars(entry.key.data(), end, rank);
        if (error != std::errc{} || rest != end || rank < 0)
            in.mistakes().add(
                entry.place,
                fmt::format("'{}' is not a pipeline rank: ranks count from 0", entry.key));
        else if (!imbalance.ranks.try_emplace(rank, factor).second && good)
            in.mistakes().add(entry.place, fmt::format("rank {} is given twice", rank));
    }
}

const Fields<Imbalance>& imbalance_fields() {
    static const Fields<Imbalance> kFields{
        {"router",
         custom(read_router_spread, {Form{text::MapForm{described(router_spread_fields())}}}),
         "Expert loads that vary by layer and microbatch.", "{spread: 0.2}",
         "every layer and microbatch has training.expert_load"},
        {"sequence", custom(read_documents, {Form{text::MapForm{described(document_fields())}}}),
         "Sequences are packed from documents of different lengths, which attend only to "
         "themselves alone.",
         "{mean: 2048}", "every sequence is one document"},
        {"ranks",
         custom(read_ranks, {Form{text::TableForm{
                                "RANK", "^[0-9]+$", {Form{text::RealForm{1, kSlowest, {}}}}}}}),
         "Slow pipeline ranks: the slowdown factor of a rank's computes and optimizer longer.",
         "{3: 1.04}", "no rank is slow"},
        {"jitter", real(&Imbalance::jitter, 0, kWidestSpread, "of the mean"),
         "The standard deviation of each compute's time over its mean; the distribution is "
         "lognormal.",
         "0.02"},
        {"draws", whole(&Imbalance::draws, 1, kMostDraws, "steps"),
         "The number of steps to draw and simulate.", "1000"},
        {"fits_quantile", real(&Imbalance::fits_quantile, 0, 1, "of the steps"),
         "The share of drawn steps whose memory must fit for the plan to fit (nearest-rank "
         "percentile); 1: all of them.",
         "0.999"},
        {"seed", whole(&Imbalance::seed, 0, kHighestSeed),
         "The random seed: the same seed gives the same steps.", "7"}};
    return kFields;
}

}  // namespace

std::vector<text::Form> imbalance_forms() {
    return {Form{text::MapForm{described(imbalance_fields())}}};
}

void read_imbalance(MappingReader& scenario, std::string_view key, Draft& draft) {
    const NodePtr value = scenario.value(key);
    if (!value) return;
    MappingReader in(value, key, scenario.mistakes());
    read_fields(in, imbalance_fields(), draft.scenario.imbalance);
    in.finish();
}

/// Listed loads have a mean of their own, for which the plan is made.
void settle_mean_load(Draft& draft) {
    Imbalance& imbalance = draft.scenario.imbalance;
    if (imbalance.router_loads.empty()) return;
    double sum = 0;
    for (const double load : imbalance.router_loads) sum += load;
    double& mean = draft.scenario.training.expert_load;
    imbalance.even_load = mean;
    mean = imbalance.routers_differ() ? sum / static_cast<double>(imbalance.router_loads.size())
                                      : imbalance.router_loads.front();
}

void check_imbalance(Draft& draft) {
    const NodePtr map = draft.top.value("imbalance");
    if (!map) return;
    MappingReader in(map, "imbalance", draft.mistakes());
    const Scenario& scenario = draft.scenario;
    const Imbalance& imbalance = scenario.imbalance;
    settle_mean_load(draft);
    if (imbalance.draws_routers() && !scenario.model.has_experts())
        in.complain("router", fmt::format("{} has no experts", scenario.model.name));
    if (imbalance.draws_routers() && scenario.parallel.expert == 1)
        in.complain("router",
                    "every rank has all experts of a layer, so its number of tokens does not "
                    "depend on the router: parallel.expert is 1");
    if (imbalance.documents && scenario.schedule.slices > 1)
        in.complain("sequence", "sequences that are split into slices cannot be packed");
    if (imbalance.documents && scenario.model.sees_images())
        in.complain("sequence", fmt::format("{} reads images", scenario.model.name));
    const std::int64_t length = scenario.training.seq_length;
    if (imbalance.documents && imbalance.documents->longest.value_or(length) > length)
        in.complain("sequence", fmt::format("documents of {} tokens do not fit in sequences of {}",
                                            *imbalance.documents->longest, length));
    if (imbalance.documents &&
        imbalance.documents->shortest > imbalance.documents->longest.value_or(length))
        in.complain("sequence", fmt::format("no document has at least {} and at most {} tokens",
                                            imbalance.documents->shortest,
                                            imbalance.documents->longest.value_or(length)));
    if (imbalance.documents &&
        imbalance.documents->mean * kMostDocuments < static_cast<double>(length))
        in.complain(
            "sequence",
            fmt::format("a sequence of {} tokens would be packed from more than {} documents",
                        length, kMostDocuments));
    if (measures_operators(scenario.cluster.measured))
        for (const std::string_view key : {"router", "sequence"})
            if (in.value(key))
                in.complain(
                    key,
                    "a calibrated machine has times for even loads only; use 'ranks' and 'jitter'");
    if (imbalance.ranks.empty()) return;
    const NodePtr ranks = in.value("ranks");
    for (const text::Node::Entry& entry : ranks->entries)
        if (std::stoi(entry.key) >= scenario.parallel.pipeline)
            draft.mistakes().add(
                entry.place, fmt::format("there is no rank {}: parallel.pipeline is {}", entry.key,
                                         scenario.parallel.pipeline));
}

}  // namespace debubble::scenarios
