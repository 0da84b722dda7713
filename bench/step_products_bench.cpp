#include <benchmark/benchmark.h>

#include <algorithm>
#include <string>

#include "exec/core/tensor.h"
#include "exec/cpu/cpu_kernels.h"
#include "exec/cpu/fp32_operands.h"

/// The matrix products of a training step of GPT-2 124M on one sample of 1024 tokens alone: a lower
/// bound of the time of a step. bench/beside_pytorch.py divides a step by it.
namespace debubble::exec {
namespace {

constexpr std::int64_t kLayers = 12;
constexpr std::int64_t kTokens = 1024;
constexpr std::int64_t kHidden = 768;
constexpr std::int64_t kHeads = 12;
constexpr std::int64_t kVocab = 50257;
constexpr std::int64_t kQueries = 128;  ///< rows of attention that share their keys

Tensor filled(const Shape& shape, DataType type) {
    Tensor wide(shape, DataType::Fp32), tensor(shape, type);
    int k = 0;
    for (float& element : wide.as<float>()) element = static_cast<float>(k++ % 97) / 97.F - 0.5F;
    convert(wide.view(), tensor.view());
    return tensor;
}

/// The products y = x W, dx = dy W^T and dW = x^T dy of any shape.
struct Product {
    WeightLayout layout;
    Tensor x, weight, y, dweight;

    Product(WeightLayout how, std::int64_t rows, std::int64_t inputs, std::int64_t outputs,
            DataType type)
        : layout(how),
          x(filled({rows, inputs}, type)),
          weight(filled(
              how == WeightLayout::InputsOutputs ? Shape{inputs, outputs} : Shape{outputs, inputs},
              type)),
          y(filled({rows, outputs}, type)),
          dweight(weight.shape(), DataType::Fp32) {}

    void forward(Kernels& kernels) {
        kernels.linear_forward(layout, x.view(), weight.view(), {}, y.view());
    }
    void backward_input(Kernels& kernels) {
        kernels.linear_backward_input(layout, y.view(), weight.view(), x.view(), Write::Overwrite);
    }
    void backward_weight(Kernels& kernels) {
        kernels.linear_backward_weight(layout, x.view(), y.view(), dweight.view(), {});
    }
    void all(Kernels& kernels) {
        forward(kernels);
        backward_input(kernels);
        backward_weight(kernels);
    }
};

/// The seven products of causal attention, block by block below the diagonal: scores and the
/// weighted values forward; scores again, and the gradients of probabilities, queries, keys and
/// values backward.
class AttentionProducts {
public:
    explicit AttentionProducts(DataType type) {
        const std::int64_t width = kHidden / kHeads;
        for (std::int64_t keys = kQueries; keys <= kTokens; keys += kQueries) {
            scores_.emplace_back(WeightLayout::OutputsInputs, kQueries, width, keys, type);
            values_.emplace_back(WeightLayout::InputsOutputs, kQueries, keys, width, type);
        }
    }
    void of_a_head(Kernels& kernels) {
        for (Product& scores : scores_) {
            for (int i = 0; i < 3; ++i) scores.forward(kernels);  // QK^T twice, dO V^T
        }
        for (Product& values : values_) {
            for (int i = 0; i < 2; ++i) values.forward(kernels);          // P V, dS K
            for (int i = 0; i < 2; ++i) values.backward_weight(kernels);  // P^T dO, dS^T Q
        }
    }

private:
    std::vector<Product> scores_, values_;
};

void step_products(benchmark::State& state, DataType type, int threads) {
    if (!has_onednn()) return state.SkipWithError("built without oneDNN");
    const auto kernels = make_cpu_kernels("onednn", threads);
    std::vector<Product> layer;
    for (const auto& [inputs, outputs] : {std::pair{1, 3}, {1, 1}, {1, 4}, {4, 1}}) {
        layer.emplace_back(WeightLayout::InputsOutputs, kTokens, inputs * kHidden,
                           outputs * kHidden, type);
    }
    Product head(WeightLayout::OutputsInputs, kTokens, kHidden, kVocab, type);
    AttentionProducts attention(type);
    for (auto _ : state) {
        for (int i = 0; i < kLayers; ++i) {
            for (Product& linear : layer) linear.all(*kernels);
            for (int k = 0; k < kHeads; ++k) attention.of_a_head(*kernels);
        }
        head.all(*kernels);
        kernels->finish();
    }
}

void register_all() {
    for (const int threads : {1, 2}) {
        for (const DataType type : {DataType::Fp32, DataType::Bf16}) {
            const std::string name = std::string(type == DataType::Fp32 ? "fp32/" : "bf16/") +
                                     std::to_string(threads) + "_threads";
            benchmark::RegisterBenchmark(
                name.c_str(), [=](benchmark::State& state) { step_products(state, type, threads); })
                ->Unit(benchmark::kMillisecond)
                ->UseRealTime();
        }
    }
}

const bool kRegistered = (register_all(), true);

}  // namespace
}  // namespace debubble::exec
