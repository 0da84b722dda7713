#include <benchmark/benchmark.h>

#include <cmath>
#include <functional>

#include "exec/core/tensor.h"
#include "exec/cpu/cpu_kernels.h"
#include "exec/cpu/fp32_operands.h"

/// The rates that each kernel reaches on the shapes of GPT-2 124M with one sample of 1024 tokens,
/// per second of processor time and not of wall-clock time.
namespace debubble::exec {
namespace {

constexpr std::int64_t kTokens = 1024;
constexpr std::int64_t kHidden = 768;
constexpr std::int64_t kHeads = 12;
constexpr std::int64_t kVocab = 50257;

/// A tensor without zeros, which are quicker to multiply on some processors.
Tensor filled(const Shape& shape, DataType type) {
    Tensor wide(shape, DataType::Fp32), tensor(shape, type);
    float value = 0.1F;
    for (float& element : wide.as<float>()) {
        value = value * 1.37F + 0.11F;
        value -= std::floor(value);
        element = value - 0.5F;
    }
    convert(wide.view(), tensor.view());
    return tensor;
}

/// One kernel. `flops` and `bytes` count one call.
struct Bench {
    std::string name;
    double flops = 0;
    std::function<double(DataType)> bytes;
    std::function<std::function<void(Kernels&)>(DataType)> prepare;  ///< makes one call
};

void run(benchmark::State& state, const std::string& back_end, DataType type, const Bench& bench) {
    const auto kernels = make_cpu_kernels(back_end, 1);
    const std::function<void(Kernels&)> call = bench.prepare(type);
    call(*kernels);
    for (auto _ : state) {
        call(*kernels);
        kernels->finish();
    }
    const auto rate = [](double of_one_call) {
        return benchmark::Counter(of_one_call * 1e-9,
                                  benchmark::Counter::kIsIterationInvariantRate);
    };
    if (bench.flops > 0) state.counters["GFLOP/s"] = rate(bench.flops);
    if (bench.bytes) state.counters["GB/s"] = rate(bench.bytes(type));
}

/// The three products of a linear layer.
void add_linear(std::vector<Bench>& all, const std::string& name, WeightLayout layout,
                std::int64_t inputs, std::int64_t outputs) {
    const double flops = 2.0 * kTokens * static_cast<double>(inputs * outputs);
    const Shape x_shape{kTokens, inputs}, y_shape{kTokens, outputs};
    const Shape w_shape =
        layout == WeightLayout::InputsOutputs ? Shape{inputs, outputs} : Shape{outputs, inputs};
    struct Operands {
        Tensor x, weight, y, dweight;
    };
    const auto operands = [=](DataType type) {
        return std::make_shared<Operands>(Operands{filled(x_shape, type), filled(w_shape, type),
                                                   filled(y_shape, type),
                                                   Tensor(w_shape, DataType::Fp32)});
    };
    all.push_back({name + "_forward", flops, {}, [=](DataType type) {
                       return [=, o = operands(type)](Kernels& kernels) {
                           kernels.linear_forward(layout, o->x.view(), o->weight.view(), {},
                                                  o->y.view());
                       };
                   }});
    all.push_back({name + "_backward_input", flops, {}, [=](DataType type) {
                       return [=, o = operands(type)](Kernels& kernels) {
                           kernels.linear_backward_input(layout, o->y.view(), o->weight.view(),
                                                         o->x.view(), Write::Overwrite);
                       };
                   }});
    all.push_back({name + "_backward_weight", flops, {}, [=](DataType type) {
                       return [=, o = operands(type)](Kernels& kernels) {
                           kernels.linear_backward_weight(layout, o->x.view(), o->y.view(),
                                                          o->dweight.view(), {});
                       };
                   }});
}

struct AttentionOperands {
    Tensor q, k, v, out, dout, dq, dk, dv, log_sum;
    explicit AttentionOperands(DataType type) : log_sum({1, kHeads, kTokens}) {
        for (Tensor* x : {&q, &k, &v, &out, &dout, &dq, &dk, &dv}) {
            *x = filled({1, kTokens, kHeads, kHidden / kHeads}, type);
        }
    }
};

/// FLOPs of the products over the keys that each query sees: two forward, five backward.
void add_attention(std::vector<Bench>& all) {
    const double product = 2.0 * kHidden * (kTokens * (kTokens + 1.0) / 2);
    const Attention how{.scale = 0.125};
    all.push_back({"attention_forward", 2 * product, {}, [=](DataType type) {
                       return [=, o = std::make_shared<AttentionOperands>(type)](Kernels& kernels) {
                           kernels.attention_forward(how, o->q.view(), o->k.view(), o->v.view(),
                                                     o->out.view(), o->log_sum.view());
                       };
                   }});
    all.push_back({"attention_backward", 5 * product, {}, [=](DataType type) {
                       const auto o = std::make_shared<AttentionOperands>(type);
                       std::ranges::fill(o->log_sum.as<float>(), 7.F);
                       return [=](Kernels& kernels) {
                           kernels.attention_backward_input(how, o->dout.view(), o->q.view(),
                                                            o->k.view(), o->v.view(), o->out.view(),
                                                            o->log_sum.view(), o->dq.view(),
                                                            o->dk.view(), o->dv.view());
                       };
                   }});
}

using Call = std::function<void(Kernels&, const std::vector<Tensor>&)>;

/// A kernel over operands of one shape; `passes` counts how often an element is read or written.
Bench streaming(const std::string& name, const Shape& shape, int operands, double passes,
                const Call& call) {
    const double accesses = passes * static_cast<double>(shape.elements());
    const auto bytes = [=](DataType type) { return accesses * static_cast<double>(size_of(type)); };
    return {name, 0, bytes, [=](DataType type) {
                auto tensors = std::make_shared<std::vector<Tensor>>();
                for (int i = 0; i < operands; ++i) tensors->push_back(filled(shape, type));
                return [=](Kernels& kernels) { call(kernels, *tensors); };
            }};
}

void add_norms(std::vector<Bench>& all) {
    const Shape shape{kTokens, kHidden};
    const auto statistics = std::make_shared<Tensor>(filled({kTokens, 2}, DataType::Fp32));
    const auto sums = std::make_shared<Tensor>(filled({2, kHidden}, DataType::Fp32));
    const auto weights = [=](const std::vector<Tensor>& t) {  // every row gets the same weights
        return t[3].view().reshaped({kTokens, kHidden});
    };
    const auto row = [=](const TensorView& x, int which) {
        return TensorView{x.data + which * kHidden * size_of(x.type), {kHidden}, x.type};
    };
    all.push_back(
        streaming("layer_norm_forward", shape, 4, 2, [=](Kernels& kernels, const auto& t) {
            kernels.layer_norm_forward(1e-5, t[0].view(), row(weights(t), 0), row(weights(t), 1),
                                       t[1].view(), statistics->view());
        }));
    all.push_back(
        streaming("layer_norm_backward_input", shape, 4, 4, [=](Kernels& kernels, const auto& t) {
            kernels.layer_norm_backward_input(t[0].view(), t[1].view(), row(weights(t), 0),
                                              statistics->view(), t[2].view(), Write::Add);
        }));
    all.push_back(
        streaming("layer_norm_backward_weight", shape, 2, 2, [=](Kernels& kernels, const auto& t) {
            kernels.layer_norm_backward_weight(t[0].view(), t[1].view(), statistics->view(),
                                               row(sums->view(), 0), row(sums->view(), 1));
        }));
}

void add_elements(std::vector<Bench>& all) {
    const Shape ffn{kTokens, 4 * kHidden}, hidden{1, kTokens, kHidden};
    all.push_back(streaming("gelu_forward", ffn, 2, 2, [](Kernels& kernels, const auto& t) {
        kernels.activation_forward(Nonlinearity::GeluTanh, t[0].view(), t[1].view());
    }));
    all.push_back(streaming("gelu_backward", ffn, 3, 3, [](Kernels& kernels, const auto& t) {
        kernels.activation_backward_input(Nonlinearity::GeluTanh, t[0].view(), t[1].view(),
                                          t[2].view());
    }));
    all.push_back(streaming("residual", hidden, 3, 3, [](Kernels& kernels, const auto& t) {
        kernels.residual_forward(t[0].view(), t[1].view(), t[2].view());
    }));
    all.push_back(streaming("dropout", hidden, 2, 2, [](Kernels& kernels, const auto& t) {
        kernels.dropout({0.1, stream_of(1, "dropout")}, {kTokens, kHidden, 0, 0, 0}, t[0].view(),
                        t[1].view());
    }));
    all.push_back(streaming("bias_gradient", ffn, 1, 1, [](Kernels& kernels, const auto& t) {
        const static Tensor sum({4 * kHidden}), nothing;
        // Measured through a layer of one input, whose product is small compared with the sum of
        // its rows.
        const static Tensor x({kTokens, 1}), wide({kTokens, 1}, DataType::Bf16),
            dweight({1, 4 * kHidden});
        kernels.linear_backward_weight(WeightLayout::InputsOutputs,
                                       t[0].type() == DataType::Fp32 ? x.view() : wide.view(),
                                       t[0].view(), dweight.view(), sum.view());
    }));
}

/// The softmax and the gradient: five passes over the logits where exponentials are kept, else
/// three.
void add_cross_entropy(std::vector<Bench>& all) {
    const auto columns = std::make_shared<Tensor>(Shape{3, kTokens});
    const auto targets = std::make_shared<Tensor>(Shape{kTokens}, DataType::Int32);
    all.push_back(
        streaming("cross_entropy", {kTokens, kVocab}, 1, 5, [=](Kernels& kernels, const auto& t) {
            const auto column = [&](int i) {
                return TensorView{
                    columns->view().data + i * 4 * kTokens, {kTokens}, DataType::Fp32};
            };
            const CrossEntropy loss{.gradient_scale = 1.0 / kTokens};
            kernels.cross_entropy_softmax(loss, targets->view(), t[0].view(), column(0), column(1),
                                          column(2));
            kernels.cross_entropy_gradient(loss, targets->view(), {}, column(0), column(1),
                                           t[0].view());
        }));
}

/// fp32 gradients, parameters and moments whatever the type, as in training, and a copy of the
/// parameter in the compute type: 28 bytes and those of the copy.
void add_adam(std::vector<Bench>& all) {
    constexpr std::int64_t kCount = 4 * kHidden * kHidden * 4;
    const auto state = std::make_shared<std::vector<Tensor>>();
    const auto bytes = [](DataType type) {
        return (type == DataType::Fp32 ? 28.0 : 30.0) * static_cast<double>(kCount);
    };
    all.push_back({"adam_step", 0, bytes, [=](DataType type) {
                       if (state->empty()) {
                           for (int i = 0; i < 4; ++i)
                               state->push_back(filled({kCount}, DataType::Fp32));
                           state->back().zero();
                       }
                       const bool copied = type != DataType::Fp32;
                       const auto copy = std::make_shared<Tensor>(Shape{kCount}, type);
                       return [=](Kernels& kernels) {
                           kernels.adam_step({.weight_decay = 0.1, .decoupled = true}, 2, 1, 0,
                                             (*state)[0].view(), (*state)[1].view(),
                                             (*state)[2].view(), (*state)[3].view(),
                                             copied ? copy->view() : TensorView{});
                       };
                   }});
}

void register_all() {
    static std::vector<Bench> all;
    add_linear(all, "qkv", WeightLayout::InputsOutputs, kHidden, 3 * kHidden);
    add_linear(all, "projection", WeightLayout::InputsOutputs, kHidden, kHidden);
    add_linear(all, "mlp_up", WeightLayout::InputsOutputs, kHidden, 4 * kHidden);
    add_linear(all, "mlp_down", WeightLayout::InputsOutputs, 4 * kHidden, kHidden);
    add_linear(all, "head", WeightLayout::OutputsInputs, kHidden, kVocab);
    add_attention(all);
    add_norms(all);
    add_elements(all);
    add_cross_entropy(all);
    add_adam(all);
    for (const std::string back_end : {"fixed-order", "onednn"}) {
        if (back_end == "onednn" && !has_onednn()) continue;
        for (const DataType type : {DataType::Fp32, DataType::Bf16}) {
            const std::string stored = type == DataType::Fp32 ? "fp32/" : "bf16/";
            for (const Bench& bench : all) {
                benchmark::RegisterBenchmark(
                    (back_end + "/" + stored + bench.name).c_str(),
                    [=, &bench](benchmark::State& state) { run(state, back_end, type, bench); })
                    ->Unit(benchmark::kMillisecond);
            }
        }
    }
}

const bool kRegistered = (register_all(), true);

}  // namespace
}  // namespace debubble::exec
