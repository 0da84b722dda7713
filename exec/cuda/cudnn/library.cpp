#include <cuda_runtime.h>

#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>
#include <vector>

#include "base/diagnostic.h"
#include "exec/cuda/cuda_kernels.h"
#include "exec/cuda/cudnn/graphs.h"
#include "exec/cuda/driver.h"

namespace debubble::exec::cuda::cudnn {

namespace {

void check(cudnnStatus_t status, const char* what) {
    if (status != CUDNN_STATUS_SUCCESS)
        throw WorldError(std::string(what) + ": " + cudnnGetErrorString(status));
}

using Places = std::unordered_map<std::int64_t, void*>;
std::pair<const std::int64_t, void*> at(Id id, const void* data) {
    return {static_cast<std::int64_t>(id), const_cast<void*>(data)};  // the front end's type
}

using Key = std::tuple<bool, Type, std::int64_t, std::int64_t, std::int64_t, std::int64_t,
                       std::int64_t, std::int64_t, bool, float>;
Key key_of(bool backward, const AttentionShape& s, Type type) {
    return {backward,   type,       s.samples,      s.queries, s.heads,
            s.kv_heads, s.head_dim, s.query_stride, s.causal,  s.scale};
}

class Cudnn final : public AttentionLibrary {
public:
    Cudnn() { check(cudnnCreate(&handle_), "cuDNN"); }
    ~Cudnn() override {
        graphs_.clear();
        for (void* memory : workspaces_) cudaFree(memory);
        cudnnDestroy(handle_);
    }
    Cudnn(const Cudnn&) = delete;
    Cudnn& operator=(const Cudnn&) = delete;

    bool forward(Stream stream, const AttentionShape& shape, Operand q, Operand k, Operand v,
                 Result out, float* log_sum) override {
        if (!is_for_library(shape, q.type)) return false;
        return run(graph_of(false, shape, q.type), stream,
                   {at(Id::Q, q.data), at(Id::K, k.data), at(Id::V, v.data), at(Id::Out, out.data),
                    at(Id::LogSum, log_sum)});
    }
    bool backward(Stream stream, const AttentionShape& shape, Operand dout, Operand q, Operand k,
                  Operand v, Operand out, const float* log_sum, Result dq, Result dk,
                  Result dv) override {
        if (!is_for_library(shape, q.type) || shape.adds_keys || dk.type != q.type) return false;
        return run(graph_of(true, shape, q.type), stream,
                   {at(Id::Q, q.data), at(Id::K, k.data), at(Id::V, v.data), at(Id::Out, out.data),
                    at(Id::LogSum, log_sum), at(Id::Dout, dout.data), at(Id::Dq, dq.data),
                    at(Id::Dk, dk.data), at(Id::Dv, dv.data)});
    }

private:
    /// The graph of a shape, built at its first use. Throws WorldError where cuDNN, which
    /// the user chose, has no kernel.
    Graph& graph_of(bool backward, const AttentionShape& shape, Type type) {
        std::shared_ptr<Graph>& kept = graphs_[key_of(backward, shape, type)];
        if (kept) return *kept;
        const auto graph = backward ? backward_graph(shape, type) : forward_graph(shape, type);
        std::string why;
        try {
            auto status = graph->build(handle_, {cudnn_frontend::HeurMode_t::A});
            if (status.is_bad()) why = "attention of cuDNN: " + status.get_message();
        } catch (const std::exception& error) {  // an error that cuDNN throws itself
            why = std::string("attention of cuDNN: ") + error.what();
        }
        if (!why.empty()) throw WorldError(why);
        make_room(graph->get_workspace_size());
        kept = graph;
        return *kept;
    }

    /// A workspace that is too small is kept: kernels may still use it, and freeing it would wait
    /// for all work of the GPU.
    void make_room(std::int64_t size) {
        if (size <= room_) return;
        void* memory = nullptr;
        const cudaError_t status = cudaMalloc(&memory, static_cast<std::size_t>(size));
        if (status != cudaSuccess)
            throw WorldError(std::string("memory for cuDNN: ") + error_text(status));
        workspaces_.push_back(memory);
        room_ = size;
    }

    bool run(Graph& graph, Stream stream, Places places) {
        check(cudnnSetStream(handle_, stream), "cuDNN");
        auto status =
            graph.execute(handle_, places, workspaces_.empty() ? nullptr : workspaces_.back());
        if (status.is_bad()) throw WorldError("attention of cuDNN: " + status.get_message());
        return true;
    }

    cudnnHandle_t handle_ = nullptr;
    std::map<Key, std::shared_ptr<Graph>> graphs_;
    std::vector<void*> workspaces_;  ///< the last one is used
    std::int64_t room_ = 0;          ///< size of the last one
};

}  // namespace
}  // namespace debubble::exec::cuda::cudnn

/// The function that exec/cuda/cuda_device.cpp looks for; called on the thread that uses the
/// library. Throws WorldError.
extern "C" debubble::exec::cuda::AttentionLibrary* debubble_cudnn_attention() {
    return new debubble::exec::cuda::cudnn::Cudnn;
}
