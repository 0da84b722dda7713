#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <tuple>
#include <vector>

#include "schedule/action.h"

/// The operators of passes, which wide bars show in their order.
namespace debubble::picture {

/// An operator of a pass, or an exchange. Times are shares of the time of the pass.
struct OperatorPart {
    std::string name;           ///< "mlp.c_fc", or "12 × mlp.c_fc" of as many layers
    bool communicates = false;  ///< an exchange, which computes nothing
    double begin = 0;
    double end = 0;     ///< equal to `begin` for an exchange that is hidden altogether
    double hidden = 0;  ///< of an exchange, how long it runs at the same time as what follows
    friend bool operator==(const OperatorPart&, const OperatorPart&) = default;
};
using OperatorParts = std::vector<OperatorPart>;  ///< in their order

/// The operators of the passes of a plan. Passes that cost the same share theirs.
class OperatorTable {
public:
    void put(const Compute& pass, std::shared_ptr<const OperatorParts> parts);
    void put(const Recompute& pass, std::shared_ptr<const OperatorParts> parts);
    /// Nothing for actions that have none, and for an Overlap, whose parts take turns.
    const OperatorParts* of(const Action& action) const;
    bool empty() const { return parts_.empty(); }

private:
    /// Kind of pass, or the number after the last one for a recomputed forward; stage; slice.
    using Key = std::tuple<int, Stage, int>;
    static std::optional<Key> key_of(const Action& action);
    std::map<Key, std::shared_ptr<const OperatorParts>> parts_;
};

}  // namespace debubble::picture
