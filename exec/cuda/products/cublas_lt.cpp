#include "exec/cuda/products/product_choices.h"

#include <cublasLt.h>
#include <cuda_runtime.h>

#include <array>
#include <charconv>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "base/diagnostic.h"
#include "exec/cuda/cuda_gpu.h"
#include "exec/cuda/products/candidates.h"

namespace debubble::exec::cuda {

namespace {

constexpr std::int64_t kWorkspace = std::int64_t{32} << 20;

constexpr int kCandidates = 8;  ///< algorithms that the library is asked for

void check_cublas(cublasStatus_t status, const char* what) {
    if (status != CUBLAS_STATUS_SUCCESS)
        throw WorldError(std::string(what) + ": " + cublasLtGetStatusString(status));
}

cudaDataType_t library_type(Type type) {
    switch (type) {
        case Type::Fp16: return CUDA_R_16F;
        case Type::Bf16: return CUDA_R_16BF;
        default: return CUDA_R_32F;
    }
}

/// The library's epilogue of the GEMM. The library's A is this GEMM's b.
cublasLtEpilogue_t epilogue_of(const Product& p) {
    if (p.sums) return p.sums_of_b ? CUBLASLT_EPILOGUE_BGRADA : CUBLASLT_EPILOGUE_BGRADB;
    switch (p.epilogue) {
        case Epilogue::Gelu:
            return p.bias ? CUBLASLT_EPILOGUE_GELU_AUX_BIAS : CUBLASLT_EPILOGUE_GELU_AUX;
        case Epilogue::GeluGradient: return CUBLASLT_EPILOGUE_DGELU;
        case Epilogue::None: break;
    }
    return p.bias ? CUBLASLT_EPILOGUE_BIAS : CUBLASLT_EPILOGUE_DEFAULT;
}

/// A layout of one of the GEMM's matrices in the library's form.
class Layout {
public:
    Layout(Type type, const ColumnMajor& matrix) {
        check_cublas(cublasLtMatrixLayoutCreate(
                         &layout_, library_type(type), static_cast<std::uint64_t>(matrix.rows),
                         static_cast<std::uint64_t>(matrix.columns), matrix.stride),
                     "a matrix of cuBLASLt");
    }
    ~Layout() { cublasLtMatrixLayoutDestroy(layout_); }
    Layout(const Layout&) = delete;
    Layout& operator=(const Layout&) = delete;
    cublasLtMatrixLayout_t get() const { return layout_; }

private:
    cublasLtMatrixLayout_t layout_ = nullptr;
};

/// Whether the library has refused a GEMM, having done nothing; other errors are those of the GPU
/// or of this program.
bool is_refusal(cublasStatus_t status) {
    return status == CUBLAS_STATUS_NOT_SUPPORTED || status == CUBLAS_STATUS_ARCH_MISMATCH ||
           status == CUBLAS_STATUS_INVALID_VALUE;
}

/// The library's version and the words of an algorithm, which it does not explain: "130102:" and 16
/// hexadecimal digits of each.
std::string text_of(const cublasLtMatmulAlgo_t& algorithm) {
    std::string text = fmt::format("{}:", cublasLtGetVersion());
    for (const std::uint64_t word : algorithm.data) text += fmt::format("{:016x}", word);
    return text;
}
/// Nothing for the text of another version, or for one that is not an algorithm.
std::optional<cublasLtMatmulAlgo_t> algorithm_of(const std::string& text) {
    cublasLtMatmulAlgo_t algorithm{};
    const std::string version = fmt::format("{}:", cublasLtGetVersion());
    if (!text.starts_with(version)) return std::nullopt;
    const char* at = text.data() + version.size();
    if (text.size() != version.size() + 16 * std::size(algorithm.data)) return std::nullopt;
    for (std::uint64_t& word : algorithm.data) {
        const auto [end, error] = std::from_chars(at, at + 16, word, 16);
        if (error != std::errc{} || end != at + 16) return std::nullopt;
        at += 16;
    }
    return algorithm;
}

/// The events between which GEMMs are timed.
class Stopwatch {
public:
    explicit Stopwatch(Stream stream) : stream_(stream) {
        for (cudaEvent_t& event : events_) check(cudaEventCreate(&event), "an event of the GPU");
    }
    ~Stopwatch() {
        for (const cudaEvent_t event : events_) cudaEventDestroy(event);
    }
    Stopwatch(const Stopwatch&) = delete;
    Stopwatch& operator=(const Stopwatch&) = delete;
    template <class Work>
    double seconds(const Work& work) {
        check(cudaEventRecord(events_[0], stream_), "an event of the GPU");
        work();
        check(cudaEventRecord(events_[1], stream_), "an event of the GPU");
        check(cudaEventSynchronize(events_[1]), "GEMMs that are timed");
        float milliseconds = 0;
        check(cudaEventElapsedTime(&milliseconds, events_[0], events_[1]), "the clock of the GPU");
        return 1e-3 * static_cast<double>(milliseconds);
    }

private:
    Stream stream_;
    std::array<cudaEvent_t, 2> events_{};
};

/// One kind of GEMM as the library sees it: its descriptor, the layouts of its matrices, and
/// the algorithms that the library's heuristic proposed.
class MatmulConfiguration {
public:
    MatmulConfiguration(cublasLtHandle_t library, const Product& p, int multiprocessors)
        : by_(by_columns(p)),
          first_(p.b.elements.type, by_.first),
          second_(p.a.elements.type, by_.second),
          result_(p.c.type, by_.result) {
        check_cublas(cublasLtMatmulDescCreate(&how_, CUBLAS_COMPUTE_32F, CUDA_R_32F), "a product");
        set(CUBLASLT_MATMUL_DESC_TRANSA, by_.first.transposed ? CUBLAS_OP_T : CUBLAS_OP_N);
        set(CUBLASLT_MATMUL_DESC_TRANSB, by_.second.transposed ? CUBLAS_OP_T : CUBLAS_OP_N);
        set(CUBLASLT_MATMUL_DESC_EPILOGUE, epilogue_of(p));
        if (multiprocessors > 0) set(CUBLASLT_MATMUL_DESC_SM_COUNT_TARGET, multiprocessors);
        if (p.bias) set(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, library_type(p.bias.type));
        if (p.sums) set(CUBLASLT_MATMUL_DESC_BIAS_DATA_TYPE, CUDA_R_32F);
        if (p.wide) {
            set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_LD, p.n);
            set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_DATA_TYPE, library_type(p.wide.type));
        }
        point(p);
        choose(library, p);
    }
    ~MatmulConfiguration() { cublasLtMatmulDescDestroy(how_); }
    MatmulConfiguration(const MatmulConfiguration&) = delete;
    MatmulConfiguration& operator=(const MatmulConfiguration&) = delete;

