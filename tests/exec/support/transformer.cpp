#include "tests/exec/support/transformer.h"

#include <cmath>

#include <fmt/format.h>

#include "exec/core/stage/rope_table.h"
#include "exec/cpu/cpu_kernels.h"
#include "exec/cpu/fixed_order/attention.h"
#include "exec/cpu/fixed_order/gemm.h"
#include "exec/cpu/loops/attention/heads.h"
#include "exec/cpu/loops/elements.h"
#include "exec/cpu/loops/ends.h"
#include "exec/cpu/loops/experts.h"
#include "exec/cpu/loops/norms.h"
#include "models/build/layer_names.h"
#include "tests/exec/support/whole_loss.h"

namespace debubble::exec {

using namespace fixed_order;
using namespace loops;

namespace {

View<float> of(const Tensor& tensor) {
    return tensor.as<float>();
}

/// As a linear layer sees it: [tokens, width].
View<float> flat(const Tensor& tensor, std::int64_t width) {
    return of(tensor).reshaped({tensor.shape().elements() / width, width});
}

}  // namespace

Transformer::Transformer(const models::Architecture& model, std::map<std::string, Tensor> start)
    : weights(std::move(start)),
      model_(model),
      keys_(keys_of(model.layers[0])),
      kernels_(make_fixed_order_kernels()) {
    for (const auto& [name, tensor] : weights) gradients.emplace(name, Tensor(tensor.shape()));
    if (!keys_.rotary) return;
    const RotaryAngles angles{keys_.rope_theta, keys_.head_dim};
    cosines_ = Tensor({model_.max_positions, keys_.head_dim / 2});
    sines_ = Tensor(cosines_.shape());
    rope_table(angles, of(cosines_), of(sines_));
}

View<float> Transformer::weight(const std::string& name) const {
    const auto found = weights.find(name);
    return found == weights.end() ? View<float>{} : of(found->second);
}
View<float> Transformer::gradient(const std::string& name) const {
    const auto found = gradients.find(name);
    return found == gradients.end() ? View<float>{} : of(found->second);
}
void Transformer::zero_gradients() {
    for (auto& [name, tensor] : gradients) tensor.zero();
}
void Transformer::done(std::function<void()> input, std::function<void()> weight) {
    tape_.push_back({std::move(input), std::move(weight)});
}

void Transformer::backward(Order order) {
    for (auto step = tape_.rbegin(); step != tape_.rend(); ++step) {
        step->input();
        if (order == Order::Fused) step->weight();
    }
    if (order == Order::InputsThenWeights) {
        for (auto step = tape_.rbegin(); step != tape_.rend(); ++step) step->weight();
    }
    tape_.clear();
}

double Transformer::forward(const Tensor& inputs, const Tensor& targets, double gradient_scale) {
    const models::StageNames names = stage_names(model_);
    const bool vit = model_.family == models::Family::Vit;
    Handle x = vit ? embed_patches(inputs) : embed(inputs);
    for (int layer = 0; layer < model_.layers.count(); ++layer) {
        x = mlp_part(attention_part(x, layer), layer);
    }
    x = norm(x, names.final_norm);
    if (vit) x = first_row(x);
    const std::string head = names.head.substr(0, names.head.find(".weight"));
    const Handle out = linear(
        x,
        model_.tied_embedding ? names.token_embedding.substr(0, names.token_embedding.rfind('.'))
                              : head,
        model_.vocab);
    logits = out->data.clone();
    out->gradient = out->data.clone();
    const std::int64_t tokens = targets.shape().elements();
    return whole_loss({.gradient_scale = gradient_scale},
                      targets.as<std::int32_t>().reshaped({tokens}),
                      flat(out->gradient, model_.vocab));
}

Transformer::Handle Transformer::embed(const Tensor& tokens) {
    const models::StageNames names = stage_names(model_);
    const auto y =
        std::make_shared<Value>(Shape{tokens.shape()[0], tokens.shape()[1], model_.hidden});
    const auto ids = std::make_shared<Tensor>(tokens.clone());
    kernels_->token_embedding_forward(ids->view(), 0, weights.at(names.token_embedding).view(),
                                      y->data.view());
    const bool positions = model_.learned_positions;
    if (positions) {
        position_embedding_forward(0, of(y->data), weight(names.position_embedding), of(y->data));
    }
    done([] {},
         [=, this] {
             token_embedding_backward_weight(ids->as<std::int32_t>(), 0, of(y->gradient),
                                             gradient(names.token_embedding));
             if (!positions) return;
             position_embedding_backward_weight(0, of(y->gradient),
                                                gradient(names.position_embedding));
         });
    return y;
}

Transformer::Handle Transformer::embed_patches(const Tensor& images) {
    const models::StageNames names = stage_names(model_);
    const std::int64_t side = *model_.patch_size, pixels = *model_.channels * side * side;
    const std::int64_t samples = images.shape()[0], patches = model_.max_positions - 1;
    const auto cut = std::make_shared<Value>(Shape{samples, patches, pixels});
    cut_patches(side, of(images), of(cut->data));
    const Handle patch = linear(cut, names.token_embedding, model_.hidden);
    const Shape by_sample{samples, patches, model_.hidden};
    const auto y = std::make_shared<Value>(Shape{samples, patches + 1, model_.hidden});
    const std::string token = "vit.embeddings.cls_token", positions = names.position_embedding;
    class_token_forward(of(patch->data).reshaped(by_sample), weight(token), weight(positions),
                        of(y->data));
    done(
        [=] {
            class_token_backward_input(of(y->gradient), of(patch->gradient).reshaped(by_sample));
        },
        [=, this] {
            class_token_backward_weight(of(y->gradient), gradient(token), gradient(positions));
        });
    return y;
}

Transformer::Handle Transformer::norm(const Handle& x, const std::string& name) {
    const auto y = std::make_shared<Value>(x->data.shape());
    const std::int64_t tokens = of(x->data).rows();
    const std::string gain = name + ".weight", bias = name + ".bias";
    if (model_.norm == models::Norm::RmsNorm) {
        const auto saved = std::make_shared<Tensor>(Shape{tokens});
        rms_norm_forward(model_.norm_eps, of(x->data), weight(gain), of(y->data), of(*saved));
        done(
            [=, this] {
                rms_norm_backward_input(of(y->gradient), of(x->data), weight(gain), of(*saved),
                                        of(x->gradient), Write::Add);
            },
            [=, this] {
                rms_norm_backward_weight(of(y->gradient), of(x->data), of(*saved), gradient(gain));
            });
        return y;
    }
    const auto saved = std::make_shared<Tensor>(Shape{tokens, 2});
    layer_norm_forward(model_.norm_eps, of(x->data), weight(gain), weight(bias), of(y->data),
                       of(*saved));
    done(
        [=, this] {
            layer_norm_backward_input(of(y->gradient), of(x->data), weight(gain), of(*saved),
                                      of(x->gradient), Write::Add);
        },
        [=, this] {
            layer_norm_backward_weight(of(y->gradient), of(x->data), of(*saved), gradient(gain),
                                       gradient(bias));
        });
    return y;
}

Transformer::Handle Transformer::linear(const Handle& x, const std::string& name,
                                        std::int64_t outputs) {
    const bool conv = model_.family == models::Family::Gpt2 && name != "wte";
    const auto layout = conv ? WeightLayout::InputsOutputs : WeightLayout::OutputsInputs;
    const std::string kernel = name + ".weight", bias = name + ".bias";
    const std::int64_t inputs = weight(kernel).size() / outputs;
    const std::int64_t tokens = x->data.shape().elements() / inputs;
    const auto y = std::make_shared<Value>(Shape{tokens, outputs});
    linear_forward(layout, flat(x->data, inputs), weight(kernel), weight(bias), of(y->data));
    done(
        [=, this] {
            linear_backward_input(layout, flat(y->gradient, outputs), weight(kernel),
                                  flat(x->gradient, inputs), Write::Add);
        },
        [=, this] {
            linear_backward_weight(layout, flat(x->data, inputs), flat(y->gradient, outputs),
                                   gradient(kernel), gradient(bias));
        });
    return y;
}

/// Queries, keys and values, each [samples, rows, its heads, head_dim].
std::vector<Transformer::Handle> Transformer::heads(const Handle& x, int layer) {
    const models::LayerNames names = layer_names(model_, layer);
    const std::int64_t samples = x->data.shape()[0], rows = x->data.shape()[1];
    const std::int64_t dim = keys_.head_dim;
    std::vector<Handle> parts;
    for (const std::int64_t count : {keys_.heads, keys_.kv_heads, keys_.kv_heads}) {
        parts.push_back(std::make_shared<Value>(Shape{samples, rows, count, dim}));
    }
    if (model_.family == models::Family::Gpt2) {
        const std::int64_t width = (keys_.heads + 2 * keys_.kv_heads) * dim;
        const Handle packed = linear(x, names.prefix + names.qkv, width);
        const Shape shape{samples, rows, width};
        kernels_->split_heads_forward(0, packed->data.view().reshaped(shape), parts[0]->data.view(),
                                      parts[1]->data.view(), parts[2]->data.view());
        done([=, this] {
            kernels_->split_heads_backward_input(
                0, parts[0]->gradient.view(), parts[1]->gradient.view(), parts[2]->gradient.view(),
                packed->gradient.view().reshaped(shape));
        });
        return parts;
    }
    const bool llama = model_.family == models::Family::Llama;
    const char* of_llama[] = {"self_attn.q_proj", "self_attn.k_proj", "self_attn.v_proj"};
    const char* of_vit[] = {"attention.attention.query", "attention.attention.key",
                            "attention.attention.value"};
    for (int i = 0; i < 3; ++i) {
        const Handle part = parts[i];
        const Handle y =
            linear(x, names.prefix + (llama ? of_llama : of_vit)[i], part->data.shape()[2] * dim);
        const Shape shape{samples, rows, of(y->data).columns()};
        store_rows(0, of(y->data).reshaped(shape), of(part->data));
        done([=] { load_rows(0, of(part->gradient), of(y->gradient).reshaped(shape)); });
    }
    return parts;
}

void Transformer::rotate(const Handle& x) {
    const Rotary how{0, x->data.shape()[2]};
    rope_forward(how, of(cosines_), of(sines_), of(x->data));
    done([=, this] { rope_backward_input(how, of(cosines_), of(sines_), of(x->gradient)); });
}

Transformer::Handle Transformer::attention_part(const Handle& x, int layer) {
    const models::LayerNames names = layer_names(model_, layer);
    const std::vector<Handle> parts = heads(norm(x, names.prefix + names.norm1), layer);
    const Handle q = parts[0], k = parts[1], v = parts[2];
    if (keys_.rotary) {
        rotate(q);
        rotate(k);
    }
    const auto out = std::make_shared<Value>(q->data.shape());
    const auto log_sum = std::make_shared<Tensor>(Shape{of(q->data).rows()});
    const Attention how{model_.causal, 0, 1 / std::sqrt(static_cast<double>(keys_.head_dim)), {}};
    attention_forward(how, of(q->data), of(k->data), of(v->data), of(out->data), of(*log_sum));
    done([=] {
        attention_backward_input(how, of(out->gradient), of(q->data), of(k->data), of(v->data),
                                 of(out->data), of(*log_sum), of(q->gradient), of(k->gradient),
                                 of(v->gradient));
    });
    return add(x, linear(out, names.prefix + names.projection, model_.hidden));
}

Transformer::Handle Transformer::mlp_part(const Handle& x, int layer) {
    const models::LayerNames names = layer_names(model_, layer);
    const Handle normed = norm(x, names.prefix + names.norm2);
    if (keys_.experts > 0) return add(x, experts(normed, names.prefix + "block_sparse_moe."));
    const Handle up = linear(normed, names.prefix + names.fc1, keys_.ffn);
    Handle active;
    if (is_gated(keys_.activation)) {
        active = swiglu(linear(normed, names.prefix + "mlp.gate_proj", keys_.ffn), up);
    } else {
        active = std::make_shared<Value>(up->data.shape());
        const auto kind = keys_.activation == models::Activation::GeluTanh ? Nonlinearity::GeluTanh
                                                                           : Nonlinearity::Gelu;
        activation_forward(kind, of(up->data), of(active->data));
        done([=] {
            activation_backward_input(kind, of(active->gradient), of(up->data), of(up->gradient));
        });
    }
    return add(x, linear(active, names.prefix + names.fc2, model_.hidden));
}

Transformer::Handle Transformer::swiglu(const Handle& gate, const Handle& up) {
    const auto y = std::make_shared<Value>(up->data.shape());
    gated_forward(Gate::Silu, of(gate->data), of(up->data), of(y->data));
    done([=] {
        gated_backward_input(Gate::Silu, of(y->gradient), of(gate->data), of(up->data),
                             of(gate->gradient), of(up->gradient));
    });
    return y;
}

Transformer::Handle Transformer::experts(const Handle& x, const std::string& block) {
    const Handle gate = linear(x, block + "gate", keys_.experts);
    const std::int64_t tokens = gate->data.shape()[0], hidden = model_.hidden;
    const auto share = std::make_shared<Value>(gate->data.shape());
    const RouterChoice choice{RouterScore::Softmax, keys_.experts_per_token};
    route_forward(choice, of(gate->data), {}, of(share->data));
    done([=] {
        route_backward(choice, of(share->gradient), of(share->data), of(gate->data),
                       of(gate->gradient));
    });
    const auto y = std::make_shared<Value>(Shape{tokens, hidden});
    for (std::int64_t e = 0; e < keys_.experts; ++e) {
        const std::string at = fmt::format("{}experts.{}.", block, e);
        const Handle active =
            swiglu(linear(x, at + "w1", keys_.ffn), linear(x, at + "w3", keys_.ffn));
        const Handle made = linear(active, at + "w2", hidden);
        const auto each = [=](const auto& body) {
            for (std::int64_t i = 0; i < tokens * hidden; ++i)
                body(of(share->data).row(i / hidden)[e], of(share->gradient).row(i / hidden)[e], i);
        };
        each([&](float weight, float&, std::int64_t i) {
            of(y->data)[i] += weight * of(made->data)[i];
        });
        done([=] {
            each([&](float weight, float& dweight, std::int64_t i) {
                of(made->gradient)[i] = weight * of(y->gradient)[i];
                dweight += of(made->data)[i] * of(y->gradient)[i];
            });
        });
    }
    return y;
}

Transformer::Handle Transformer::add(const Handle& x, const Handle& branch) {
    const auto y = std::make_shared<Value>(x->data.shape());
    residual_forward(of(x->data), of(branch->data), of(y->data));
    done([=] {
        loops::add(of(y->gradient), of(x->gradient));
        loops::add(of(y->gradient), of(branch->gradient));
    });
    return y;
}

Transformer::Handle Transformer::first_row(const Handle& x) {
    const auto y = std::make_shared<Value>(Shape{x->data.shape()[0], model_.hidden});
    first_row_forward(of(x->data), of(y->data));
    done([=] { first_row_backward_input(of(y->gradient), of(x->gradient)); });
    return y;
}

}  // namespace debubble::exec
