#include "tests/exec/cuda/cublas/fake_cublas_lt.h"

#include <algorithm>
#include <cstring>

#include "base/diagnostic.h"
#include "exec/cuda/cuda_gpu.h"

namespace debubble::exec::cuda {

FakeCublasLt fake_cublas_lt;

namespace {

std::uint64_t number_at(const void* value, std::size_t size) {
    std::uint64_t number = 0;
    std::memcpy(&number, value, std::min(size, sizeof number));
    return number;
}
int number_of(const cublasLtMatmulAlgo_t& algorithm) {
    return static_cast<int>(algorithm.data[0]);
}

}  // namespace

void check(cudaError_t status, const char* what) {
    if (status != cudaSuccess) throw WorldError(what);
}

}  // namespace debubble::exec::cuda

using debubble::exec::cuda::fake_cublas_lt;
using debubble::exec::cuda::number_at;
using debubble::exec::cuda::number_of;

extern "C" {

cublasStatus_t cublasLtCreate(cublasLtHandle_t* /*library*/) {
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtDestroy(cublasLtHandle_t /*library*/) {
    return CUBLAS_STATUS_SUCCESS;
}
std::size_t cublasLtGetVersion() {
    return fake_cublas_lt.version;
}
const char* cublasLtGetStatusString(cublasStatus_t /*status*/) {
    return "the library's words";
}

cublasStatus_t cublasLtMatrixLayoutCreate(cublasLtMatrixLayout_t* /*layout*/, cudaDataType /*type*/,
                                          std::uint64_t /*rows*/, std::uint64_t /*columns*/,
                                          std::int64_t /*stride*/) {
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatrixLayoutDestroy(const cublasLtMatrixLayout_t /*layout*/) {
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescCreate(cublasLtMatmulDesc_t* /*product*/,
                                        cublasComputeType_t compute, cudaDataType_t scale) {
    fake_cublas_lt.compute = compute;
    fake_cublas_lt.scale = scale;
    fake_cublas_lt.product.clear();
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescDestroy(const cublasLtMatmulDesc_t /*product*/) {
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulDescSetAttribute(cublasLtMatmulDesc_t /*product*/,
                                              cublasLtMatmulDescAttributes_t what,
                                              const void* value, std::size_t size) {
    fake_cublas_lt.product[what] = number_at(value, size);
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceCreate(cublasLtMatmulPreference_t* /*wish*/) {
    fake_cublas_lt.wish.clear();
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceDestroy(const cublasLtMatmulPreference_t /*wish*/) {
    return CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmulPreferenceSetAttribute(cublasLtMatmulPreference_t /*wish*/,
                                                    cublasLtMatmulPreferenceAttributes_t what,
                                                    const void* value, std::size_t size) {
    fake_cublas_lt.wish[what] = number_at(value, size);
    return CUBLAS_STATUS_SUCCESS;
}

cublasStatus_t cublasLtMatmulAlgoGetHeuristic(
    cublasLtHandle_t /*library*/, cublasLtMatmulDesc_t /*product*/, cublasLtMatrixLayout_t /*a*/,
    cublasLtMatrixLayout_t /*b*/, cublasLtMatrixLayout_t /*c*/, cublasLtMatrixLayout_t /*d*/,
    cublasLtMatmulPreference_t /*wish*/, int most, cublasLtMatmulHeuristicResult_t* found,
    int* count) {
    ++fake_cublas_lt.heuristics;
    *count = 0;
    for (const int algorithm : fake_cublas_lt.proposes) {
        if (*count == most) break;
        found[*count].state = CUBLAS_STATUS_SUCCESS;
        found[*count].algo = {};
        found[(*count)++].algo.data[0] = static_cast<std::uint64_t>(algorithm);
    }
    return fake_cublas_lt.heuristic;
}
cublasStatus_t cublasLtMatmulAlgoCheck(cublasLtHandle_t /*library*/,
                                       cublasLtMatmulDesc_t /*product*/,
                                       cublasLtMatrixLayout_t /*a*/, cublasLtMatrixLayout_t /*b*/,
                                       cublasLtMatrixLayout_t /*c*/, cublasLtMatrixLayout_t /*d*/,
                                       const cublasLtMatmulAlgo_t* algorithm,
                                       cublasLtMatmulHeuristicResult_t* found) {
    found->workspaceSize = 0;
    return fake_cublas_lt.unknown.contains(number_of(*algorithm)) ? CUBLAS_STATUS_NOT_SUPPORTED
                                                                  : CUBLAS_STATUS_SUCCESS;
}
cublasStatus_t cublasLtMatmul(cublasLtHandle_t /*library*/, cublasLtMatmulDesc_t /*product*/,
                              const void* /*alpha*/, const void* /*a*/,
                              cublasLtMatrixLayout_t /*of_a*/, const void* /*b*/,
                              cublasLtMatrixLayout_t /*of_b*/, const void* /*beta*/,
                              const void* /*c*/, cublasLtMatrixLayout_t /*of_c*/, void* /*d*/,
                              cublasLtMatrixLayout_t /*of_d*/,
                              const cublasLtMatmulAlgo_t* algorithm, void* /*workspace*/,
                              std::size_t /*size*/, cudaStream_t /*stream*/) {
    fake_cublas_lt.asked.push_back(number_of(*algorithm));
    const auto answer = fake_cublas_lt.answers.find(fake_cublas_lt.asked.back());
    return answer == fake_cublas_lt.answers.end() ? CUBLAS_STATUS_SUCCESS : answer->second;
}

cudaError_t cudaEventCreate(cudaEvent_t* /*event*/) {
    return cudaSuccess;
}
cudaError_t cudaEventDestroy(cudaEvent_t /*event*/) {
    return cudaSuccess;
}
cudaError_t cudaEventRecord(cudaEvent_t /*event*/, cudaStream_t /*stream*/) {
    return cudaSuccess;
}
cudaError_t cudaEventSynchronize(cudaEvent_t /*event*/) {
    return cudaSuccess;
}
cudaError_t cudaEventElapsedTime(float* milliseconds, cudaEvent_t /*begin*/, cudaEvent_t /*end*/) {
    *milliseconds = fake_cublas_lt.milliseconds[fake_cublas_lt.asked.back()];
    return cudaSuccess;
}

}  // extern "C"