    /// Returns false if the library has no algorithm that it does not refuse.
    bool run(cublasLtHandle_t library, const Product& p, void* workspace, Stream stream) {
        if (candidates_.empty()) return false;
        point(p);
        return candidates_.run([&](const cublasLtMatmulAlgo_t& algorithm) {
            return makes(library, p, algorithm, workspace, stream);
        });
    }
    /// Puts an algorithm before all others, if the library still has it for this GEMM.
    void prefer(cublasLtHandle_t library, const cublasLtMatmulAlgo_t& algorithm) {
        cublasLtMatmulHeuristicResult_t found{};
        const cublasStatus_t status =
            cublasLtMatmulAlgoCheck(library, how_, first_.get(), second_.get(), result_.get(),
                                    result_.get(), &algorithm, &found);
        if (status == CUBLAS_STATUS_SUCCESS &&
            found.workspaceSize <= static_cast<std::size_t>(kWorkspace))
            candidates_.put_first(algorithm);
    }
    /// Orders the candidates by their time. Returns the text of the fastest; empty: there is none.
    std::string time(cublasLtHandle_t library, const Product& p, void* workspace, Stream stream) {
        constexpr int kTimes = 5;
        point(p);
        Stopwatch watch(stream);
        candidates_.order_by([&](const cublasLtMatmulAlgo_t& algorithm) -> std::optional<double> {
            const auto once = [&] { return makes(library, p, algorithm, workspace, stream); };
            if (!once()) return std::nullopt;  // the first loads its code
            return watch.seconds([&] {
                for (int i = 0; i < kTimes; ++i) once();
            });
        });
        return candidates_.empty() ? "" : text_of(candidates_.best());
    }

private:
    /// Returns false, having done nothing, if the library refuses the algorithm.
    bool makes(cublasLtHandle_t library, const Product& p, const cublasLtMatmulAlgo_t& algorithm,
               void* workspace, Stream stream) {
        const float one = 1, kept = p.adds ? 1.F : 0.F;
        const cublasStatus_t status =
            cublasLtMatmul(library, how_, &one, p.b.elements.data, first_.get(), p.a.elements.data,
                           second_.get(), &kept, p.c.data, result_.get(), p.c.data, result_.get(),
                           &algorithm, workspace, static_cast<std::size_t>(kWorkspace), stream);
        if (is_refusal(status)) return false;
        check_cublas(status, "a GEMM of cuBLASLt");
        return true;
    }

    template <class T>
    void set(cublasLtMatmulDescAttributes_t what, T value) {
        check_cublas(cublasLtMatmulDescSetAttribute(how_, what, &value, sizeof(value)),
                     "a product");
    }

