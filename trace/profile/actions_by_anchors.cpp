#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "trace/profile/anchor_items.h"
#include "trace/profile/launch_index.h"
#include "trace/profile/rank_actions.h"

namespace debubble::profile {
namespace {

/// A pass as a run of items of its step.
struct FoundPass {
    bool forward = true;
    std::size_t first_anchor = 0;  ///< indices of items
    std::size_t last_anchor = 0;
    std::size_t first = 0;
    std::size_t last = 0;
};

/// The runs of attention of one kind that no exchange interrupts.
std::vector<std::vector<std::size_t>> runs_of(const StepItems& step) {
    std::vector<std::vector<std::size_t>> runs;
    auto exchange = step.exchanges.begin();
    for (std::size_t i = 0; i < step.items.size(); ++i) {
        const Item& item = step.items[i];
        if (!item.counts) continue;
        bool cut = runs.empty() || step.items[runs.back().back()].item_class != item.item_class;
        for (; exchange != step.exchanges.end() && exchange->begin <= item.begin; ++exchange)
            cut |= exchange->blocks;
        if (cut) runs.emplace_back();
        runs.back().push_back(i);
    }
    return runs;
}

class AnchoredActions {
public:
    AnchoredActions(const RankProfile& profile, const RecogniseOptions& options)
        : profile_(profile),
          options_(options),
          ranges_(step_ranges(profile)),
          steps_(step_items(profile, ranges_)) {}

    RankActions find() {
        count_layers();
        if (out_.layers == 0) return std::move(out_);
        out_.evidence = Evidence::Anchors;
        out_.step_names = ranges_.names;
        out_.steps = static_cast<int>(steps_.size());
        for (std::size_t step = 0; step < steps_.size(); ++step) one(static_cast<int>(step));
        return std::move(out_);
    }

private:
    /// The greatest number of layers of which every run is a multiple.
    void count_layers() {
        std::size_t common = 0;
        for (const StepItems& step : steps_)
            for (const auto& run : runs_of(step)) common = std::gcd(common, run.size());
        out_.layers = static_cast<int>(common);
        if (options_.layers && common > 0) {
            out_.layers = *options_.layers;
            if (common % static_cast<std::size_t>(out_.layers) != 0)
                out_.notes.push_back(fmt::format(
                    "attention runs are multiples of {}, and the stage has {} layers of it", common,
                    out_.layers));
        }
    }

    void one(int step) {
        const StepItems& items = steps_[static_cast<std::size_t>(step)];
        std::vector<FoundPass> passes = passes_of(items);
        merge_recomputes(passes);
        for (std::size_t i = 0; i < passes.size(); ++i) bound(items, passes, i);
        std::string kinds;
        int forwards = 0;
        int backwards = 0;
        std::vector<Compute> computes;
        for (const FoundPass& pass : passes) {
            kinds += pass.forward ? 'F' : 'B';
            int& count = pass.forward ? forwards : backwards;
            computes.push_back({pass.forward ? Pass::Forward : Pass::Backward, Stage{options_.rank},
                                MicroBatch{count++, {}}});
        }
        out_.pass_kinds.push_back(kinds);
        for (std::size_t i = 0; i < passes.size(); ++i)
            out_.actions.push_back({computes[i], items.items[passes[i].first].begin,
                                    last_end(items, passes[i]), 0, 0, step});
        exchanges(items, passes, computes, step);
        end_of_step(items, passes, step);
    }

    static std::int64_t last_end(const StepItems& items, const FoundPass& pass) {
        std::int64_t end = 0;
        for (std::size_t i = pass.first; i <= pass.last; ++i)
            end = std::max(end, items.items[i].end);
        return end;
    }

    std::vector<FoundPass> passes_of(const StepItems& items) {
        std::vector<FoundPass> passes;
        const auto layers = static_cast<std::size_t>(out_.layers);
        for (const auto& run : runs_of(items)) {
            ++out_.anchors;
            if (run.size() % layers == 0) ++out_.fitting;
            for (std::size_t i = 0; i + layers <= run.size(); i += layers)
                passes.push_back({items.items[run[i]].item_class == KernelClass::AttentionForward,
                                  run[i], run[i + layers - 1], 0, 0});
        }
        return passes;
    }

    /// With all of a pass recomputed, a backward begins with its forward.
    static void merge_recomputes(std::vector<FoundPass>& passes) {
        const auto forwards = std::ranges::count_if(passes, &FoundPass::forward);
        const auto backwards = static_cast<std::ptrdiff_t>(passes.size()) - forwards;
        if (backwards == 0 || forwards != 2 * backwards) return;
        std::vector<FoundPass> merged;
        for (const FoundPass& pass : passes) {
            if (!pass.forward && !merged.empty() && merged.back().forward) {
                merged.back().forward = false;
                merged.back().last_anchor = pass.last_anchor;
            } else {
                merged.push_back(pass);
            }
        }
        passes = std::move(merged);
    }

