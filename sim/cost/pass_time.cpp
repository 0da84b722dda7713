#include "sim/cost/pass_time.h"

#include <algorithm>
#include <optional>
#include <variant>

#include "base/overloaded.h"
#include "sim/cost/kernel_cost.h"
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
        case models::Collective::Group::Context: return Exchange::Context;
        case models::Collective::Group::Expert: return Exchange::ExpertAllToAll;
        case models::Collective::Group::Data: break;
    }
    return std::nullopt;
}

bool communicates(const models::Kernel& kernel) {
    return std::holds_alternative<models::Collective>(kernel.work);
}

}  // namespace

PassPricer::PassPricer(const scenarios::Scenario& scenario)
    : cluster_(scenario.cluster),
      tensor_{tensor_group(scenario, 0), tensor_group(scenario, 0, Rivals::PipelineRank)},
      context_{context_group(scenario, 0), context_group(scenario, 0, Rivals::PipelineRank)},
      data_{gradient_group(scenario, 0), gradient_group(scenario, 0)},
      expert_{expert_group(scenario, 0), expert_group(scenario, 0, Rivals::PipelineRank)},
      expert_tensor_{expert_tensor_group(scenario, 0),
                     expert_tensor_group(scenario, 0, Rivals::PipelineRank)},
      overlaps_tensor_(scenario.framework.overlap_tensor_backward) {}

const PassPricer::GroupPlacements& PassPricer::place_of(models::Collective::Group group) const {
    switch (group) {
        case models::Collective::Group::Tensor: return tensor_;
        case models::Collective::Group::Context: return context_;
        case models::Collective::Group::Expert: return expert_;
        case models::Collective::Group::ExpertTensor: return expert_tensor_;
        case models::Collective::Group::Data: break;
    }
    return data_;
}

/// The cost of one such collective.
CollectiveCost PassPricer::cost_of(const models::Collective& collective) const {
    const GroupPlacement& group = place_of(collective.group).among_all;
    return collective_cost(kind_of(collective), collective.bytes, group, cluster_);
}

Duration PassPricer::collective(const models::Collective& collective) const {
    return cost_of(collective).total() * collective.count;
}

void PassPricer::add_traffic(const models::Collective& collective, int times,
                             TierSeconds& busy) const {
    const GroupPlacement& group = place_of(collective.group).among_own;
    const CollectiveCost cost =
        collective_cost(kind_of(collective), collective.bytes, group, cluster_);
    for (std::size_t tier = 0; tier < busy.size(); ++tier)
        busy[tier] += times * collective.count * cost.busy[tier];
}

double PassPricer::kernel_seconds(const models::Kernel& kernel) const {
    const auto on_device = [&](const auto& work) {
        return seconds(kernel_time(work, cluster_.gpu));
    };
    return std::visit(Overloaded{[&](const models::Gemm& work) { return on_device(work); },
                                 [&](const models::FlashAttention& w) { return on_device(w); },
                                 [&](const models::Traffic& work) { return on_device(work); },
                                 [](const models::Collective&) { return 0.0; }},
                      kernel.work);
}

/// `from` begins with the collective; the kernels that may run at the same time follow.
double PassPricer::hidden_seconds(std::span<const models::Kernel> from, double takes) const {
    const auto& work = std::get<models::Collective>(from.front().work);
    const bool may_hide = overlaps_tensor_ || work.group != models::Collective::Group::Tensor;
    double kernels = 0;
    int left = may_hide ? work.hidden_by : 0;
    for (std::size_t i = 1; i < from.size() && left > 0; ++i) {
        if (communicates(from[i])) continue;
        kernels += kernel_seconds(from[i]);
        --left;
    }
    return std::min(takes, kernels);
}

PassTime PassPricer::time(std::span<const models::Kernel> kernels, LayerFold fold) const {
    PassTime pass;
    pass.each.reserve(kernels.size());
    for (std::size_t i = 0; i < kernels.size(); ++i) {
        const models::Kernel& kernel = kernels[i];
        const int times = kernel.layer == fold.layer ? fold.times : 1;
        if (!communicates(kernel)) {
            const double takes = kernel_seconds(kernel);
            (kernel.layer >= 0 ? pass.layers : pass.ends) += times * takes;
            pass.each.push_back({takes, 0});
            continue;
        }
        const auto& collective = std::get<models::Collective>(kernel.work);
        const CollectiveCost cost = cost_of(collective);
        const double takes = seconds(cost.total() * collective.count);
        const double hidden = hidden_seconds(kernels.subspan(i), takes);
        pass.each.push_back({takes - hidden, hidden});
        pass.exposed += times * (takes - hidden);
        pass.hidden += times * hidden;
        if (kernel.layer >= 0) {
            pass.exposed_in_layers += times * (takes - hidden);
            for (std::size_t tier = 0; tier < cost.busy.size(); ++tier)
                pass.communicating[tier] += times * collective.count * cost.busy[tier];
        }
        if (const auto kind = exchange_of(collective.group)) {
            ExposedExchanges& exchanges = pass.exchanges[static_cast<std::size_t>(*kind)];
            exchanges.seconds += times * (takes - hidden);
            exchanges.count += times;
        }
        pass.collectives += times * collective.count;
        add_traffic(collective, times, pass.busy);
    }
    return pass;
}

}  // namespace debubble::sim
