#include "exec/cuda/cudnn/graphs.h"

namespace debubble::exec::cuda::cudnn {

namespace {

namespace fe = cudnn_frontend;
using Tensor = std::shared_ptr<fe::graph::Tensor_attributes>;

/// A graph and its tensors. cuDNN's order of dimensions is [samples, heads, rows, head_dim],
/// whatever the order in memory.
class Attention {
public:
    Attention(const AttentionShape& shape, Type type, int architecture)
        : shape_(shape),
          type_(type == Type::Bf16 ? fe::DataType_t::BFLOAT16 : fe::DataType_t::HALF) {
        if (architecture > 0) graph_->set_sm_version(architecture);
        graph_->set_io_data_type(type_)
            .set_intermediate_data_type(fe::DataType_t::FLOAT)
            .set_compute_data_type(fe::DataType_t::FLOAT);
    }

    Tensor of_queries(Id id) { return input(id, queries(shape_.query_stride)); }
    Tensor of_results(Id id) { return input(id, queries(shape_.out_stride)); }
    Tensor of_keys(Id id) { return input(id, keys()); }
    Tensor log_sum() {
        const Tensor tensor = graph_->tensor(fe::graph::Tensor_attributes().set_name("log_sum"));
        tensor->set_data_type(fe::DataType_t::FLOAT).set_uid(number(Id::LogSum));
        return put_log_sum(tensor);
    }

    void leaves_queries(const Tensor& tensor, Id id) {
        leaves(tensor, id, queries(shape_.query_stride));
    }
    void leaves_results(const Tensor& tensor, Id id) {
        leaves(tensor, id, queries(shape_.out_stride));
    }
    void leaves_keys(const Tensor& tensor, Id id) { leaves(tensor, id, keys()); }
    void leaves_log_sum(const Tensor& tensor) {
        tensor->set_output(true).set_data_type(fe::DataType_t::FLOAT).set_uid(number(Id::LogSum));
        put_log_sum(tensor);
    }

    /// Sets the attributes of the scores that both passes have.
    template <class Attributes>
    Attributes scores(const char* name) const {
        Attributes how;
        how.set_name(name).set_causal_mask(shape_.causal).set_attn_scale(shape_.scale);
        return how;
    }

    Graph& graph() { return *graph_; }
    std::shared_ptr<Graph> done() && { return std::move(graph_); }

private:
    /// Heads packed in rows, each of which starts `stride` elements after the one before.
    struct Rows {
        std::int64_t heads, count, stride;
    };
    Rows queries(std::int64_t stride) const { return {shape_.heads, shape_.queries, stride}; }
    Rows keys() const { return {shape_.kv_heads, shape_.keys, shape_.key_stride}; }

    static std::int64_t number(Id id) { return static_cast<std::int64_t>(id); }

    void put(const Tensor& tensor, const Rows& rows) const {
        const std::int64_t width = shape_.head_dim;
        tensor->set_data_type(type_)
            .set_dim({shape_.samples, rows.heads, rows.count, width})
            .set_stride({rows.count * rows.stride, width, rows.stride, 1});
    }
    Tensor put_log_sum(const Tensor& tensor) const {
        tensor->set_dim({shape_.samples, shape_.heads, shape_.queries, 1})
            .set_stride({shape_.heads * shape_.queries, shape_.queries, 1, 1});
        return tensor;
    }
    Tensor input(Id id, const Rows& rows) {
        const Tensor tensor = graph_->tensor(fe::graph::Tensor_attributes().set_uid(number(id)));
        put(tensor, rows);
        return tensor;
    }
    void leaves(const Tensor& tensor, Id id, const Rows& rows) {
        tensor->set_output(true).set_uid(number(id));
        put(tensor, rows);
    }

    const AttentionShape& shape_;
    fe::DataType_t type_;
    std::shared_ptr<Graph> graph_ = std::make_shared<Graph>();
};

}  // namespace

std::shared_ptr<Graph> forward_graph(const AttentionShape& shape, Type type, int architecture) {
    Attention attention(shape, type, architecture);
    const Tensor q = attention.of_queries(Id::Q), k = attention.of_keys(Id::K);
    const Tensor v = attention.of_keys(Id::V);
    auto how = attention.scores<fe::graph::SDPA_attributes>("attention_forward");
    how.set_generate_stats(true);
    const auto [out, statistics] = attention.graph().sdpa(q, k, v, how);
    attention.leaves_results(out, Id::Out);
    attention.leaves_log_sum(statistics);
    return std::move(attention).done();
}

std::shared_ptr<Graph> backward_graph(const AttentionShape& shape, Type type, int architecture) {
    Attention attention(shape, type, architecture);
    const Tensor q = attention.of_queries(Id::Q), k = attention.of_keys(Id::K);
    const Tensor v = attention.of_keys(Id::V), out = attention.of_results(Id::Out);
    const Tensor dout = attention.of_results(Id::Dout), log_sum = attention.log_sum();
    auto how = attention.scores<fe::graph::SDPA_backward_attributes>("attention_backward");
    how.set_deterministic_algorithm(true);
    const auto [dq, dk, dv] = attention.graph().sdpa_backward(q, k, v, out, dout, log_sum, how);
    attention.leaves_queries(dq, Id::Dq);
    attention.leaves_keys(dk, Id::Dk);
    attention.leaves_keys(dv, Id::Dv);
    return std::move(attention).done();
}

}  // namespace debubble::exec::cuda::cudnn