    /// Sets the pointers to the vectors and matrices of this GEMM.
    void point(const Product& p) {
        if (p.bias) set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, p.bias.data);
        if (p.sums) set(CUBLASLT_MATMUL_DESC_BIAS_POINTER, p.sums);
        if (p.wide) set(CUBLASLT_MATMUL_DESC_EPILOGUE_AUX_POINTER, p.wide.data);
    }

    void choose(cublasLtHandle_t library, const Product& p) {
        cublasLtMatmulPreference_t wish = nullptr;
        check_cublas(cublasLtMatmulPreferenceCreate(&wish), "a choice of cuBLASLt");
        const auto want = [&](cublasLtMatmulPreferenceAttributes_t what, auto value) {
            check_cublas(cublasLtMatmulPreferenceSetAttribute(wish, what, &value, sizeof(value)),
                         "a choice of cuBLASLt");
        };
        want(CUBLASLT_MATMUL_PREF_MAX_WORKSPACE_BYTES, static_cast<std::uint64_t>(kWorkspace));
        want(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_A_BYTES, alignment_of(p.b.elements.data));
        want(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_B_BYTES, alignment_of(p.a.elements.data));
        want(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_C_BYTES, alignment_of(p.c.data));
        want(CUBLASLT_MATMUL_PREF_MIN_ALIGNMENT_D_BYTES, alignment_of(p.c.data));
        // Parts of a sum that is cut along k are added in fp32, not in the result's 16 bits.
        want(CUBLASLT_MATMUL_PREF_REDUCTION_SCHEME_MASK,
             std::uint32_t{CUBLASLT_REDUCTION_SCHEME_COMPUTE_TYPE});
        std::array<cublasLtMatmulHeuristicResult_t, kCandidates> proposed{};
        int found = 0;
        const cublasStatus_t status = cublasLtMatmulAlgoGetHeuristic(
            library, how_, first_.get(), second_.get(), result_.get(), result_.get(), wish,
            kCandidates, proposed.data(), &found);
        cublasLtMatmulPreferenceDestroy(wish);
        std::vector<cublasLtMatmulAlgo_t> possible;
        for (int i = 0; status == CUBLAS_STATUS_SUCCESS && i < found; ++i)
            if (const auto& one = proposed[i]; one.state == CUBLAS_STATUS_SUCCESS)
                possible.push_back(one.algo);
        candidates_ = Candidates(std::move(possible));
    }

    ColumnMajorProduct by_;
    Layout first_, second_, result_;
    cublasLtMatmulDesc_t how_ = nullptr;
    Candidates<cublasLtMatmulAlgo_t> candidates_;
};

class CublasLt final : public Matmul {
public:
    CublasLt(Queue& queue, ProductChoosing& how) : queue_(queue), how_(how) {
        check_cublas(cublasLtCreate(&library_), "cuBLASLt");
        workspace_ = queue_.allocate(kWorkspace);
    }
    ~CublasLt() override {
        configurations_.clear();
        queue_.free(workspace_);
        cublasLtDestroy(library_);
    }
    CublasLt(const CublasLt&) = delete;
    CublasLt& operator=(const CublasLt&) = delete;

    void operator()(const Product& product) override {
        if (!at_once(product)) throw WorldError("cuBLASLt has no algorithm for a GEMM");
    }
    bool at_once(const Product& product) override {
        if (product.m == 0 || product.n == 0) return true;
        // The library does not support other types of the sums, or other strides.
        if (product.wide && product.n % 8 != 0) return false;
        if (product.sums && product.c.type != Type::Fp32) return false;
        // The exactness of the library's GELU is not documented; in fp32 this project's own is
        // used.
        if (product.epilogue != Epilogue::None && product.c.type == Type::Fp32) return false;
        if (product.k == 0) return false;
        constexpr std::size_t kMostKept = 4096;  // experts have any number of rows
        if (configurations_.size() >= kMostKept) configurations_.clear();
        const ProductKind kind = kind_of(product);
        std::unique_ptr<MatmulConfiguration>& known = configurations_[kind];
        if (!known) known = configuration_of(product, kind);
        return known->run(library_, product, workspace_, queue_.stream());
    }

private:
    std::unique_ptr<MatmulConfiguration> configuration_of(const Product& product,
                                                          const ProductKind& kind) {
        auto made = std::make_unique<MatmulConfiguration>(library_, product, how_.multiprocessors);
        const std::string words = words_of(kind);
        if (const auto known = how_.chosen.find(words); known != how_.chosen.end()) {
            if (const auto algorithm = algorithm_of(known->second))
                made->prefer(library_, *algorithm);
        } else if (how_.times) {
            const std::string best = made->time(library_, product, workspace_, queue_.stream());
            if (!best.empty()) how_.timed[words] = best;
        }
        return made;
    }

    Queue& queue_;
    ProductChoosing& how_;
    cublasLtHandle_t library_ = nullptr;
    void* workspace_ = nullptr;
    std::map<ProductKind, std::unique_ptr<MatmulConfiguration>> configurations_;
};

}  // namespace

std::unique_ptr<Matmul> make_cublas_lt(Queue& queue, ProductChoosing& how) {
    return std::make_unique<CublasLt>(queue, how);
}

std::size_t cublas_lt_version() {
    return cublasLtGetVersion();
}

}  // namespace debubble::exec::cuda
