#include "sim/cost/passes/pass_time.h"

#include <algorithm>
#include <optional>
#include <variant>

#include "base/overloaded.h"
#include "models/execution/laws.h"
#include "sim/cost/kernels/kernel_cost.h"
#include "sim/cost/passes/contention.h"
#include "sim/network/collective_cost.h"

namespace debubble::sim {
namespace {

CollectiveKind kind_of(const models::Collective& collective) {
    switch (collective.kind) {
        case models::Collective::Kind::AllReduce: return CollectiveKind::AllReduce;
        case models::Collective::Kind::AllGather: return CollectiveKind::AllGather;
        case models::Collective::Kind::ReduceScatter: return CollectiveKind::ReduceScatter;
        case models::Collective::Kind::AllToAll: return CollectiveKind::AllToAll;
    }
    return CollectiveKind::AllReduce;
}

std::optional<scenarios::Exchange> exchange_of(models::Collective::Group group) {
    using scenarios::Exchange;
    switch (group) {
        case models::Collective::Group::Tensor:
        case models::Collective::Group::ExpertTensor: return Exchange::Tensor;
        case models::Collective::Group::Context:
        case models::Collective::Group::ContextInner:
        case models::Collective::Group::ContextOuter: return Exchange::Context;
        case models::Collective::Group::Expert: return Exchange::ExpertAllToAll;
        case models::Collective::Group::Data: break;
    }
    return std::nullopt;
}

CommunicationKind serves(models::Collective::Group group) {
    switch (group) {
        case models::Collective::Group::Tensor:
        case models::Collective::Group::ExpertTensor: return CommunicationKind::Tensor;
        case models::Collective::Group::Context:
        case models::Collective::Group::ContextInner:
        case models::Collective::Group::ContextOuter: return CommunicationKind::Context;
        case models::Collective::Group::Expert: return CommunicationKind::Expert;
        case models::Collective::Group::Data: break;
    }
    return CommunicationKind::Data;
}

/// The size of one such collective over `members` (KindTime::bytes).
double size_of(const models::Collective& collective, int members) {
    const auto whole = static_cast<double>(collective.bytes.count);
    return collective.kind == models::Collective::Kind::AllToAll ? whole / members : whole;
}

/// True for keys and values of ring attention, which overlaps the attention over earlier ones.
bool is_ring(const models::Collective& work) {
    return work.group == models::Collective::Group::Context ||
           work.group == models::Collective::Group::ContextOuter;
}

bool communicates(const models::Kernel& kernel) {
    return std::holds_alternative<models::Collective>(kernel.work);
}

/// True for an all-to-all of tokens that overlaps shared experts.
bool is_exchange_beside(const models::Kernel& kernel) {
    const auto* exchange = std::get_if<models::Collective>(&kernel.work);
    return exchange != nullptr && exchange->is_expert_exchange() &&
           kernel.beside != models::Beside::Nothing;
}

}  // namespace

RankWaits waits_for_ranks(int ranks) {
    const models::Laws& laws = models::laws();
    const double waiting = laws.waiting_share;
    const double traced = greatest_of_normal(ranks) / greatest_of_normal(laws.waiting_ranks);
    return {traced * waiting / (1 - waiting),
            traced * waiting * laws.waiting_exchanges / laws.waiting_kernels};
}

PassPricer::PassPricer(const scenarios::Scenario& scenario)
    : cluster_(scenario.cluster),
      slowest_(scenario.cluster.gpu),
      tensor_{tensor_group(scenario, 0), tensor_group(scenario, 0, Rivals::PipelineRank)},
      context_{context_group(scenario, 0), context_group(scenario, 0, Rivals::PipelineRank)},
      context_inner_{context_inner_group(scenario, 0),
                     context_inner_group(scenario, 0, Rivals::PipelineRank)},
      context_outer_{context_outer_group(scenario, 0),
                     context_outer_group(scenario, 0, Rivals::PipelineRank)},
      data_{gradient_group(scenario, 0), gradient_group(scenario, 0)},
      expert_{expert_group(scenario, 0), expert_group(scenario, 0, Rivals::PipelineRank)},
      expert_tensor_{expert_tensor_group(scenario, 0),
                     expert_tensor_group(scenario, 0, Rivals::PipelineRank)},
      expert_waits_(waits_for_ranks(scenario.parallel.expert)),
      overlaps_tensor_(scenario.framework.overlap_tensor_backward),
      in_pieces_(scenario.framework.tensor_overlap),
      copies_(scenario.framework.copies_along_sequence && !in_pieces_),
      dispatcher_(scenario.framework.kernels.dispatcher) {
    slowest_.chip = slowest_clock(slowest_, scenario.parallel.gpus()) / slowest_.kept_clock();
}

const PassPricer::GroupPlacements& PassPricer::place_of(models::Collective::Group group) const {
    switch (group) {
        case models::Collective::Group::Tensor: return tensor_;
        case models::Collective::Group::Context: return context_;
        case models::Collective::Group::ContextInner: return context_inner_;
        case models::Collective::Group::ContextOuter: return context_outer_;
        case models::Collective::Group::Expert: return expert_;
        case models::Collective::Group::ExpertTensor: return expert_tensor_;
        case models::Collective::Group::Data: break;
    }
    return data_;
}

/// The cost of one such collective.
CollectiveCost PassPricer::cost_of(const models::Collective& collective,
                                   const GroupPlacement& group) const {
    if (collective.is_expert_exchange())
        return expert_all_to_all_cost({collective.bytes, *collective.routing, dispatcher_}, group,
                                      cluster_);
    return collective_cost(kind_of(collective), collective.bytes, group, cluster_);
}

Duration PassPricer::collective(const models::Collective& collective) const {
    return cost_of(collective).total() * collective.count;
}

TierSeconds PassPricer::traffic(const models::Collective& collective) const {
    TierSeconds busy{};
    add_traffic(collective, 1, busy);
    return busy;
}

void PassPricer::add_traffic(const models::Collective& collective, int times,
                             TierSeconds& busy) const {
    const GroupPlacement& group = place_of(collective.group).among_own;
    const CollectiveCost cost = cost_of(collective, group);
    for (std::size_t tier = 0; tier < busy.size(); ++tier)
        busy[tier] += times * collective.count * cost.busy[tier];
}

double PassPricer::kernel_seconds(const models::Kernel& kernel) const {
    const auto on_device = [&](const auto& work) { return seconds(kernel_time(work, slowest_)); };
    return std::visit(Overloaded{[&](const models::Gemm& work) { return on_device(work); },
                                 [&](const models::FlashAttention& w) { return on_device(w); },
                                 [&](const models::Traffic& work) { return on_device(work); },
                                 [](const models::Collective&) { return 0.0; }},
                      kernel.work);
}

double PassPricer::copying_seconds(const models::Collective& collective) const {
    if (!copies_ || collective.group != models::Collective::Group::Tensor ||
        collective.kind == models::Collective::Kind::AllReduce)
        return 0;
    const models::Traffic copy{collective.bytes, collective.bytes};
    return collective.count * seconds(kernel_time(copy, slowest_));
}

/// Shared experts have a stream of their own, so that their kernels may precede the all-to-all in
/// the list or follow it; those of another run of the layer lie beyond another such all-to-all.
double PassPricer::hidden_by_shared(std::span<const models::Kernel> kernels, std::size_t at,
                                    double takes, Room& room) const {
    double hidden = 0;
    const auto beside = [&](std::size_t i) {
        if (kernels[i].layer != kernels[at].layer) return false;
        if (kernels[i].beside != kernels[at].beside) return true;
        if (is_exchange_beside(kernels[i])) return false;
        const double both = std::min(takes - hidden, room[i]);
        room[i] -= both;
        hidden += both;
        return true;
    };
    for (std::size_t i = at + 1; i < kernels.size() && beside(i); ++i) continue;
    for (std::size_t i = at; i > 0 && beside(i - 1); --i) continue;
    return hidden;
}

/// The kernels that may overlap the collective at `at` follow it.
double PassPricer::hidden_seconds(std::span<const models::Kernel> kernels, std::size_t at,
                                  double takes, Room& room) const {
    const auto& work = std::get<models::Collective>(kernels[at].work);
    if (is_exchange_beside(kernels[at])) return hidden_by_shared(kernels, at, takes, room);
    if ((in_pieces_ || is_ring(work)) && work.pieces != models::Collective::Pieces::None)
        return hidden_by_pieces(kernels, at, takes, room);
    const bool may_hide =
        overlaps_tensor_ || in_pieces_ || work.group != models::Collective::Group::Tensor;
    double hidden = 0;
    int left = may_hide ? work.hidden_by : 0;
    for (std::size_t i = at + 1; i < kernels.size() && left > 0; ++i) {
        if (communicates(kernels[i])) continue;
        const double beside = std::min(takes - hidden, room[i]);
        room[i] -= beside;
        hidden += beside;
        --left;
    }
    return hidden;
}

int PassPricer::pieces_of(const models::Collective& work) const {
    const bool next = work.pieces == models::Collective::Pieces::OfNext;
    return next || is_ring(work) ? place_of(work.group).among_all.size
                                 : models::laws().pieces_of_reduction;
}

/// The kernel that overlaps the collective at `at` chunk by chunk.
std::optional<std::size_t> PassPricer::beside_in_pieces(std::span<const models::Kernel> kernels,
                                                        std::size_t at) const {
    const auto& work = std::get<models::Collective>(kernels[at].work);
    const bool next = work.pieces == models::Collective::Pieces::OfNext;
    if ((next && at + 1 >= kernels.size()) || (!next && at == 0)) return std::nullopt;
    const std::size_t beside = next ? at + 1 : at - 1;
    if (communicates(kernels[beside])) return std::nullopt;
    return beside;
}

/// Seconds by which a GEMM is longer because it is launched in chunks, each with fewer tiles: rows
/// are cut.
double PassPricer::lost_in_pieces(std::span<const models::Kernel> kernels, std::size_t at) const {
    const auto& work = std::get<models::Collective>(kernels[at].work);
    if (!in_pieces_ || is_ring(work) || work.pieces == models::Collective::Pieces::None) return 0;
    const auto beside = beside_in_pieces(kernels, at);
    if (!beside) return 0;
    const auto* gemm = std::get_if<models::Gemm>(&kernels[*beside].work);
    const int pieces = pieces_of(work);
    if (gemm == nullptr || gemm->m < pieces) return 0;
    models::Gemm piece = *gemm;
    piece.m = (gemm->m + pieces - 1) / pieces;
    piece.accumulated = Bytes{gemm->accumulated.count / pieces};
    return std::max(0.0, pieces * seconds(kernel_time(piece, slowest_)) -
                             seconds(kernel_time(*gemm, slowest_)));
}

/// A gather brings the first chunk while nothing can be computed, and each other chunk during the
/// compute of the chunk before; a reduction sends the last chunk when everything is computed
/// (TransformerEngine's user buffers: a ring of one chunk per rank by copy engines, a pipelined
/// reduction of four by kernels). Ring attention starts with the rank's own chunk, which needs no
/// transfer.
double PassPricer::hidden_by_pieces(std::span<const models::Kernel> kernels, std::size_t at,
                                    double takes, Room& room) const {
    const auto& work = std::get<models::Collective>(kernels[at].work);
    const bool next = work.pieces == models::Collective::Pieces::OfNext;
    const bool ring = is_ring(work);
    const auto product = beside_in_pieces(kernels, at);
    if (!product) return 0;
    const std::size_t beside = *product;
    const int pieces = pieces_of(work);
    const double part = static_cast<double>(pieces - 1) / pieces;
    const double hideable = next && ring ? takes : takes * part;
    const double hidden = std::min(hideable, room[beside] * part);
    room[beside] -= hidden;
    // The GEMM that overlaps a reduction's kernels is longer.
    const Contention beside_it = contention_of(cluster_.gpu, models::laws().nccl_sms);
    return next || ring ? hidden : hidden - slowed_by(hidden, room[beside] + hidden, beside_it);
}

/// Seconds of each kernel, all of which communication may overlap.
PassPricer::Room PassPricer::room_of(std::span<const models::Kernel> kernels) const {
    Room room;
    room.reserve(kernels.size());
    for (const models::Kernel& kernel : kernels)
        room.push_back(communicates(kernel) ? 0 : kernel_seconds(kernel));
    return room;
}

/// Seconds of waits of all-to-alls of experts for the last rank, relative to their own.
double PassPricer::relative_waits(std::span<const models::Kernel> kernels, const Room& alone,
                                  LayerFold fold) const {
    double computing = 0;
    double exchanging = 0;
    for (std::size_t i = 0; i < kernels.size(); ++i) {
        const int times = kernels[i].layer == fold.layer ? fold.times : 1;
        computing += times * alone[i];
        const auto* exchange = std::get_if<models::Collective>(&kernels[i].work);
        if (exchange != nullptr && exchange->is_expert_exchange())
            exchanging += times * exchange->count * seconds(cost_of(*exchange).total());
    }
    return expert_waits_.relative_to(exchanging, computing);
}

PassTime PassPricer::time(std::span<const models::Kernel> kernels, LayerFold fold) const {
    PassTime pass;
    pass.each.reserve(kernels.size());
    const Room alone = room_of(kernels);
    Room room = alone;
    const double waits = relative_waits(kernels, alone, fold);
    for (std::size_t i = 0; i < kernels.size(); ++i) {
        const models::Kernel& kernel = kernels[i];
        const int times = kernel.layer == fold.layer ? fold.times : 1;
        if (!communicates(kernel)) {
            const double takes = alone[i];
            (kernel.layer ? pass.layers : pass.ends) += times * takes;
            pass.each.push_back({takes, 0});
            continue;
        }
        const auto& collective = std::get<models::Collective>(kernel.work);
        const CollectiveCost cost = cost_of(collective);
        double takes = seconds(cost.total() * collective.count);
        if (collective.is_expert_exchange()) {
            pass.waits += times * waits * takes;
            takes *= 1 + waits;
        }
        const double hidden = hidden_seconds(kernels, i, takes, room);
        const double copies = copying_seconds(collective) + lost_in_pieces(kernels, i);
        (kernel.layer ? pass.layers : pass.ends) += times * copies;
        pass.each.push_back({takes - hidden + copies, hidden});
        pass.exposed += times * (takes - hidden);
        pass.hidden += times * hidden;
        if (const int members = place_of(collective.group).among_all.size; members > 1)
            pass.by_kind[serves(collective.group)] +=
                {times * (takes - hidden), times * hidden,
                 times * collective.count * size_of(collective, members)};
        if (kernel.layer) {
            pass.exposed_in_layers += times * (takes - hidden);
            for (std::size_t tier = 0; tier < cost.busy.size(); ++tier)
                pass.communicating[tier] += times * collective.count * cost.busy[tier];
        }
        if (const auto kind = exchange_of(collective.group)) {
            ExposedExchanges& exchanges = pass.exchanges[*kind];
            exchanges.seconds += times * (takes - hidden);
            exchanges.count += times;
        }
        pass.collectives += times * collective.count;
        add_traffic(collective, times, pass.busy);
    }
    return pass;
}

}  // namespace debubble::sim
