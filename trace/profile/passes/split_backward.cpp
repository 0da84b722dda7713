#include "trace/profile/passes/found_pass.h"

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

namespace debubble::profile {
namespace {

using Run = std::vector<std::size_t>;  ///< items that are weight-gradient GEMMs
using ProductNames = std::vector<std::uint32_t>;

bool is_product(const Item& item) {
    return item.item_class == KernelClass::Product;
}

/// Cuts the names into `parts` of the given patterns: the beginnings of the parts; nothing if that
/// is impossible.
std::vector<std::size_t> cut_by(const std::set<ProductNames>& patterns, const ProductNames& names,
                                std::size_t parts) {
    std::vector<std::map<std::size_t, std::size_t>> came_from(parts + 1);
    came_from[0][0] = 0;
    for (std::size_t part = 0; part < parts; ++part)
        for (const auto& [at, before] : came_from[part])
            for (const ProductNames& pattern : patterns) {
                if (at + pattern.size() > names.size()) continue;
                const auto from = names.begin() + static_cast<std::ptrdiff_t>(at);
                if (std::equal(pattern.begin(), pattern.end(), from))
                    came_from[part + 1].try_emplace(at + pattern.size(), at);
            }
    std::vector<std::size_t> out;
    std::size_t end = names.size();
    for (std::size_t part = parts; part > 0; --part) {
        const auto found = came_from[part].find(end);
        if (found == came_from[part].end()) return {};
        end = found->second;
        out.insert(out.begin(), end);
    }
    return out;
}

class Splitting {
public:
    Splitting(const StepItems& step, std::size_t layers, std::vector<FoundPass>& passes)
        : items_(step.items), layers_(layers), passes_(passes) {}

    SplitBackwards run() {
        SplitBackwards out;
        mark_by_names();
        find_runs();
        if (runs_.empty() && backwards_are_short()) {
            mark_by_places();
            find_runs();
        }
        std::size_t inputs = 0;
        for (std::size_t i = 0; i < passes_.size(); ++i) inputs += leaves_weights(i);
        if (runs_.empty() || inputs == 0) {
            out.note = why_not();
            return out;
        }
        for (std::size_t i = 0; i < passes_.size(); ++i)
            if (leaves_weights(i)) passes_[i].kind = Pass::BackwardInput;
        out.inputs = inputs;
        out.weights = add_weights(inputs);
        return out;
    }

private:
    void mark_by_names() {
        weight_.assign(items_.size(), false);
        for (std::size_t i = 0; i < items_.size(); ++i)
            weight_[i] = is_product(items_[i]) && items_[i].weight_gradient;
    }

    void mark_by_places() {
        std::set<std::uint32_t> inside;
        for (const FoundPass& pass : passes_)
            for (std::size_t i = pass.first_anchor; i < pass.last_anchor; ++i)
                if (is_product(items_[i])) inside.insert(items_[i].name);
        for (std::size_t i = 0; i < items_.size(); ++i)
            weight_[i] = is_product(items_[i]) && !inside.contains(items_[i].name);
    }

    /// In a whole backward, GEMMs of input and weight gradients alternate.
    void find_runs() {
        const std::size_t least = std::max<std::size_t>(2, layers_);
        Run run;
        const auto end_run = [&] {
            if (run.size() >= least) {
                for (const std::size_t i : run) weight_[i] = false;  // the rest belongs to a pass
                runs_.push_back(run);
            }
            run.clear();
        };
        for (std::size_t i = 0; i < items_.size(); ++i) {
            if (weight_[i])
                run.push_back(i);
            else if (items_[i].counts || is_product(items_[i]) ||
                     items_[i].item_class == KernelClass::Loss)
                end_run();
        }
        end_run();
    }

    bool leaves_weights(std::size_t pass) const {
        if (passes_[pass].forward()) return false;
        if (layers_ > 1)
            return count(passes_[pass].first_anchor, passes_[pass].last_anchor, weight_) == 0;
        const std::size_t from = pass == 0 ? 0 : passes_[pass - 1].last_anchor;
        return count(from, passes_[pass].first_anchor, weight_) < 2;
    }

    static std::ptrdiff_t count(std::size_t from, std::size_t to, const std::vector<bool>& of) {
        return std::count(of.begin() + static_cast<std::ptrdiff_t>(from),
                          of.begin() + static_cast<std::ptrdiff_t>(to), true);
    }

    std::size_t add_weights(std::size_t inputs) {
        std::size_t products = 0;
        for (const Run& run : runs_) products += run.size();
        const double each = static_cast<double>(products) / static_cast<double>(inputs);
        const auto parts_of = [&](const Run& run) {
            const double parts = std::round(static_cast<double>(run.size()) / each);
            return std::max<std::size_t>(1, static_cast<std::size_t>(parts));
        };
        std::set<ProductNames> patterns;
        for (const Run& run : runs_)
            if (parts_of(run) == 1) patterns.insert(product_names(run));
        std::size_t added = 0;
        for (const Run& run : runs_) {
            const std::size_t parts = parts_of(run);
            added += parts;
            std::vector<std::size_t> begins = cut_by(patterns, product_names(run), parts);
            if (begins.empty())
                for (std::size_t part = 0; part < parts; ++part)
                    begins.push_back(part * run.size() / parts);
            begins.push_back(run.size());
            for (std::size_t part = 0; part < parts; ++part)
                passes_.push_back(
                    {Pass::BackwardWeight, run[begins[part]], run[begins[part + 1] - 1], 0, 0});
        }
        std::ranges::stable_sort(passes_, {}, &FoundPass::first_anchor);
        return added;
    }

    ProductNames product_names(const Run& run) const {
        ProductNames out;
        for (const std::size_t i : run) out.push_back(items_[i].name);
        return out;
    }

    std::string why_not() const {
        if (!backwards_are_short()) return "";
        return "the backwards have no more GEMMs than the forwards, as backward-input passes "
               "do, and no kernel's name identifies the GEMMs of weight gradients";
    }

    /// True if a backward has no more GEMMs than a forward: then half of its GEMMs are delayed.
    /// False where passes of one layer do not show it.
    bool backwards_are_short() const {
        if (layers_ < 2) return false;
        const auto products = [&](bool forward) {
            std::size_t sum = 0;
            std::size_t passes = 0;
            for (const FoundPass& pass : passes_) {
                if (pass.forward() != forward) continue;
                ++passes;
                for (std::size_t i = pass.first_anchor; i < pass.last_anchor; ++i)
                    sum += is_product(items_[i]);
            }
            return passes == 0 ? 0.0 : static_cast<double>(sum) / static_cast<double>(passes);
        };
        constexpr double kMost = 1.2;
        const double forward = products(true);
        const double backward = products(false);
        return forward > 0 && backward > 0 && backward <= kMost * forward;
    }

    const std::vector<Item>& items_;
    std::size_t layers_;
    std::vector<FoundPass>& passes_;
    std::vector<bool> weight_;
    std::vector<Run> runs_;
};

}  // namespace

SplitBackwards split_backwards(const StepItems& step, std::size_t layers,
                               std::vector<FoundPass>& passes) {
    return Splitting(step, layers, passes).run();
}

}  // namespace debubble::profile
