#include "sim/explain/communication.h"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <map>
#include <numeric>
#include <set>
#include <vector>

#include "base/overloaded.h"

namespace debubble::sim {
namespace {

using Hides = std::array<bool, kCommunicationKinds>;

/// Seconds of a flow without contention.
double seconds_alone(const Flow& flow, const CostModel& costs) {
    double transfer = 0;
    for (const Link link : flow.links)
        transfer = std::max(transfer, seconds(flow.bytes / costs.links()[link]));
    return seconds(flow.latency) + transfer;
}

double sum_of(const TimeByKind& all, auto&& seconds_of) {
    return std::accumulate(all.begin(), all.end(), 0.0,
                           [&](double sum, const KindTime& one) { return sum + seconds_of(one); });
}

/// Hides `taken` exposed seconds, first those of the kinds that a pair hides.
void hide(TimeByKind& all, double taken, const Hides& hides) {
    const auto exposed = [](const KindTime& one) { return one.exposed; };
    double first = 0;
    for (std::size_t kind = 0; kind < all.size(); ++kind)
        if (hides[kind]) first += all[kind].exposed;
    const double others = sum_of(all, exposed) - first;
    const double from_first = std::min(taken, first);
    const double of_first = first > 0 ? from_first / first : 0;
    const double of_others = others > 0 ? std::min(1.0, (taken - from_first) / others) : 0;
    for (std::size_t kind = 0; kind < all.size(); ++kind) {
        const double hidden = all[kind].exposed * (hides[kind] ? of_first : of_others);
        all[kind].exposed -= hidden;
        all[kind].hidden += hidden;
    }
}

/// Exposes `seconds` more, in proportion to the time of each kind.
void expose(TimeByKind& all, double more, CommunicationKind otherwise) {
    const double time = sum_of(all, [](const KindTime& one) { return one.seconds(); });
    if (time <= 0) {
        all[otherwise].exposed += more;
        return;
    }
    for (KindTime& one : all) one.exposed += more * one.seconds() / time;
}

/// The communication of one rank, span by span.
class RankCommunication {
public:
    /// `parts` are the trace's.
    RankCommunication(Rank rank, const PlacementIndex& index, const CostModel& costs,
                      ExposedParts& parts)
        : rank_(rank), index_(index), costs_(costs), parts_(parts) {}

    void add(Span& span) {
        std::visit(
            Overloaded{
                [&](const Compute& c) { add(span, costs_.communication(c), {}, gathers(c)); },
                [&](const Overlap& o) { add(span, o); },
                [&](const Recompute& r) { add(span, costs_.communication(r), {}, false); },
                [&](const Recv&) { add_between(Between::Stages, seconds(span.length()), span); },
                [&](const auto& action) { add_between(action, span); }},
            span.action);
    }

    TimeByKind total(const RankStatistics& statistics) {
        double between = 0;
        for (const Duration part : statistics.exposed_between_by) between += seconds(part);
        // Where steps overlap, less is exposed than in the simulated one.
        const double kept = between > 0 ? seconds(statistics.exposed_between) / between : 0;
        constexpr std::array kKinds{CommunicationKind::Data, CommunicationKind::Pipeline,
                                    CommunicationKind::Host};
        for (std::size_t b = 0; b < kBetween; ++b) {
            KindTime& time = sum_[kKinds[b]];
            const double exposed = kept * seconds(statistics.exposed_between_by[b]);
            double unseen = alone_[b] - exposed;
            if (b == position_of(Between::Stages)) unseen -= waits(statistics);
            time.exposed += exposed;
            time.hidden += std::max(0.0, unseen);
        }
        return sum_;
    }

    static double waits(const RankStatistics& statistics) {
        return seconds(statistics.idle_by_cause[BubbleCause::Link]);
    }

private:
    /// True for the pass during which the stage's parameters are gathered.
    bool gathers(const Compute& c) {
        return c.pass == Pass::Forward && begun_.insert(c.stage).second &&
               costs_.unshard_hidden(c.stage, rank_).any();
    }

    /// A pass's priced communication, split by what of it nothing hides in a span.
    struct Split {
        TimeByKind priced;
        Duration unhidden;
        Hides hides;
        bool gathers = false;
        TimeByKind time;
        std::uint32_t parts = 0;  ///< number of the exposed parts

        bool is_of(const TimeByKind& other, Duration exposed, const Hides& pair, bool first) const {
            return unhidden == exposed && gathers == first && hides == pair && priced == other;
        }
    };

    void add(Span& span, const TimeByKind& priced, const Hides& hides, bool gathers) {
        const Duration unhidden = std::clamp(span.exposed, Duration{}, span.length());
        const Split& split = split_of(priced, unhidden, hides, gathers);
        sim::add(sum_, split.time);
        span.exposed_parts = split.parts;
    }
    /// Most passes of a step are split like one of the last few.
    const Split& split_of(const TimeByKind& priced, Duration unhidden, const Hides& hides,
                          bool gathers) {
        constexpr std::size_t kKept = 8;
        for (const Split& split : splits_)
            if (split.is_of(priced, unhidden, hides, gathers)) return split;
        if (splits_.size() < kKept) splits_.emplace_back();
        Split& split = splits_[next_split_++ % kKept];
        split = {priced, unhidden, hides, gathers, priced, 0};
        const double more =
            seconds(unhidden) - sum_of(priced, [](const KindTime& one) { return one.exposed; });
        if (more < 0)
            hide(split.time, -more, hides);
        else if (gathers)
            split.time[CommunicationKind::Data].exposed += more;
        else
            expose(split.time, more, CommunicationKind::Data);
        split.parts = parts_.number(whole_parts(split.time, unhidden));
        return split;
    }
    void add(Span& span, const Overlap& pair) {
        TimeByKind both = costs_.communication(pair.first);
        sim::add(both, costs_.communication(pair.second));
        const bool first = gathers(pair.first);
        const bool second = gathers(pair.second);
        add(span, both, costs_.hidden_in_pairs(), first || second);
    }

