#pragma once

#include <string>
#include <vector>

#include "scenarios/cluster/cluster.h"

namespace debubble::scenarios {

/// A constant that the cluster's file does not give, so that this program's default holds.
struct DefaultConstant {
    std::string key;     ///< dotted, such as "gpu.gemm_efficiency"
    std::string value;   ///< as it would be written in the file
    std::string source;  ///< source of the value
};

/// All such constants, in the order of the reader's keys.
std::vector<DefaultConstant> defaults_of(const Cluster& cluster);

}  // namespace debubble::scenarios
