#include "exec/cpu/onednn/matmul.h"

#include <omp.h>

#include <array>
#include <cstdlib>
#include <dnnl.hpp>
#include <map>

#include "exec/cpu/cpu_kernels.h"
#include "exec/cpu/reference/vectorise.h"

#include "base/diagnostic.h"

namespace debubble::exec::onednn {

namespace {

dnnl::memory::data_type type_of(DataType type) {
    assert((type == DataType::Fp32 || type == DataType::Bf16) && "oneDNN has fp32 and bf16 alone");
    return type == DataType::Bf16 ? dnnl::memory::data_type::bf16 : dnnl::memory::data_type::f32;
}

dnnl::memory::desc matrix(std::int64_t rows, std::int64_t columns, DataType type,
                          std::int64_t row_stride, std::int64_t column_stride) {
    return {{rows, columns}, type_of(type), {row_stride, column_stride}};
}

dnnl::cpu_isa instructions_of(reference::VectorUnit unit) {
    switch (unit) {
        case reference::VectorUnit::Baseline: return dnnl::cpu_isa::sse41;
        case reference::VectorUnit::Avx2: return dnnl::cpu_isa::avx2;
        case reference::VectorUnit::Avx512: return dnnl::cpu_isa::avx512_core;
    }
    return dnnl::cpu_isa::all;
}

/// The first call, before anything that oneDNN makes by its instructions, holds it to those of
/// DEBUBBLE_VECTOR_UNIT. Its own variable, which says it more finely, goes before.
void hold_to_vector_unit() {
    [[maybe_unused]] static const bool held = [] {
        for (const char* own : {"ONEDNN_MAX_CPU_ISA", "DNNL_MAX_CPU_ISA"})
            if (std::getenv(own)) return false;
        if (!std::getenv("DEBUBBLE_VECTOR_UNIT")) return false;
        const auto status = dnnl::set_max_cpu_isa(instructions_of(reference::vector_unit()));
        if (status != dnnl::status::success && status != dnnl::status::unimplemented)
            throw WorldError("oneDNN cannot be held to the instructions of DEBUBBLE_VECTOR_UNIT");
        return true;
    }();
}

/// All that oneDNN specialises a product for.
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

/// Experts have any number of rows: what is kept for each must end somewhere.
constexpr std::size_t kMostKept = 4096;

/// A primitive with memories that each call points at its operands.
struct Primitive {
    dnnl::matmul matmul;
    dnnl::memory a, b, c, bias;
    std::unordered_map<int, dnnl::memory> arguments;

    Primitive(const Product& product, const dnnl::engine& engine) {
        const auto a_desc = matrix(product.m, product.k, product.a.type, product.a.row_stride,
                                   product.a.column_stride);
        const auto b_desc = matrix(product.k, product.n, product.b.type, product.b.row_stride,
                                   product.b.column_stride);
        const auto c_desc = matrix(product.m, product.n, product.c.type, product.c.row_stride, 1);
        dnnl::primitive_attr attributes;
        if (product.write == Write::Add) {
            dnnl::post_ops add;
            add.append_sum(1.F);
            attributes.set_post_ops(add);
        }
        a = dnnl::memory(a_desc, engine, nullptr);
        b = dnnl::memory(b_desc, engine, nullptr);
        c = dnnl::memory(c_desc, engine, nullptr);
        arguments = {{DNNL_ARG_SRC, a}, {DNNL_ARG_WEIGHTS, b}, {DNNL_ARG_DST, c}};
        if (product.bias) {
            const auto bias_desc = matrix(1, product.n, product.bias.type, product.n, 1);
            bias = dnnl::memory(bias_desc, engine, nullptr);
            arguments.emplace(DNNL_ARG_BIAS, bias);
            matmul = dnnl::matmul({{a_desc, b_desc, bias_desc, c_desc}, attributes, engine});
        } else {
            matmul = dnnl::matmul({{a_desc, b_desc, c_desc}, attributes, engine});
        }
    }
};

void* pointer(const std::byte* data) {
    return const_cast<std::byte*>(data);  // oneDNN reads it all the same
}

/// Holds oneDNN, whose threads are OpenMP's, to a number of them in the calling thread.
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

    std::map<Key, Primitive>::iterator make(const Key& key, const Product& product) {
        if (primitives.size() == kMostKept) primitives.clear();
        try {
            return primitives.try_emplace(key, product, engine).first;
        } catch (const dnnl::error& error) {
            const Shape a{product.m, product.k}, b{product.k, product.n};
            throw WorldError("oneDNN cannot multiply " + a.text() + " by " + b.text() + ": " +
                             error.what());
        }
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
    assert(product.k > 0 && "a product sums something");
    const ThreadLimit limit(made_->threads);
    const Key key = key_of(product);
    auto found = made_->primitives.find(key);
    if (found == made_->primitives.end()) found = made_->make(key, product);
    Primitive& primitive = found->second;
    primitive.a.set_data_handle(pointer(product.a.data));
    primitive.b.set_data_handle(pointer(product.b.data));
    primitive.c.set_data_handle(product.c.data);
    if (product.bias) primitive.bias.set_data_handle(pointer(product.bias.data));
    primitive.matmul.execute(made_->stream, primitive.arguments);
    made_->stream.wait();
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