    void add_between(Between purpose, double alone, const Span& span) {
        alone_[purpose] += alone;
        const CommunicationKind kind = purpose == Between::Replicas ? CommunicationKind::Data
                                       : purpose == Between::Stages ? CommunicationKind::Pipeline
                                                                    : CommunicationKind::Host;
        sum_[kind].bytes += static_cast<double>(span.bytes.count);
    }
    void add_between(const Unshard& u, const Span& span) {
        const auto [time, is_new] = gathers_.try_emplace(u.stage);
        if (is_new)
            time->second = seconds_alone(costs_.unshard(u.stage, rank_), costs_) +
                           seconds_alone(costs_.unshard_hidden(u.stage, rank_).flow, costs_);
        add_between(Between::Replicas, time->second, span);
    }
    void add_between(const ReduceGrad& r, const Span& span) {
        const auto [time, is_new] = reductions_.try_emplace(r.stage);
        if (is_new) {
            const std::span<const Rank> holders = index_.ranks_of(r.stage);
            time->second = seconds_alone(costs_.reduce_grad(r.stage, holders), costs_) +
                           seconds_alone(costs_.reduce_grad_hidden(r.stage, holders).flow, costs_);
        }
        add_between(Between::Replicas, time->second, span);
    }
    // The exposed time separates its wait for others before it begins from its own time.
    void add_between(const TiedGradReduce&, const Span& span) {
        add_between(Between::Stages, 0, span);
    }
    void add_between(const GradNorm&, const Span& span) { add_between(Between::Replicas, 0, span); }
    void add_between(const Offload& o, const Span& span) { add_copy(o.stage, span); }
    void add_between(const Reload& r, const Span& span) { add_copy(r.stage, span); }
    void add_copy(Stage stage, const Span& span) {
        const auto [time, is_new] = copies_.try_emplace(stage);
        if (is_new) time->second = seconds_alone(costs_.offload(stage, rank_), costs_);
        add_between(Between::Host, time->second, span);
    }
    void add_between(const Send&, const Span&) {}  // its Recv counts
    void add_between(const Reshard&, const Span&) {}
    void add_between(const OptimizerStep&, const Span&) {}

    Rank rank_;
    const PlacementIndex& index_;
    const CostModel& costs_;
    ExposedParts& parts_;
    TimeByKind sum_{};
    std::vector<Split> splits_;
    std::size_t next_split_ = 0;
    ArrayBy<Between, double, kBetween> alone_{};  ///< seconds between computes, by purpose
    std::set<Stage> begun_;                       ///< stages with a forward
    std::map<Stage, double> gathers_;             ///< seconds alone
    std::map<Stage, double> reductions_;
    std::map<Stage, double> copies_;
};

}  // namespace

DurationByKind whole_parts(const TimeByKind& time, Duration all) {
    DurationByKind parts{};
    const double sum = sum_of(time, [](const KindTime& one) { return one.exposed; });
    if (sum <= 0) return parts;
    double before = 0;
    Duration given{};
    for (std::size_t kind = 0; kind < parts.size(); ++kind) {
        before += time[kind].exposed;
        const double share = std::min(before / sum, 1.0);
        const Duration until{std::llround(share * static_cast<double>(all.count()))};
        parts[kind] = until - given;
        given = until;
    }
    return parts;
}

void fill_communication(std::vector<RankPrediction>& ranks, Trace& trace,
                        const Statistics& statistics, const Placement& placement,
                        const CostModel& costs) {
    const PlacementIndex index(placement);
    std::vector<RankCommunication> sums;
    IndexedBy<Rank, std::size_t> place(placement.stages.size(), ranks.size());
    for (std::size_t i = 0; i < ranks.size(); ++i) {
        sums.emplace_back(ranks[i].rank, index, costs, trace.exposed_parts);
        place[ranks[i].rank] = i;
    }
    for (Span& span : trace.spans)
        if (const std::size_t at = place[span.rank]; at < sums.size()) sums[at].add(span);
    for (std::size_t i = 0; i < ranks.size(); ++i) {
        ranks[i].communication = sums[i].total(statistics.ranks[i]);
        ranks[i].waits_for_links_s = RankCommunication::waits(statistics.ranks[i]);
    }
}

TimeByKind mean_communication(const Prediction& prediction) {
    TimeByKind mean{};
    for (const RankPrediction& rank : prediction.ranks) add(mean, rank.communication);
    const auto ranks = static_cast<double>(std::max<std::size_t>(1, prediction.ranks.size()));
    for (KindTime& one : mean) {
        one.exposed /= ranks;
        one.hidden /= ranks;
        one.bytes /= ranks;
    }
    return mean;
}

double rate_of(const KindTime& time) {
    return time.seconds() > 0 ? time.bytes / time.seconds() : 0;
}

std::string words_of(CommunicationKind kind) {
    switch (kind) {
        case CommunicationKind::Tensor: return "tensor parallel";
        case CommunicationKind::Context: return "context parallel";
        case CommunicationKind::Expert: return "expert parallel";
        case CommunicationKind::Data: return "data parallel";
        case CommunicationKind::Pipeline: return "pipeline";
        case CommunicationKind::Host: return "copies to the host";
    }
    return {};
}

}  // namespace debubble::sim
