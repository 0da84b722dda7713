#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "schedule/action.h"

/// The operators of passes, which wide bars show in order.
namespace debubble::picture {

/// An operator of a pass, or one of its communications. Times are shares of the time of the pass.
struct OperatorPart {
    std::string name;           ///< "mlp.c_fc", or "12 × mlp.c_fc" of as many layers
    bool communicates = false;  ///< whether it is communication
    double begin = 0;
    double end = 0;     ///< equal to `begin` for communication that is hidden completely
    double hidden = 0;  ///< time of communication that is overlapped with what follows
    friend bool operator==(const OperatorPart&, const OperatorPart&) = default;
};
using OperatorParts = std::vector<OperatorPart>;  ///< in order

/// The operators of the passes of a plan. Passes with equal costs share them.
class OperatorTable {
public:
    void put(const Compute& pass, std::shared_ptr<const OperatorParts> parts);
    void put(const Recompute& pass, std::shared_ptr<const OperatorParts> parts);
    /// nullptr for actions without operators, and for an Overlap, whose parts alternate.
    const OperatorParts* of(const Action& action) const;
    bool empty() const { return parts_.empty(); }

private:
    /// Kind of pass, or kRecomputedForward for a recomputed forward; stage; slice.
    using Key = std::tuple<int, Stage, int>;
    static std::optional<Key> key_of(const Action& action);
    std::map<Key, std::shared_ptr<const OperatorParts>> parts_;
};

}  // namespace debubble::picture
