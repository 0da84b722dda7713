#include "exec/cpu/onednn/matmul.h"

#include <omp.h>

#include <array>
#include <cstdlib>
#include <dnnl.hpp>
#include <map>
#include <string_view>

#include "exec/cpu/cpu_kernels.h"
#include "exec/cpu/vectorise.h"

#include "base/diagnostic.h"

namespace debubble::exec::onednn {

namespace {

dnnl::memory::data_type type_of(DataType type) {
    assert((type == DataType::Fp32 || type == DataType::Bf16) && "oneDNN has only fp32 and bf16");
    return type == DataType::Bf16 ? dnnl::memory::data_type::bf16 : dnnl::memory::data_type::f32;
}

dnnl::memory::desc matrix(std::int64_t rows, std::int64_t columns, DataType type,
                          std::int64_t row_stride, std::int64_t column_stride) {
    return {{rows, columns}, type_of(type), {row_stride, column_stride}};
}

dnnl::cpu_isa instructions_of(VectorUnit unit) {
    switch (unit) {
        case VectorUnit::Baseline: return dnnl::cpu_isa::sse41;
        case VectorUnit::Avx2: return dnnl::cpu_isa::avx2;
        case VectorUnit::Avx512: return dnnl::cpu_isa::avx512_core;
    }
    return dnnl::cpu_isa::all;
}

/// The first call, before anything that oneDNN makes by its instructions, limits it to those of
/// DEBUBBLE_VECTOR_UNIT. oneDNN's own variable, which is finer, has precedence.
void hold_to_vector_unit() {
    [[maybe_unused]] static const bool held = [] {
        for (const char* own : {"ONEDNN_MAX_CPU_ISA", "DNNL_MAX_CPU_ISA"})
            if (std::getenv(own)) return false;
        if (!std::getenv("DEBUBBLE_VECTOR_UNIT")) return false;
        const auto status = dnnl::set_max_cpu_isa(instructions_of(vector_unit()));
        if (status != dnnl::status::success && status != dnnl::status::unimplemented)
            throw WorldError(
                "oneDNN cannot be limited to the instructions of DEBUBBLE_VECTOR_UNIT");
        return true;
    }();
}

/// The GEMM as oneDNN knows it before the call, with one size left open.
Product before_the_call(Product product) {
    if (product.varies == Varies::M) product.m = DNNL_RUNTIME_DIM_VAL;
    if (product.varies == Varies::K) product.k = DNNL_RUNTIME_DIM_VAL;
    return product;
}

/// All properties for which oneDNN specialises a GEMM.
using Key = std::array<std::int64_t, 9>;

Key key_of(const Product& product) {
    const auto types = static_cast<std::int64_t>(product.a.type) * 100 +
                       static_cast<std::int64_t>(product.c.type) * 10 +
                       static_cast<std::int64_t>(product.bias.type);
    const std::int64_t what = (product.write == Write::Add ? 2 : 0) + (product.bias ? 1 : 0);
    return {product.m,
            product.n,
            product.k,
            product.a.row_stride,
            product.a.column_stride,
            product.b.row_stride,
            product.b.column_stride,
            product.c.row_stride,
            types * 10 + what};
}

/// The number of kept shapes must be bounded.
constexpr std::size_t kMostKept = 4096;

struct Layouts {
    dnnl::memory::desc a, b, c;

    explicit Layouts(const Product& product)
        : a(matrix(product.m, product.k, product.a.type, product.a.row_stride,
                   product.a.column_stride)),
          b(matrix(product.k, product.n, product.b.type, product.b.row_stride,
                   product.b.column_stride)),
          c(matrix(product.m, product.n, product.c.type, product.c.row_stride, 1)) {}
};

/// A primitive with memories that each call points at its operands.
struct Primitive {
    dnnl::matmul matmul;
    dnnl::memory a, b, c, bias;
    std::unordered_map<int, dnnl::memory> arguments;
    bool is_slow = false;  ///< whether oneDNN has only plain loops for it

    Primitive(const Product& product, const dnnl::engine& engine) {
        const Layouts layouts(product);
        dnnl::primitive_attr attributes;
        if (product.write == Write::Add) {
            dnnl::post_ops add;
            add.append_sum(1.F);
            attributes.set_post_ops(add);
        }
        const dnnl::memory::desc bias_desc = matrix(1, product.n, product.bias.type, product.n, 1);
        const dnnl::matmul::primitive_desc made =
            product.bias ? dnnl::matmul::primitive_desc(
                               {layouts.a, layouts.b, bias_desc, layouts.c}, attributes, engine)
                         : dnnl::matmul::primitive_desc({layouts.a, layouts.b, layouts.c},
                                                        attributes, engine);
        is_slow = std::string_view(made.impl_info_str()).starts_with("ref");
        matmul = dnnl::matmul(made);
        if (product.bias) bias = dnnl::memory(bias_desc, engine, nullptr);
        if (product.varies == Varies::Nothing) put(layouts, engine);
    }

