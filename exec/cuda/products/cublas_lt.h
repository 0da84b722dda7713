#pragma once

#include <cstddef>
#include <memory>

#include "exec/cuda/products/matmul.h"
#include "exec/cuda/products/product_choices.h"
#include "exec/cuda/queue.h"

namespace debubble::exec::cuda {

/// Products by cuBLASLt on the queue. Each shape uses the first algorithm of the library's
/// heuristic that the library does not refuse, and keeps it, or what `how` says, which is read when
/// a shape is new and must outlive the products. All algorithms add in fp32. Only cublas_lt.cpp
/// knows the library.
std::unique_ptr<Matmul> make_cublas_lt(Queue& queue, ProductChoosing& how);
std::size_t cublas_lt_version();  ///< as cuBLASLt counts: 130102 is 13.1.2

}  // namespace debubble::exec::cuda
