#include "sim/plan/plan_picture.h"

#include <algorithm>
#include <array>
#include <map>
#include <set>
#include <tuple>
#include <utility>

#include "base/overloaded.h"
#include "sim/cost/schedule_prices.h"
#include "sim/network/topology.h"

namespace debubble::sim {
namespace {

using picture::LinkStretch;
using picture::LinkStretches;

constexpr std::array kLaneTiers{Tier::Node, Tier::Network};
constexpr std::array kNames{"node", "network"};

class LinkLanes {
public:
    LinkLanes(const SchedulePrices& prices, const CostModel& costs, const Trace& trace)
        : prices_(prices),
          costs_(costs),
          trace_(trace),
          topology_(prices.scenario()),
          index_(prices.placement()) {
        for (std::size_t of = 0; of < kLaneTiers.size(); ++of) {
            picture::LinkClass& links = table_.classes.emplace_back();
            links.name = kNames[of];
            for (int r = 0; r < prices.placement().ranks(); ++r)
                links.limits.push_back(
                    {double(topology_.inner_flow(kLaneTiers[of], 1, Rank{r}).bytes.count)});
        }
        table_.uses.emplace_back();  // of spans that send nothing
    }

    std::shared_ptr<const picture::LinkTable> made() {
        table_.use_of_span.assign(trace_.spans.size(), 0);
        for (std::uint32_t i = 0; i < trace_.spans.size(); ++i) {
            const Span& span = trace_.spans[i];
            std::visit([&](const auto& action) { add(action, span, i); }, span.action);
        }
        if (table_.uses.size() == 1) return nullptr;
        const bool network = std::ranges::any_of(table_.uses, [](const LinkStretches& use) {
            return std::ranges::any_of(use, [](const LinkStretch& s) { return s.of == 1; });
        });
        if (!network) table_.classes.pop_back();
        return std::make_shared<const picture::LinkTable>(std::move(table_));
    }

private:
    void put(std::uint32_t span, LinkStretches stretches) {
        if (stretches.empty()) return;
        table_.use_of_span[span] = static_cast<std::uint32_t>(table_.uses.size());
        table_.uses.push_back(std::move(stretches));
    }

    /// The same for spans of one key, which share what is made for the first of them.
    template <class Known, class Key, class Make>
    void share(std::uint32_t span, Known& known, const Key& key, const Make& make) {
        const auto [place, added] = known.try_emplace(key, 0);
        if (added) {
            put(span, make());
            place->second = table_.use_of_span[span];
        }
        table_.use_of_span[span] = place->second;
    }

    /// Key of a pass: its kind, or the number after the last one for a recomputed forward.
    using Key = std::tuple<int, Stage, int>;
    std::uint32_t use_of(const Key& key, const std::vector<PricePart>& parts,
                         const TierSeconds& busy) {
        const auto [known, added] = passes_.try_emplace(key, 0);
        if (!added) return known->second;
        LinkStretches stretches = stretches_of(parts, busy);
        if (stretches.empty()) return 0;
        known->second = static_cast<std::uint32_t>(table_.uses.size());
        table_.uses.push_back(std::move(stretches));
        return known->second;
    }
    std::uint32_t use_of(const Compute& pass) {
        const StagePrice& price = prices_.of(pass);
        return use_of({static_cast<int>(pass.pass), pass.stage, pass.micro_batch.slice.value_or(0)},
                      price.parts(pass.pass), price.busy(pass.pass));
    }

    /// The collectives of a pass, each from its place in the order of operators on for as long as
    /// it takes, exposed or hidden; what has no place is spread over the pass.
    LinkStretches stretches_of(const std::vector<PricePart>& parts, const TierSeconds& busy) const {
        double all = 0;
        for (const PricePart& part : parts) all += std::max(0.0, seconds(part.takes));
        LinkStretches stretches;
        TierSeconds rest = busy;
        double at = 0;
        for (const PricePart& part : parts) {
            const double takes = std::max(0.0, seconds(part.takes));
            const double begin = all > 0 ? at / all : 0;
            at += takes;
            const auto* kernel = std::get_if<KernelPart>(&part.from);
            const auto* work = kernel == nullptr
                                   ? nullptr
                                   : std::get_if<models::Collective>(&kernel->kernel->work);
            if (work == nullptr || all <= 0) continue;
            const double length = std::max(takes, part.times * seconds(kernel->alone)) / all;
            const TierSeconds sends = prices_.pricer().traffic(*work);
            for (std::size_t of = 0; of < kLaneTiers.size(); ++of) {
                const Tier tier = kLaneTiers[of];
                const double sent = std::min(part.times * sends[tier], rest[tier]);
                if (sent <= 0 || length <= 0) continue;
                rest[tier] -= sent;
                stretches.push_back({of, begin, std::min(1.0, begin + length), sent});
            }
        }
        constexpr double kLeast = 1e-9;  // seconds
        for (std::size_t of = 0; of < kLaneTiers.size(); ++of)
            if (const double left = rest[kLaneTiers[of]]; left > kLeast)
                stretches.push_back({of, 0, 1, left});
        return stretches;
    }

