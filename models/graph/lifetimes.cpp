#include "models/graph/lifetimes.h"

#include <algorithm>
#include <cstdint>
#include <optional>

#include "models/graph/replays.h"

namespace debubble::models {
namespace {

/// When tensors that have gone to the host come back: with the first use in the backward of what
/// comes back before them, so that the copy has that long.
class Away {
public:
    Away(const StageGraph& graph, const std::vector<OperatorUse>& uses) {
        const std::vector<OffloadGroup> groups = offloads_of(graph);
        if (groups.empty()) return;
        group_.assign(graph.tensors.size(), -1);
        for (std::size_t g = 0; g < groups.size(); ++g)
            for (const int tensor : groups[g].tensors) group_[tensor] = static_cast<int>(g);
        std::vector<std::size_t> needed(groups.size(), uses.size());
        for (std::size_t at = uses.size(); at-- > 0 && uses[at].pass != 0;)
            for (const std::span<const int> list : uses[at].tensors())
                for (const int tensor : list)
                    if (group_[tensor] >= 0) needed[group_[tensor]] = at;
        begin_of_backward_ =
            std::ranges::find_if(uses, [](const OperatorUse& u) { return u.pass != 0; }) -
            uses.begin();
        for (const std::size_t mine : needed) {
            std::size_t before = begin_of_backward_;
            for (const std::size_t other : needed)
                if (other < mine) before = std::max(before, other);
            back_.push_back(before);
        }
    }
    /// The run with which the tensor is there again, if it is away between two of its uses.
    std::optional<std::size_t> back(int tensor, std::size_t last, std::size_t next) const {
        if (group_.empty() || group_[tensor] < 0) return std::nullopt;
        if (last >= begin_of_backward_ || next < begin_of_backward_) return std::nullopt;
        return back_[group_[tensor]];
    }

private:
    std::vector<int> group_;  ///< of each tensor; -1 for those that stay
    std::vector<std::size_t> back_;
    std::size_t begin_of_backward_ = 0;
};

}  // namespace

Lifetimes::Lifetimes(const StageGraph& graph, const std::vector<OperatorUse>& uses) {
    constexpr std::size_t kNever = SIZE_MAX;
    std::vector<std::size_t> lasts(graph.tensors.size(), kNever);
    const Away away(graph, uses);
    const auto use = [&](int tensor, std::size_t at) {
        std::size_t& last = lasts[tensor];
        if (last == at) return;  // named twice by one operator
        const bool begins = uses[at].begins(graph, tensor);
        const auto back =
            last != kNever && !begins ? away.back(tensor, last, at) : std::optional<std::size_t>{};
        if (last == kNever || back || begins) {
            if (last != kNever) dies.add(last, tensor);
            born.add(back.value_or(at), tensor);
            if (back) {
                leaves.add(last, tensor);
                returns.add(*back, tensor);
            }
        }
        last = at;
    };
    for (std::size_t at = 0; at < uses.size(); ++at) {
        for (const std::span<const int> list : uses[at].tensors()) {
            for (const int tensor : list) use(tensor, at);
        }
    }
    for (std::size_t tensor = 0; tensor < lasts.size(); ++tensor) {
        if (lasts[tensor] != kNever) dies.add(lasts[tensor], static_cast<int>(tensor));
    }
    for (TensorsByUse* tensors : {&born, &dies, &leaves, &returns}) tensors->sort(uses.size());
}

}  // namespace debubble::models
