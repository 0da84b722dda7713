#pragma once

#include <cstddef>
#include <memory>

#include "exec/cuda/matmul.h"
#include "exec/cuda/queue.h"

namespace debubble::exec::cuda {

/// Products by cuBLASLt on the queue. Each shape uses the algorithm that the library's heuristic
/// ranks first, and keeps it. Only cublas_lt.cpp knows the library. `multiprocessors`: those that
/// the queue may use; 0: all.
std::unique_ptr<Matmul> make_cublas_lt(Queue& queue, int multiprocessors = 0);
std::size_t cublas_lt_version();  ///< as cuBLASLt counts: 130102 is 13.1.2

}  // namespace debubble::exec::cuda
