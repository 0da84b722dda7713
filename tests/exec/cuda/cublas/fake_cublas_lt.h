#pragma once

#include <cublasLt.h>

#include <cstdint>
#include <map>
#include <set>
#include <vector>

namespace debubble::exec::cuda {

/// A cuBLASLt that makes no product: it proposes algorithms, which are numbers, and notes what it
/// is asked. There is one in a program, since the library has plain functions.
struct FakeCublasLt {
    std::vector<int> proposes = {1};  ///< by the heuristic, best first
    cublasStatus_t heuristic = CUBLAS_STATUS_SUCCESS;
    std::map<int, cublasStatus_t> answers;  ///< of algorithms that are not made
    std::set<int> unknown;                  ///< algorithms that the library's check refuses
    std::map<int, float> milliseconds;      ///< five products by an algorithm, by the GPU's clock
    std::size_t version = 130102;

    std::vector<int> asked;  ///< algorithms of the products that were asked for, in order
    int heuristics = 0;      ///< times that the heuristic was asked
    cublasComputeType_t compute{};
    cudaDataType_t scale{};
    /// Attributes of the last product that was described, and of the last wish.
    std::map<cublasLtMatmulDescAttributes_t, std::uint64_t> product;
    std::map<cublasLtMatmulPreferenceAttributes_t, std::uint64_t> wish;
};

extern FakeCublasLt fake_cublas_lt;

}  // namespace debubble::exec::cuda
