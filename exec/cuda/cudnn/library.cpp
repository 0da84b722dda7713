#include <cuda_runtime.h>

#include <map>
#include <string>
#include <tuple>
#include <unordered_map>
#include <utility>

#include "base/diagnostic.h"
#include "exec/cuda/attention_library.h"
#include "exec/cuda/cudnn/graphs.h"

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

/// One pass over one shape, made when it is first asked for.
struct Pass {
    std::shared_ptr<Graph> graph;  ///< nullptr: cuDNN has no kernel for it
    std::int64_t workspace = 0;
};

using Key = std::tuple<bool, Type, std::int64_t, std::int64_t, std::int64_t, std::int64_t,
                       std::int64_t, bool, float>;
Key key_of(bool backward, const AttentionShape& s, Type type) {
    return {backward,   type,       s.samples, s.queries, s.heads,
            s.kv_heads, s.head_dim, s.causal,  s.scale};
}

class Cudnn final : public AttentionLibrary {
public:
    Cudnn() { check(cudnnCreate(&handle_), "cuDNN"); }
    ~Cudnn() override {
        passes_.clear();
        cudaFree(workspace_);
        cudnnDestroy(handle_);
    }
    Cudnn(const Cudnn&) = delete;
    Cudnn& operator=(const Cudnn&) = delete;

    bool forward(Stream stream, const AttentionShape& shape, Operand q, Operand k, Operand v,
                 Result out, float* log_sum) override {
        if (!is_for_library(shape, q.type)) return false;
        return run(pass_of(false, shape, q.type), stream,
                   {at(Id::Q, q.data), at(Id::K, k.data), at(Id::V, v.data), at(Id::Out, out.data),
                    at(Id::LogSum, log_sum)});
    }
    bool backward(Stream stream, const AttentionShape& shape, Operand dout, Operand q, Operand k,
                  Operand v, Operand out, const float* log_sum, Result dq, Result dk,
                  Result dv) override {
        if (!is_for_library(shape, q.type) || shape.adds_keys || dk.type != q.type) return false;
        return run(pass_of(true, shape, q.type), stream,
                   {at(Id::Q, q.data), at(Id::K, k.data), at(Id::V, v.data), at(Id::Out, out.data),
                    at(Id::LogSum, log_sum), at(Id::Dout, dout.data), at(Id::Dq, dq.data),
                    at(Id::Dk, dk.data), at(Id::Dv, dv.data)});
    }

private:
    /// The front end answers with errors, and throws some of cuDNN's own.
    const Pass& pass_of(bool backward, const AttentionShape& shape, Type type) {
        const auto [found, is_new] = passes_.try_emplace(key_of(backward, shape, type));
        Pass& pass = found->second;
        if (!is_new) return pass;
        try {
            const std::shared_ptr<Graph> graph =
                backward ? backward_graph(shape, type) : forward_graph(shape, type);
            if (graph->build(handle_, {cudnn_frontend::HeurMode_t::A}).is_bad()) return pass;
            pass.workspace = graph->get_workspace_size();
            pass.graph = graph;
        } catch (const std::exception&) {
            return pass;
        }
        make_room(pass.workspace);
        return pass;
    }

    /// Kernels that were asked for before may still use the smaller one.
    void make_room(std::int64_t size) {
        if (size <= room_) return;
        if (cudaDeviceSynchronize() != cudaSuccess || cudaFree(workspace_) != cudaSuccess ||
            cudaMalloc(&workspace_, static_cast<std::size_t>(size)) != cudaSuccess)
            throw WorldError(std::string("memory for cuDNN: ") +
                             cudaGetErrorString(cudaGetLastError()));
        room_ = size;
    }

    bool run(const Pass& pass, Stream stream, Places places) {
        if (!pass.graph) return false;
        check(cudnnSetStream(handle_, stream), "cuDNN");
        auto status = pass.graph->execute(handle_, places, workspace_);
        if (status.is_bad()) throw WorldError("attention of cuDNN: " + status.get_message());
        return true;
    }

    cudnnHandle_t handle_ = nullptr;
    std::map<Key, Pass> passes_;
    void* workspace_ = nullptr;
    std::int64_t room_ = 0;
};

}  // namespace
}  // namespace debubble::exec::cuda::cudnn

/// What exec/cuda/cuda_device.cpp asks for; on the thread that uses it. Throws WorldError.
extern "C" debubble::exec::cuda::AttentionLibrary* debubble_cudnn_attention() {
    return new debubble::exec::cuda::cudnn::Cudnn;
}
