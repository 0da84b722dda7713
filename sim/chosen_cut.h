#pragma once

#include <string>
#include <vector>

namespace debubble::sim {

/// What `parallel.partition: balanced` comes to.
struct ChosenCut {
    std::vector<int> layers_per_stage;
    /// Where it comes from and what the other cut would take: "uniform; the cut by priced times,
    /// 17, 15 layers, takes 3.0 % longer".
    std::string words;
    /// The same in the form of the key: "[16, 16]".
    std::string list() const;
};

}  // namespace debubble::sim
