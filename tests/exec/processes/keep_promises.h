#pragma once

#include <string>

namespace debubble::exec {

/// One process of a job of mpirun that keeps the promise of this name (comm_conformance.h), or all
/// that leave the job "whole". Returns the exit code: 1, and a sentence is printed, if one is
/// broken, or none is called so.
int keep_promises(const std::string& name);

}  // namespace debubble::exec
