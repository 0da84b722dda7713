#include <cmath>

#include "exec/core/stage/rope_table.h"
#include "tests/exec/cpu/golden_subjects.h"

/// Every operator compared with PyTorch in float64: forward and gradients within 1e-5 of the
/// largest element, by the oracle and by the processor's back ends.
namespace debubble::exec {
namespace {

class PyTorch : public AgainstGoldens {
protected:
    Golden golden(const std::string& name) const {
        static const Goldens kOperators("operators");
        return AgainstGoldens::golden(kOperators, name);
    }
};

TEST_P(PyTorch, AgreesOnLinear) {
    for (const auto& [name, layout] : {std::pair("linear", WeightLayout::OutputsInputs),
                                       std::pair("conv1d", WeightLayout::InputsOutputs)}) {
        const Golden at = golden(name);
        const Tensor x = at["x"], weight = at["weight"], bias = at["bias"], dy = at["d_y"];
        const Tensor y = at.like("y"), dx = at.like("x");
        const Tensor dweight = at.like("weight"), dbias = at.like("bias");
        kernels_->linear_forward(layout, x.view(), weight.view(), bias.view(), y.view());
        kernels_->linear_backward_input(layout, dy.view(), weight.view(), dx.view(),
                                        Write::Overwrite);
        kernels_->linear_backward_weight(layout, x.view(), dy.view(), dweight.view(), dbias.view());
        at.expect("y", y);
        at.expect("d_x", dx);
        at.expect("d_weight", dweight);
        at.expect("d_bias", dbias);
    }
}

TEST_P(PyTorch, AgreesOnLayerNorm) {
    const Golden at = golden("layer_norm");
    const Tensor x = at["x"], weight = at["weight"], bias = at["bias"], dy = at["d_y"];
    const Tensor y = at.like("y"), dx = at.like("x"), statistics = at.fresh({5, 2});
    const Tensor dweight = at.like("weight"), dbias = at.like("bias");
    kernels_->layer_norm_forward(1e-5, x.view(), weight.view(), bias.view(), y.view(),
                                 statistics.view());
    kernels_->layer_norm_backward_input(dy.view(), x.view(), weight.view(), statistics.view(),
                                        dx.view(), Write::Overwrite);
    kernels_->layer_norm_backward_weight(dy.view(), x.view(), statistics.view(), dweight.view(),
                                         dbias.view());
    at.expect("y", y);
    at.expect("d_x", dx);
    at.expect("d_weight", dweight);
    at.expect("d_bias", dbias);
}

TEST_P(PyTorch, AgreesOnRmsNorm) {
    const Golden at = golden("rms_norm");
    const Tensor x = at["x"], weight = at["weight"], dy = at["d_y"], y = at.like("y");
    const Tensor dx = at.like("x"), dweight = at.like("weight"), statistics = at.fresh({5});
    kernels_->rms_norm_forward(1e-6, x.view(), weight.view(), y.view(), statistics.view());
    kernels_->rms_norm_backward_input(dy.view(), x.view(), weight.view(), statistics.view(),
                                      dx.view(), Write::Overwrite);
    kernels_->rms_norm_backward_weight(dy.view(), x.view(), statistics.view(), dweight.view());
    at.expect("y", y);
    at.expect("d_x", dx);
    at.expect("d_weight", dweight);
}

TEST_P(PyTorch, AgreesOnActivations) {
    for (const auto& [name, kind] :
         {std::pair("gelu", Nonlinearity::Gelu), std::pair("gelu_tanh", Nonlinearity::GeluTanh),
          std::pair("relu", Nonlinearity::Relu)}) {
        const Golden at = golden(name);
        const Tensor x = at["x"], dy = at["d_y"], y = at.like("y"), dx = at.like("x");
        kernels_->activation_forward(kind, x.view(), y.view());
        kernels_->activation_backward_input(kind, dy.view(), x.view(), dx.view());
        at.expect("y", y);
        at.expect("d_x", dx);
    }
}

/// PyTorch's gates and what they let through lie apart. Here all are in one row.
TEST_P(PyTorch, AgreesOnSwiglu) {
    const Golden at = golden("swiglu");
    const std::int64_t count = at.stored("gate").shape().elements();
    const Tensor gate_up = at.fresh({1, 2 * count}), dgate_up = at.fresh({1, 2 * count});
    const auto half_of = [&](const Tensor& both, std::int64_t which) {
        return TensorView{both.view().data + which * count * size_of(both.type()),
                          at.stored("gate").shape(), both.type()};
    };
    const Tensor gate = at["gate"], up = at["up"], dy = at["d_y"], y = at.fresh({1, count});
    kernels_->copy(gate.view(), half_of(gate_up, 0));
    kernels_->copy(up.view(), half_of(gate_up, 1));
    kernels_->gated_forward(Gate::Silu, gate_up.view(), y.view());
    kernels_->gated_backward_input(Gate::Silu, dy.view().reshaped({1, count}), gate_up.view(),
                                   dgate_up.view());
    const Tensor whole_y = at.like("y"), dgate = at.like("gate"), dup = at.like("up");
    kernels_->copy(y.view().reshaped(whole_y.shape()), whole_y.view());
    kernels_->copy(half_of(dgate_up, 0), dgate.view());
    kernels_->copy(half_of(dgate_up, 1), dup.view());
    at.expect("y", whole_y);
    at.expect("d_gate", dgate);
    at.expect("d_up", dup);
}

TEST_P(PyTorch, AgreesOnRope) {
    const Golden at = golden("rope");
    const Tensor cosines({9, 4}), sines({9, 4});
    rope_table({10000, 8}, cosines.as<float>(), sines.as<float>());
    const Tensor c = converted(cosines, at.type), s = converted(sines, at.type);
    const Tensor y = at["x"], dx = at["d_y"];
    kernels_->rope_forward({0, y.shape()[2]}, c.view(), s.view(), y.view());
    kernels_->rope_backward_input({0, y.shape()[2]}, c.view(), s.view(), dx.view());
    at.expect("y", y);
    at.expect("d_x", dx);
}

TEST_P(PyTorch, AgreesOnAttention) {
    for (const std::string kind : {"", "_full", "_grouped", "_slice", "_blocks"}) {
        const Golden at = golden("attention" + kind);
        const Tensor q = at["q"], k = at["k"], v = at["v"], dy = at["d_y"];
        const Tensor out = at.like("y"), dq = at.like("q"), dk = at.like("k"), dv = at.like("v");
        const Shape& shape = out.shape();
        const Tensor log_sum = at.fresh({shape[0], shape[2], shape[1]});
        const Attention how{kind != "_full", k.shape()[1] - shape[1], 1 / std::sqrt(8.0), {}};
        kernels_->attention_forward(how, q.view(), k.view(), v.view(), out.view(), log_sum.view());
        kernels_->attention_backward_input(how, dy.view(), q.view(), k.view(), v.view(), out.view(),
                                           log_sum.view(), dq.view(), dk.view(), dv.view());
        at.expect("y", out);
        at.expect("d_q", dq);
        at.expect("d_k", dk);
        at.expect("d_v", dv);
    }
}

TEST_P(PyTorch, AgreesOnEmbeddings) {
    const Golden token = golden("token_embedding");
    const Tensor table = token["table"], d_y = token["d_y"];
    const Tensor y = token.like("y"), dtable = token.like("table");
    kernels_->token_embedding_forward(token.integers("tokens"), 0, table.view(), y.view());
    kernels_->token_embedding_backward_weight(token.integers("tokens"), 0, d_y.view(),
                                              dtable.view());
    token.expect("y", y);
    token.expect("d_table", dtable);

    const Golden position = golden("position_embedding");
    const Tensor x = position["x"], positions = position["table"], dsum = position["d_y"];
    const Tensor sum = position.like("y"), dpositions = position.like("table");
    kernels_->position_embedding_forward(2, x.view(), positions.view(), sum.view());
    kernels_->position_embedding_backward_weight(2, dsum.view(), dpositions.view());
    position.expect("y", sum);
    position.expect("d_table", dpositions);
}

TEST_P(PyTorch, AgreesOnPatchEmbedding) {
    const Golden at = golden("patch_embedding");
    constexpr auto kLayout = WeightLayout::OutputsInputs;
    const Tensor images = at["images"], weight = at["weight"], bias = at["bias"], dy = at["d_y"];
    const Tensor token = at["class_token"], positions = at["positions"], y = at.like("y");
    const Tensor cut = at.fresh({2, 6, 48}), patches = at.fresh({2, 6, 6});
    const Tensor dpatches = at.fresh({2, 6, 6});
    const Tensor dweight = at.like("weight"), dbias = at.like("bias");
    const Tensor dtoken = at.like("class_token"), dpositions = at.like("positions");
    kernels_->cut_patches(4, images.view(), cut.view());
    kernels_->linear_forward(kLayout, cut.view(), weight.view(), bias.view(), patches.view());
    kernels_->class_token_forward(patches.view(), token.view(), positions.view(), y.view());
    kernels_->class_token_backward_input(dy.view(), dpatches.view());
    kernels_->class_token_backward_weight(dy.view(), dtoken.view(), dpositions.view());
    kernels_->linear_backward_weight(kLayout, cut.view(), dpatches.view(), dweight.view(),
                                     dbias.view());
    at.expect("y", y);
    at.expect("d_weight", dweight);
    at.expect("d_bias", dbias);
    at.expect("d_class_token", dtoken);
    at.expect("d_positions", dpositions);
}

TEST_P(PyTorch, AgreesOnCrossEntropyWithAnIgnoredIndex) {
    const Golden at = golden("cross_entropy");
    const Tensor& ids = at.stored("targets");
    const ConstTensorView targets = ids.view();
    const auto counted = static_cast<double>(
        std::ranges::count_if(ids.as<std::int32_t>(), [](std::int32_t id) { return id != -100; }));
    const CrossEntropy loss{.gradient_scale = 1 / counted};
    const Tensor dlogits = at["logits"], total({1}, DataType::Fp64);
    const Tensor largest = at.fresh({9}), sum = at.fresh({9}), target = at.fresh({9});
    kernels_->cross_entropy_softmax(loss, targets, dlogits.view(), largest.view(), sum.view(),
                                    target.view());
    kernels_->cross_entropy_loss(loss, targets, sum.view(), target.view(), total.view());
    kernels_->cross_entropy_gradient(loss, targets, {}, largest.view(), sum.view(), dlogits.view());
    const double mean = at.stored("y").as<float>()[0];
    EXPECT_NEAR(total.as<double>()[0] / counted, mean, 1e-5 * mean);
    at.expect("d_logits", dlogits);
}

INSTANTIATE_TEST_SUITE_P(All, PyTorch, testing::ValuesIn(subjects()),
                         [](const auto& test) { return test.param.name; });

}  // namespace
}  // namespace debubble::exec
