#include <algorithm>
#include <map>
#include <numeric>

#include <fmt/format.h>

#include "trace/profile/passes/accounts.h"
#include "trace/profile/passes/found_pass.h"
#include "trace/profile/passes/rank_actions.h"

namespace debubble::profile {
namespace {

/// The runs of attention of one kind without communication in between.
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

bool is_send(const Exchange& exchange) {
    return exchange.sends && !exchange.receives;
}

/// The same runs, cut where a send begins, too: consecutive passes of one kind are separated by
/// their sends.
std::vector<std::vector<std::size_t>> runs_between_sends(const StepItems& step) {
    std::vector<std::vector<std::size_t>> out;
    for (const auto& run : runs_of(step)) {
        auto exchange = step.exchanges.begin();
        for (std::size_t i = 0; i < run.size(); ++i) {
            bool cut = i == 0;
            for (; exchange != step.exchanges.end() && exchange->begin <= step.items[run[i]].begin;
                 ++exchange)
                cut |= is_send(*exchange);
            if (cut) out.emplace_back();
            out.back().push_back(run[i]);
        }
    }
    return out;
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
    /// The greatest number of layers that divides every run.
    void count_layers() {
        std::size_t common = 0;
        for (const StepItems& step : steps_) {
            const auto runs = runs_of(step);
            const auto passes = std::ssize(runs);
            const bool more = std::ranges::count_if(step.exchanges, is_send) > passes;
            for (const auto& run : more ? runs_between_sends(step) : runs)
                common = std::gcd(common, run.size());
        }
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
        const StepItems& items = steps_[step];
        std::vector<FoundPass> passes = passes_of(items);
        merge_recomputes(passes);
        split(items, passes);
        bound(items, passes);
        std::string kinds;
        std::map<Pass, int> count;
        for (const FoundPass& pass : passes) {
            kinds += letter_of(pass.kind);
            const Compute compute{pass.kind, Stage{options_.rank},
                                  MicroBatch{count[pass.kind]++, {}}};
            out_.actions.push_back(
                {compute, items.items[pass.first].begin, last_end(items, pass), 0, 0, step});
        }
        out_.pass_kinds.push_back(kinds);
        out_.exchanges.push_back(items.exchanges);
        end_of_step(items, passes, step);
    }

    /// The weight gradients of every split backward come later.
    void split(const StepItems& items, std::vector<FoundPass>& passes) {
        const SplitBackwards found = split_backwards(items, out_.layers, passes);
        out_.anchors += std::max(found.inputs, found.weights);
        out_.fitting += std::min(found.inputs, found.weights);
        if (found.inputs != found.weights)
            note(
                fmt::format("{} backwards delay their weight gradients, but {} passes with weight "
                            "gradients were found",
                            found.inputs, found.weights));
        if (!found.note.empty()) note(found.note);
    }

    void note(const std::string& sentence) {
        if (std::ranges::find(out_.notes, sentence) == out_.notes.end())
            out_.notes.push_back(sentence);
    }

    std::vector<FoundPass> passes_of(const StepItems& items) {
        std::vector<FoundPass> passes;
        const std::size_t layers = out_.layers;
        for (const auto& run : runs_of(items)) {
            ++out_.anchors;
            if (run.size() % layers == 0) ++out_.fitting;
            for (std::size_t i = 0; i + layers <= run.size(); i += layers)
                passes.push_back({items.items[run[i]].item_class == KernelClass::AttentionForward
                                      ? Pass::Forward
                                      : Pass::Backward,
                                  run[i], run[i + layers - 1], 0, 0});
        }
        return passes;
    }

    /// With full recomputation, a backward begins with its forward.
    static void merge_recomputes(std::vector<FoundPass>& passes) {
        const auto forwards = std::ranges::count_if(passes, &FoundPass::forward);
        const auto backwards = static_cast<std::ptrdiff_t>(passes.size()) - forwards;
        if (backwards == 0 || forwards != 2 * backwards) return;
        std::vector<FoundPass> merged;
        for (const FoundPass& pass : passes) {
            if (!pass.forward() && !merged.empty() && merged.back().forward()) {
                merged.back().kind = Pass::Backward;
                merged.back().last_anchor = pass.last_anchor;
            } else {
                merged.push_back(pass);
            }
        }
        passes = std::move(merged);
    }

    /// Reductions of gradients, the norm, and the optimizer after the last pass.
    void end_of_step(const StepItems& items, const std::vector<FoundPass>& passes, int step) {
        if (passes.empty() ||
            !std::ranges::any_of(passes, [](const FoundPass& p) { return !p.forward(); }))
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
        const std::string collective = note.collective.value_or("");
        const bool reduces = collective.find("reduce") != std::string::npos;
        const bool gathers = collective.find("gather") != std::string::npos;
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