    /// The items from which a pass begins and to which it goes.
    static void bound(const StepItems& items, std::vector<FoundPass>& passes, std::size_t i) {
        if (i == 0) passes[0].first = first_of_step(items, passes[0].first_anchor);
        if (i + 1 == passes.size()) {
            passes[i].last = last_of_step(items, passes[i].last_anchor);
            return;
        }
        const std::size_t next = boundary(items, passes[i], passes[i + 1]);
        passes[i].last = next - 1;
        passes[i + 1].first = next;
    }

    static std::size_t first_of_step(const StepItems& items, std::size_t anchor) {
        std::int64_t cut = INT64_MIN;
        for (const Exchange& exchange : items.exchanges)
            if (exchange.blocks && exchange.begin < items.items[anchor].begin) cut = exchange.begin;
        for (std::size_t i = 0; i < anchor; ++i)
            if (items.items[i].begin >= cut) return i;
        return anchor;
    }

    /// What runs behind an exchange, or in a pause longer than the pass itself, is of no pass.
    static std::size_t last_of_step(const StepItems& items, std::size_t anchor) {
        std::int64_t cut = INT64_MAX;
        for (const Exchange& exchange : items.exchanges)
            if (exchange.blocks && exchange.begin > items.items[anchor].begin)
                cut = std::min(cut, exchange.begin);
        if (!items.optimizer.empty()) {
            const auto after = std::ranges::upper_bound(items.optimizer, items.items[anchor].begin,
                                                        {}, &Item::begin);
            if (after != items.optimizer.end()) cut = std::min(cut, after->begin);
        }
        std::size_t last = anchor;
        while (last + 1 < items.items.size() && items.items[last + 1].begin < cut) ++last;
        return last;
    }

    /// The first item of the second pass: after an exchange; between forward and backward after the
    /// loss; before a forward at the embedding; else after the longest pause.
    static std::size_t boundary(const StepItems& items, const FoundPass& a, const FoundPass& b) {
        const std::size_t from = a.last_anchor + 1;
        const std::size_t to = b.first_anchor;
        auto exchange = std::ranges::lower_bound(items.exchanges, items.items[a.last_anchor].begin,
                                                 {}, &Exchange::begin);
        for (; exchange != items.exchanges.end(); ++exchange) {
            if (exchange->begin > items.items[to].begin) break;
            if (!exchange->blocks) continue;
            for (std::size_t i = from; i <= to; ++i)
                if (items.items[i].begin >= exchange->begin) return i;
        }
        if (a.forward && !b.forward) {
            for (std::size_t i = from; i <= to; ++i)
                if (items.items[i].engine) return i;
            std::size_t after_loss = 0;
            for (std::size_t i = from; i < to; ++i)
                if (items.items[i].item_class == KernelClass::Loss && !items.items[i].backward)
                    after_loss = i + 1;
            if (after_loss > 0) return after_loss;
        }
        if (b.forward)
            for (std::size_t i = from; i < to; ++i)
                if (items.items[i].item_class == KernelClass::Embedding && !items.items[i].backward)
                    return i;
        return after_longest_pause(items, from, to);
    }

    static std::size_t after_longest_pause(const StepItems& items, std::size_t from,
                                           std::size_t to) {
        std::size_t best = to;
        std::int64_t longest = -1;
        std::int64_t free = items.items[from - 1].end;
        for (std::size_t i = from; i <= to; ++i) {
            const std::int64_t pause = items.items[i].begin - free;
            if (pause > longest) {
                longest = pause;
                best = i;
            }
            free = std::max(free, items.items[i].end);
        }
        return best;
    }

    std::optional<Message> received_by(const Compute& pass) const {
        const bool forward = pass.pass == Pass::Forward;
        const int producer = pass.stage.index + (forward ? -1 : 1);
        if (producer < 0 || producer >= options_.pipeline) return std::nullopt;
        return Message{forward ? Message::Kind::Activation : Message::Kind::Gradient,
                       Stage{producer}, pass.micro_batch};
    }

    std::optional<Message> sent_by(const Compute& pass) const {
        const bool forward = pass.pass == Pass::Forward;
        const int consumer = pass.stage.index + (forward ? 1 : -1);
        if (consumer < 0 || consumer >= options_.pipeline) return std::nullopt;
        return Message{forward ? Message::Kind::Activation : Message::Kind::Gradient, pass.stage,
                       pass.micro_batch};
    }

