#include "scenarios/plan/derived.h"

#include <algorithm>

namespace debubble::scenarios {

Bytes headroom_of(const Scenario& scenario) {
    return scenario.cluster.gpu.threads ? Bytes{} : scenario.framework.headroom;
}

Bytes room_of(const Scenario& scenario) {
    return std::max(Bytes{}, scenario.cluster.gpu.memory - headroom_of(scenario));
}

}  // namespace debubble::scenarios