    /// Sets memories of these layouts.
    void put(const Layouts& layouts, const dnnl::engine& engine) {
        a = dnnl::memory(layouts.a, engine, nullptr);
        b = dnnl::memory(layouts.b, engine, nullptr);
        c = dnnl::memory(layouts.c, engine, nullptr);
        arguments = {{DNNL_ARG_SRC, a}, {DNNL_ARG_WEIGHTS, b}, {DNNL_ARG_DST, c}};
        if (bias) arguments.emplace(DNNL_ARG_BIAS, bias);
    }
};

void* pointer(const std::byte* data) {
    return const_cast<std::byte*>(data);  // oneDNN only reads it
}

/// Limits oneDNN, whose threads are OpenMP's, to a number of them in the calling thread.
class ThreadLimit {
public:
    explicit ThreadLimit(int threads) : before_(omp_get_max_threads()) {
        if (before_ != threads) omp_set_num_threads(threads);
    }
    ThreadLimit(const ThreadLimit&) = delete;
    ThreadLimit& operator=(const ThreadLimit&) = delete;
    ~ThreadLimit() { omp_set_num_threads(before_); }

private:
    int before_;
};

}  // namespace

struct Matmul::Made {
    int threads = 1;
    dnnl::engine engine{dnnl::engine::kind::cpu, 0};
    dnnl::stream stream{engine};
    std::map<Key, Primitive> primitives;

    /// The primitive for the GEMM, made if there is none yet.
    Primitive& primitive_of(const Product& product) {
        const Product asked = before_the_call(product);
        const Key key = key_of(asked);
        if (const auto found = primitives.find(key); found != primitives.end())
            return found->second;
        if (primitives.size() == kMostKept) primitives.clear();
        try {
            return primitives.try_emplace(key, asked, engine).first->second;
        } catch (const dnnl::error& error) {
            const Shape a{product.m, product.k}, b{product.k, product.n};
            throw WorldError("oneDNN cannot multiply " + a.text() + " by " + b.text() + ": " +
                             error.what());
        }
    }

    void multiply(const Product& product) {
        Primitive& primitive = primitive_of(product);
        if (product.varies != Varies::Nothing) {
            if (primitive.is_slow) {
                Product fixed = product;
                fixed.varies = Varies::Nothing;
                return multiply(fixed);
            }
            primitive.put(Layouts(product), engine);
        }
        primitive.a.set_data_handle(pointer(product.a.data));
        primitive.b.set_data_handle(pointer(product.b.data));
        primitive.c.set_data_handle(product.c.data);
        if (product.bias) primitive.bias.set_data_handle(pointer(product.bias.data));
        primitive.matmul.execute(stream, primitive.arguments);
        stream.wait();
    }
};

Matmul::Matmul(int threads) {
    hold_to_vector_unit();
    made_ = std::make_unique<Made>();
    made_->threads = threads;
}
Matmul::~Matmul() = default;
Matmul::Matmul(Matmul&&) noexcept = default;

void Matmul::operator()(const Product& product) {
    if (product.m == 0 || product.n == 0) return;
    assert(product.k > 0 && "a GEMM sums something");
    const ThreadLimit limit(made_->threads);
    made_->multiply(product);
}

bool multiplies(DataType type) {
    if (type == DataType::Fp32) return true;
    static const bool wide = [] {
        hold_to_vector_unit();
        const auto isa = dnnl::get_effective_cpu_isa();
        return isa == dnnl::cpu_isa::avx512_core || isa == dnnl::cpu_isa::avx512_core_vnni ||
               isa == dnnl::cpu_isa::avx512_core_bf16 || isa == dnnl::cpu_isa::avx512_core_amx;
    }();
    return type == DataType::Bf16 && wide;
}

}  // namespace debubble::exec::onednn

namespace debubble::exec {

std::string onednn_version() {
    const dnnl_version_t* version = dnnl_version();
    return std::to_string(version->major) + "." + std::to_string(version->minor) + "." +
           std::to_string(version->patch);
}

std::string onednn_instructions() {
    onednn::hold_to_vector_unit();
    const dnnl::cpu_isa isa = dnnl::get_effective_cpu_isa();
    switch (isa) {
        case dnnl::cpu_isa::sse41: return "sse41";
        case dnnl::cpu_isa::avx: return "avx";
        case dnnl::cpu_isa::avx2: return "avx2";
        case dnnl::cpu_isa::avx2_vnni: return "avx2_vnni";
        case dnnl::cpu_isa::avx512_core: return "avx512_core";
        case dnnl::cpu_isa::avx512_core_vnni: return "avx512_core_vnni";
        case dnnl::cpu_isa::avx512_core_bf16: return "avx512_core_bf16";
        case dnnl::cpu_isa::avx512_core_amx: return "avx512_core_amx";
        default: return "cpu_isa " + std::to_string(static_cast<int>(isa));
    }
}

}  // namespace debubble::exec
