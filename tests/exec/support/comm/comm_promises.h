#pragma once

#include <vector>

#include "tests/exec/support/comm/comm_conformance.h"

/// The cases of comm_conformance.h, by what is promised.
namespace debubble::exec {

inline constexpr Message::Kind kActivation = Message::Kind::Activation;
inline constexpr Message::Kind kGradient = Message::Kind::Gradient;

std::vector<ConformanceCase> message_promises();
std::vector<ConformanceCase> collective_promises();
std::vector<ConformanceCase> failure_promises();

}  // namespace debubble::exec
