#pragma once

#include <cstddef>
#include <memory>

#include "exec/cuda/matmul.h"
#include "exec/cuda/queue.h"

namespace debubble::exec::cuda {

/// Products by cuBLASLt on the queue, each shape by the algorithm that its heuristic ranks
/// first, kept. Only cublas_lt.cpp knows the library.
/// `multiprocessors`: what the queue's work has of the GPU; 0: all.
std::unique_ptr<Matmul> make_cublas_lt(Queue& queue, int multiprocessors = 0);
std::size_t cublas_lt_version();  ///< 130102 is 13.1.2

}  // namespace debubble::exec::cuda
