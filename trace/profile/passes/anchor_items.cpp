#include "trace/profile/passes/found_pass.h"

#include <algorithm>

#include "trace/profile/passes/accounts.h"

namespace debubble::profile {
namespace {

bool contains(std::string_view text, std::string_view word) {
    return text.find(word) != std::string_view::npos;
}

/// FlashAttention's backward has kernels before and after the one that counts.
bool is_helper(std::string_view name) {
    return contains(name, "dot_do_o") || contains(name, "convert_dq") ||
           contains(name, "preprocess") || contains(name, "postprocess") ||
           contains(name, "combine");
}

/// Classification of a name, computed once for all its kernels.
struct NameFacts {
    KernelClass name_class = KernelClass::Unknown;
    bool backward = false;
    bool engine = false;
    bool counts = false;
    bool message = false;
    bool weight_gradient = false;
};

std::vector<NameFacts> facts_of(const RankProfile& profile) {
    const bool on_host = profile.kernels.empty();
    std::vector<NameFacts> out;
    for (std::uint32_t i = 0; i < profile.names.size(); ++i) {
        const std::string& name = profile.names[i];
        NameFacts facts;
        facts.name_class = on_host ? class_of_operator(name) : class_of(name);
        facts.engine = name.starts_with("autograd::engine::evaluate_function");
        facts.backward = facts.engine || names_backward(name);
        facts.counts = (facts.name_class == KernelClass::AttentionForward ||
                        facts.name_class == KernelClass::AttentionBackward) &&
                       !is_helper(name);
        facts.message = is_message_operator(name);
        facts.weight_gradient = !on_host && names_weight_gradient(name);
        out.push_back(facts);
    }
    return out;
}

class Splitter {
public:
    Splitter(const RankProfile& profile, const StepRanges& steps)
        : profile_(profile), ranges_(steps), facts_(facts_of(profile)) {
        steps_.resize(std::max<std::size_t>(1, steps.ranges.size()));
    }

    std::vector<StepItems> split() {
        if (profile_.kernels.empty())
            operators();
        else
            kernels();
        if (ranges_.ranges.empty()) cut_at_optimizers();
        for (StepItems& step : steps_) mark_blocking(step);
        return std::move(steps_);
    }

private:
    StepItems* step_of(std::int64_t host_time) {
        if (ranges_.ranges.empty()) return &steps_.front();
        const auto step = ranges_.step_at(host_time);
        return step ? &steps_[*step] : nullptr;
    }

    Item item(std::int64_t begin, std::int64_t end, std::uint32_t name) const {
        const NameFacts& facts = facts_[name];
        return {begin,        end,          facts.name_class,      facts.backward,
                facts.engine, facts.counts, facts.weight_gradient, name};
    }

    /// The kernel of a single send or receive is named so; one of several (coalesced) is not.
    Exchange exchange(const DeviceSpan& kernel) const {
        const CollectiveNote& note = profile_.notes[kernel.note];
        Exchange out{kernel.begin, kernel.end, 0, true, true, true, {}};
        if (!note.peer || (note.collective != "send" && note.collective != "recv")) return out;
        out.sends = note.collective == "send";
        out.receives = !out.sends;
        out.peer = note.peer;
        out.bytes = bytes_of(note);
        return out;
    }

    void kernels() {
        for (const DeviceSpan& kernel : profile_.kernels) {
            StepItems* const step =
                step_of(kernel.launched == kNoLaunch ? kernel.begin : kernel.launched);
            if (step == nullptr) continue;
            switch (kernel.kernel_class) {
                case KernelClass::PointToPoint: step->exchanges.push_back(exchange(kernel)); break;
                case KernelClass::Collective: step->collectives.push_back(kernel); break;
                case KernelClass::Optimizer:
                    step->optimizer.push_back(item(kernel.begin, kernel.end, kernel.name));
                    break;
                case KernelClass::Copy:
                case KernelClass::Dispatch: break;
                default: step->items.push_back(item(kernel.begin, kernel.end, kernel.name));
            }
        }
    }

    bool in_optimizer(std::int64_t at) const {
        const auto after = std::ranges::upper_bound(profile_.ranges, at, {}, &HostSpan::begin);
        constexpr int kLooked = 16;
        int looked = 0;
        for (auto range = after; range != profile_.ranges.begin() && looked++ < kLooked;) {
            --range;
            if (range->end >= at && profile_.names[range->name].starts_with("Optimizer."))
                return true;
        }
        return false;
    }

    void operators() {
        for (const HostSpan& op : profile_.ops) {
            StepItems* const step = step_of(op.begin);
            if (step == nullptr || facts_[op.name].message) continue;
            const Item found = item(op.begin, op.end, op.name);
            if (found.item_class == KernelClass::Optimizer || in_optimizer(op.begin))
                step->optimizer.push_back(found);
            else
                step->items.push_back(found);
        }
        for (const HostSpan& range : profile_.ranges) {
            const std::string_view name = profile_.names[range.name];
            const bool sends = name.starts_with("gloo:send");
            const bool receives = name.starts_with("gloo:recv");
            StepItems* const step = step_of(range.begin);
            if ((sends || receives) && step != nullptr)
                step->exchanges.push_back({range.begin, range.end, 0, sends, receives, true, {}});
        }
    }

    /// A step ends where attention follows an optimizer's kernel.
    void cut_at_optimizers() {
        StepItems all = std::move(steps_.front());
        steps_.clear();
        std::vector<std::int64_t> cuts;
        std::int64_t last = INT64_MIN;
        auto optimizer = all.optimizer.begin();
        for (const Item& found : all.items) {
            if (!found.counts) continue;
            std::int64_t ended = INT64_MIN;
            while (optimizer != all.optimizer.end() && optimizer->begin < found.begin)
                ended = (optimizer++)->end;
            if (ended != INT64_MIN && last != INT64_MIN) cuts.push_back(ended);
            last = found.begin;
        }
        steps_.resize(cuts.size() + 1);
        const auto of = [&](std::int64_t at) -> StepItems& {
            return steps_[std::ranges::upper_bound(cuts, at) - cuts.begin()];
        };
        for (const Item& found : all.items) of(found.begin).items.push_back(found);
        for (const Exchange& found : all.exchanges) of(found.begin).exchanges.push_back(found);
        for (const Item& found : all.optimizer) of(found.begin - 1).optimizer.push_back(found);
        for (const DeviceSpan& found : all.collectives)
            of(found.begin).collectives.push_back(found);
    }

    /// Communication that overlaps computes does not delimit a pass.
    void mark_blocking(StepItems& step) const {
        if (profile_.kernels.empty()) return;
        Intervals computes;
        for (const Item& found : step.items) computes.push_back({found.begin, found.end});
        computes = union_of(std::move(computes));
        for (Exchange& exchange : step.exchanges)
            exchange.blocks = clipped(computes, exchange.begin, exchange.end).empty();
    }

    const RankProfile& profile_;
    const StepRanges& ranges_;
    std::vector<NameFacts> facts_;
    std::vector<StepItems> steps_;
};

}  // namespace

std::vector<StepItems> step_items(const RankProfile& profile, const StepRanges& steps) {
    return Splitter(profile, steps).split();
}

}  // namespace debubble::profile
