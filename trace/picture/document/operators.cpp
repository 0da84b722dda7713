#include "trace/picture/document/operators.h"

#include <utility>

#include "base/overloaded.h"

namespace debubble::picture {
namespace {

constexpr int kRecomputedForward = 4;  ///< follows the numbers of the four passes

}  // namespace

std::optional<OperatorTable::Key> OperatorTable::key_of(const Action& action) {
    return std::visit(
        Overloaded{
            [](const Compute& c) -> std::optional<Key> {
                return Key{static_cast<int>(c.pass), c.stage, c.micro_batch.slice.value_or(0)};
            },
            [](const Recompute& r) -> std::optional<Key> {
                return Key{kRecomputedForward, r.stage, r.micro_batch.slice.value_or(0)};
            },
            [](const auto&) -> std::optional<Key> { return std::nullopt; },
        },
        action);
}

void OperatorTable::put(const Compute& pass, std::shared_ptr<const OperatorParts> parts) {
    parts_[*key_of(pass)] = std::move(parts);
}

void OperatorTable::put(const Recompute& pass, std::shared_ptr<const OperatorParts> parts) {
    parts_[*key_of(pass)] = std::move(parts);
}

const OperatorParts* OperatorTable::of(const Action& action) const {
    const auto key = key_of(action);
    const auto found = key ? parts_.find(*key) : parts_.end();
    return found == parts_.end() ? nullptr : found->second.get();
}

}  // namespace debubble::picture
