#include "exec/cuda/emulation/emulated_gpu.h"

#include <cassert>
#include <cmath>
#include <cstdlib>
#include <numbers>
#include <set>

#include "exec/cuda/cuda_kernels.h"
#include "exec/cuda/emulation/emulation.h"
#include "exec/cuda/kernels/load.h"
#include "exec/cuda/lanes.h"
#include "exec/cuda/products/product_choices.h"

namespace debubble::exec::cuda {

namespace {

float element(const Operand& x, const ColumnMajor& matrix, std::int64_t i, std::int64_t j) {
    return matrix.transposed ? load(x, j + i * matrix.stride) : load(x, i + j * matrix.stride);
}

double gelu(double x, double* slope) {
    const double root = std::sqrt(2 / std::numbers::pi), cubic = 0.044715;
    const double t = std::tanh(root * (x + cubic * x * x * x));
    *slope = 0.5 * (1 + t) + 0.5 * x * (1 - t * t) * root * (1 + 3 * cubic * x * x);
    return 0.5 * x * (1 + t);
}

/// GEMMs as BLAS computes them, on column-major matrices; epilogues as cuBLASLt describes them.
class PlainMatmul final : public Matmul {
public:
    PlainMatmul(Queue& queue, std::set<ProductKind>& kinds, ProductChoosing& how)
        : queue_(queue), kinds_(kinds), how_(how) {}
    void operator()(const Product& product) override {
        assert(product.is_plain() && "the others are asked for at_once");
        ask(product);
    }
    /// Has the library's conditions: the rows that GELU keeps are whole vectors, and sums are of
    /// fp32 results.
    bool at_once(const Product& product) override {
        if (product.epilogue != Epilogue::None && product.n % 8 != 0) return false;
        if (product.sums && product.c.type != Type::Fp32) return false;
        ask(product);
        return true;
    }

private:
    void ask(const Product& product) {
        const ProductKind kind = kind_of(product);
        const bool is_new = kinds_.insert(kind).second;
        if (is_new && how_.times && !how_.chosen.contains(words_of(kind)))
            how_.timed[words_of(kind)] = "the plain loop";
        reinterpret_cast<emulation::Line*>(queue_.stream())->ask([=] { make(product); });
    }
    static void make(const Product& product) {
        const ColumnMajorProduct by = by_columns(product);
        for (std::int64_t j = 0; j < by.result.columns; ++j)
            for (std::int64_t i = 0; i < by.result.rows; ++i) {
                float sum = 0;
                for (std::int64_t k = 0; k < product.k; ++k)
                    sum += element(product.b.elements, by.first, i, k) *
                           element(product.a.elements, by.second, k, j);
                const std::int64_t to = i + j * by.result.stride;
                if (product.bias) sum += load(product.bias, i);
                sum = finished(product, to, sum);
                store(product.c, to, product.adds ? load(product.c, to) + sum : sum);
            }
        for (std::int64_t i = 0; product.sums && i < of_sums(product); ++i) {
            product.sums[i] = 0;
            for (std::int64_t k = 0; k < product.k; ++k)
                product.sums[i] += product.sums_of_b ? element(product.b.elements, by.first, i, k)
                                                     : element(product.a.elements, by.second, k, i);
        }
    }
    static std::int64_t of_sums(const Product& product) {
        return product.sums_of_b ? product.n : product.m;
    }
    static float finished(const Product& product, std::int64_t to, float sum) {
        double slope = 0;
        switch (product.epilogue) {
            case Epilogue::None: return sum;
            case Epilogue::Gelu:
                store(product.wide, to, sum);
                return static_cast<float>(gelu(sum, &slope));
            case Epilogue::GeluGradient: gelu(load(product.wide, to), &slope); break;
        }
        return static_cast<float>(sum * slope);
    }

    Queue& queue_;
    std::set<ProductKind>& kinds_;
    ProductChoosing& how_;
};

class EmulatedDevice final : public Device {
public:
    EmulatedDevice(Bytes room, const EmulatedDelays& delays, int number)
        : room_(room), gpu_(delays, number), lanes_(gpu_) {}
    std::string name() const override { return "an emulated GPU"; }
    Bytes room() const override { return room_; }
    std::int64_t widest_head() const override { return kMaxHeadDim; }
    bool takes_heads(std::int64_t keys, std::int64_t values) const override {
        return has_widths_for(keys, values);
    }
    DeviceFacts facts() const override { return {1, room_, true, 1, "kernels as C++"}; }
    std::byte* reserve(Bytes size) override { return gpu_.reserve(size); }
    void release(std::byte*) noexcept override { gpu_.release(); }
    std::byte* reserve_host(Bytes size) override {
        return static_cast<std::byte*>(std::malloc(static_cast<std::size_t>(size.count)));
    }
    void release_host(std::byte* memory) noexcept override { std::free(memory); }
    std::unique_ptr<Kernels> make_kernels() override {
        Queue& queue = lanes_.queue(kComputeLane);
        return std::make_unique<CudaKernels>(
            queue, std::make_unique<PlainMatmul>(queue, kinds_, products_));
    }
    DeviceLanes& lanes() override { return lanes_; }
    void choose_products(const ProductChoices& chosen) override { products_.chosen = chosen; }
    void time_products(bool times) override { products_.times = times; }
    ProductChoices timed_products() const override { return products_.timed; }

    EmulatedCounts counts() const {
        EmulatedCounts counts = gpu_.counts();
        counts.kinds_of_products = static_cast<int>(kinds_.size());
        return counts;
    }

private:
    Bytes room_;
    EmulatedGpu gpu_;
    Lanes lanes_;
    std::set<ProductKind> kinds_;  ///< kinds of GEMMs asked for
    ProductChoosing products_;
};

}  // namespace

std::unique_ptr<Device> make_emulated_device(Bytes room, const EmulatedDelays& delays, int number) {
    return std::make_unique<EmulatedDevice>(room, delays, number);
}

EmulatedCounts counts_of(const Device& emulated) {
    return dynamic_cast<const EmulatedDevice&>(emulated).counts();
}

}  // namespace debubble::exec::cuda
