#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "schedule/schedule.h"

namespace debubble {

/// Changes to one rank's list, by position in the unchanged list. Edits at one position keep the
/// order in which they were requested.
class Edit {
public:
    explicit Edit(const ActionList& list)
        : list_(&list), before_(list.size() + 1), moved_(list.size(), false) {}

    void before(std::size_t position, Action action) {
        Chain& chain = before_[position];
        const auto here = static_cast<std::uint32_t>(added_.size());
        (chain.last == kNone ? chain.first : added_[chain.last].next) = here;
        chain.last = here;
        added_.push_back({std::move(action), kNone});
    }
    void move(std::size_t from, std::size_t position) {
        before(position, (*list_)[from]);
        moved_[from] = true;
    }
    void after(std::size_t position, Action action) { before(position + 1, std::move(action)); }

    ActionList apply() && {
        ActionList result;
        result.reserve(list_->size() + added_.size() + kAppended);
        for (std::size_t i = 0; i < before_.size(); ++i) {
            for (std::uint32_t at = before_[i].first; at != kNone; at = added_[at].next)
                result.push_back(std::move(added_[at].action));
            if (i < moved_.size() && !moved_[i]) result.push_back((*list_)[i]);
        }
        return result;
    }

private:
    static constexpr std::uint32_t kNone = UINT32_MAX;
    /// The actions that later passes append to a list: its norm and its step.
    static constexpr std::size_t kAppended = 2;
    struct Added {
        Action action;
        std::uint32_t next;  ///< at the same position, in added_
    };
    struct Chain {
        std::uint32_t first = kNone;
        std::uint32_t last = kNone;
    };

    const ActionList* list_;
    std::vector<Added> added_;
    std::vector<Chain> before_;  ///< by position
    std::vector<bool> moved_;
};

inline bool is_compute(const Action& action) {
    return std::holds_alternative<Compute>(action) || std::holds_alternative<Overlap>(action);
}

/// True for W and B, which compute a stage's weight gradient.
inline bool makes_weight_gradient(const Compute& c) {
    return c.pass == Pass::BackwardWeight || c.pass == Pass::Backward;
}

/// The position just after the compute at `position` and the sends of its results.
inline std::size_t after_sends(const ActionList& list, std::size_t position) {
    ++position;
    while (position < list.size() && std::holds_alternative<Send>(list[position])) ++position;
    return position;
}

/// The position of the nearest compute before `position`; `position` if there is none.
inline std::size_t compute_before(const ActionList& list, std::size_t position) {
    for (std::size_t i = position; i-- > 0;)
        if (is_compute(list[i])) return i;
    return position;
}

}  // namespace debubble