    /// The time for which a flow keeps the rank's own links of each class busy.
    LinkStretches stretches_of(const Flow& flow, Rank rank, double begin = 0,
                               double end = 1) const {
        LinkStretches stretches;
        for (std::size_t of = 0; of < kLaneTiers.size(); ++of) {
            const InnerFlow own = topology_.inner_flow(kLaneTiers[of], 1, rank);
            double busy = 0;
            const auto meet = [&](Bytes bytes, const auto& links) {
                for (const Link link : links)
                    if (std::ranges::find(own.links, link) != own.links.end())
                        busy =
                            std::max(busy, seconds(bytes / topology_.links()[std::size_t(link)]));
            };
            meet(flow.bytes, flow.links);
            for (const LinkBytes& also : flow.also) meet(also.bytes, also.links);
            if (busy > 0) stretches.push_back({of, begin, end, busy});
        }
        return stretches;
    }

    void add(const Compute& pass, const Span& span, std::uint32_t i) {
        table_.use_of_span[i] = use_of(pass);
        note(pass, span, i);
    }
    void add(const Overlap& both, const Span& span, std::uint32_t i) {
        const std::pair parts(use_of(both.first), use_of(both.second));
        share(i, pairs_, parts, [&] {
            LinkStretches stretches = table_.uses[parts.first];
            const LinkStretches& second = table_.uses[parts.second];
            stretches.insert(stretches.end(), second.begin(), second.end());
            return stretches;
        });
        note(both.first, span, i);
        note(both.second, span, i);
    }
    void add(const Recompute& again, const Span&, std::uint32_t i) {
        const StagePrice& price = prices_.of(again.stage, again.micro_batch);
        table_.use_of_span[i] = use_of({static_cast<int>(Pass::BackwardWeight) + 1, again.stage,
                                        again.micro_batch.slice.value_or(0)},
                                       price.parts_again(), price.busy_again());
    }
    void add(const Send& send, const Span& span, std::uint32_t i) {
        const Message& message = send.message;
        const std::tuple key(span.rank, send.to, message.kind, message.producer,
                             message.micro_batch.slice.value_or(0));
        share(i, messages_, key, [&] {
            return stretches_of(costs_.transfer(message, span.rank, send.to), span.rank);
        });
    }
    void add(const Unshard& gather, const Span& span, std::uint32_t i) {
        put(i, stretches_of(costs_.unshard(gather.stage, span.rank), span.rank));
    }
    void add(const ReduceGrad& reduce, const Span& span, std::uint32_t i) {
        const std::span<const Rank> holders = index_.ranks_of(reduce.stage);
        put(i, stretches_of(costs_.reduce_grad(reduce.stage, holders), span.rank));
        const HiddenPart hidden = costs_.reduce_grad_hidden(reduce.stage, holders);
        const auto last = last_backward_.find({span.rank, reduce.stage});
        if (!hidden.any() || last == last_backward_.end()) return;
        const double share = share_of(hidden, trace_.spans[last->second]);
        also(last->second, stretches_of(hidden.flow, span.rank, 1 - share, 1));
    }
    void add(const TiedGradReduce& reduce, const Span& span, std::uint32_t i) {
        put(i,
            stretches_of(costs_.tied_grad(reduce.stage, index_.ranks_of(reduce.stage)), span.rank));
    }
    void add(const GradNorm&, const Span& span, std::uint32_t i) {
        put(i, stretches_of(costs_.grad_norm(), span.rank));
    }
    template <class Other>
    void add(const Other&, const Span&, std::uint32_t) {}

    static double share_of(const HiddenPart& hidden, const Span& span) {
        const double length = seconds(span.length());
        return length > 0 ? std::min(1.0, seconds(hidden.overlap) / length) : 1;
    }
    void also(std::uint32_t span, const LinkStretches& more) {
        LinkStretches stretches = table_.of(span);
        stretches.insert(stretches.end(), more.begin(), more.end());
        put(span, std::move(stretches));
    }
    /// Remembers the last backward of a stage, and adds to its first forward the gather that it
    /// hides.
    void note(const Compute& pass, const Span& span, std::uint32_t i) {
        const std::pair key(span.rank, pass.stage);
        if (pass.pass != Pass::Forward) {
            last_backward_[key] = i;
            return;
        }
        if (!begun_.insert(key).second) return;
        const HiddenPart hidden = costs_.unshard_hidden(pass.stage, span.rank);
        if (hidden.any()) also(i, stretches_of(hidden.flow, span.rank, 0, share_of(hidden, span)));
    }

    const SchedulePrices& prices_;
    const CostModel& costs_;
    const Trace& trace_;
    Topology topology_;
    PlacementIndex index_;
    picture::LinkTable table_;
    std::map<Key, std::uint32_t> passes_;
    std::map<std::pair<std::uint32_t, std::uint32_t>, std::uint32_t> pairs_;
    std::map<std::tuple<Rank, Rank, Message::Kind, Stage, int>, std::uint32_t> messages_;
    std::map<std::pair<Rank, Stage>, std::uint32_t> last_backward_;
    std::set<std::pair<Rank, Stage>> begun_;
};

}  // namespace

std::shared_ptr<const picture::LinkTable> links_of(const SchedulePrices& prices,
                                                   const CostModel& costs, const Trace& trace) {
    return LinkLanes(prices, costs, trace).made();
}

}  // namespace debubble::sim