    /// The exchanges between two passes carry what the first sends and what the second receives: an
    /// exchange each, or one for both.
    void exchanges(const StepItems& items, const std::vector<FoundPass>& passes,
                   const std::vector<Compute>& computes, int step) {
        auto exchange = items.exchanges.begin();
        for (std::size_t i = 0; i <= passes.size(); ++i) {
            const std::int64_t until =
                i < passes.size() ? items.items[passes[i].first].begin : INT64_MAX;
            std::vector<Action> due;
            if (i > 0)
                if (const auto message = sent_by(computes[i - 1]))
                    due.emplace_back(Send{*message, Rank{}});
            if (i < passes.size())
                if (const auto message = received_by(computes[i]))
                    due.emplace_back(Recv{*message, Rank{}});
            std::vector<Exchange> found;
            for (; exchange != items.exchanges.end() && exchange->begin < until; ++exchange)
                found.push_back(*exchange);
            match(due, found, i, step);
        }
    }

    void match(const std::vector<Action>& due, const std::vector<Exchange>& found, std::size_t pass,
               int step) {
        out_.anchors += std::max(due.size(), found.size());
        const auto add = [&](const Action& action, const Exchange& exchange) {
            out_.actions.push_back({action, exchange.begin, exchange.end, 0, exchange.bytes, step});
        };
        const bool apart =
            std::ranges::any_of(found, [](const Exchange& e) { return !e.sends || !e.receives; });
        if (apart) {  // the profiler says which sends and which receives
            for (const Action& action : due) {
                const bool send = std::holds_alternative<Send>(action);
                const auto fits = std::ranges::find_if(
                    found, [&](const Exchange& e) { return send ? e.sends : e.receives; });
                if (fits == found.end()) continue;
                ++out_.fitting;
                add(action, *fits);
            }
        } else if (found.size() == 1 && due.size() == 2) {
            out_.fitting += 2;
            for (const Action& action : due) add(action, found.front());
        } else if (found.size() == due.size()) {
            out_.fitting += due.size();
            for (std::size_t i = 0; i < due.size(); ++i) add(due[i], found[i]);
        } else if (out_.notes.size() < kMostNotes) {
            out_.notes.push_back(
                fmt::format("step {}, before pass {}: {} exchanges where a pipeline of one stage "
                            "per rank has {}",
                            step + 1, pass + 1, found.size(), due.size()));
        }
    }

    /// Reductions of gradients, the norm, and the optimizer behind the last pass.
    void end_of_step(const StepItems& items, const std::vector<FoundPass>& passes, int step) {
        if (passes.empty() ||
            !std::ranges::any_of(passes, [](const FoundPass& p) { return !p.forward; }))
            return;
        const std::int64_t last = last_end(items, passes.back());
        std::int64_t optimizer_from = last;
        constexpr std::int64_t kScalars = 4;
        for (const DeviceSpan& kernel : items.collectives) {
            if (kernel.end <= last) continue;
            const CollectiveNote& note = notes_of(kernel);
            if (note.in_elements > 0 && note.in_elements <= kScalars) {
                out_.actions.push_back({GradNorm{}, kernel.begin, kernel.end, 0, 0, step});
                optimizer_from = kernel.end;
            }
        }
        std::optional<Item> optimizer;
        for (const Item& item : items.optimizer) {
            if (item.begin < optimizer_from) continue;
            if (!optimizer) optimizer = item;
            optimizer->end = std::max(optimizer->end, item.end);
        }
        if (!optimizer) return;
        out_.actions.push_back({OptimizerStep{}, optimizer->begin, optimizer->end, 0, 0, step});
        for (const DeviceSpan& kernel : items.collectives)
            reductions(kernel, last, *optimizer, step);
    }

    void reductions(const DeviceSpan& kernel, std::int64_t last, const Item& optimizer, int step) {
        const CollectiveNote& note = notes_of(kernel);
        const bool reduces = note.collective.find("reduce") != std::string::npos;
        const bool gathers = note.collective.find("gather") != std::string::npos;
        const bool of_data = note.group.find("DATA") != std::string::npos ||
                             note.group.find("dp") != std::string::npos;
        const std::int64_t bytes = bytes_of(note);
        if (reduces && of_data && kernel.end > last && kernel.begin < optimizer.begin)
            out_.actions.push_back(
                {ReduceGrad{Stage{options_.rank}}, kernel.begin, kernel.end, 0, bytes, step});
        else if (gathers && of_data && kernel.begin >= optimizer.begin)
            out_.actions.push_back(
                {Unshard{Stage{options_.rank}}, kernel.begin, kernel.end, 0, bytes, step});
    }

    static constexpr std::size_t kMostNotes = 8;
    const CollectiveNote& notes_of(const DeviceSpan& kernel) const {
        return profile_.notes[kernel.note];
    }

    const RankProfile& profile_;
    RecogniseOptions options_;
    StepRanges ranges_;
    std::vector<StepItems> steps_;
    RankActions out_;
};

}  // namespace

RankActions actions_by_anchors(const RankProfile& profile, const RecogniseOptions& options) {
    return AnchoredActions(profile, options).find();
}

}  // namespace debubble::profile
