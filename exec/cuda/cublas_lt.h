#pragma once

#include <cstddef>
#include <memory>

#include "exec/cuda/matmul.h"
#include "exec/cuda/queue.h"

namespace debubble::exec::cuda {

/// Products by cuBLASLt on the queue. Each shape uses the first algorithm of the library's
/// heuristic that the library does not refuse, and keeps it; all of them add in fp32. Only
/// cublas_lt.cpp knows the library. `multiprocessors` is read when a shape is new, and must outlive
/// the products: the number of those that products may count on; 0: all.
std::unique_ptr<Matmul> make_cublas_lt(Queue& queue, const int& multiprocessors);
std::size_t cublas_lt_version();  ///< as cuBLASLt counts: 130102 is 13.1.2

}  // namespace debubble::exec::cuda
