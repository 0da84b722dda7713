#include "scenarios/plan/plan.h"

#include "base/memo.h"
#include "schedule/lower.h"

namespace debubble::scenarios {
namespace {

/// Together at most some 60 MB: a program has about three actions of 40 bytes for each compute.
constexpr std::size_t kMostComputesKept = 4096;  ///< of one program
constexpr std::size_t kMostProgramsKept = 128;

}  // namespace

const std::string& Lowered::hash() const {
    std::call_once(hashed_, [this] { hash_ = program_hash(program_); });
    return hash_;
}

std::shared_ptr<const Lowered> lowered(const GeneratedOrder& order, const Schedule& schedule) {
    static auto& known = *new Memo<GeneratedOrder, const Lowered>(kMostProgramsKept);
    std::size_t computes = 0;
    for (const ActionList& rank : schedule.ranks) computes += rank.size();
    if (computes > kMostComputesKept) return nullptr;
    return known.get(
        order, [&] { return std::make_unique<const Lowered>(lower(schedule, order.lowering)); });
}

}  // namespace debubble::scenarios
