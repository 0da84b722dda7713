#include "exec/cuda/cuda_kernels.h"
#include "exec/cuda/kernels/layers.h"
#include "exec/cuda/operators/views.h"

namespace debubble::exec::cuda {

namespace {

Curve curve_of(Nonlinearity kind) {
    switch (kind) {
        case Nonlinearity::Gelu: return Curve::Gelu;
        case Nonlinearity::GeluTanh: return Curve::GeluTanh;
        case Nonlinearity::Relu: return Curve::Relu;
        case Nonlinearity::SquaredRelu: return Curve::SquaredRelu;
    }
    return Curve::Relu;
}

Curve curve_of(Gate kind) {
    switch (kind) {
        case Gate::Silu: return Curve::Silu;
        case Gate::Gelu: return Curve::Gelu;
        case Gate::GeluTanh: return Curve::GeluTanh;
        case Gate::ClampedSilu: return Curve::ClampedSilu;
    }
    return Curve::Silu;
}

}  // namespace

void CudaKernels::activation_forward(Nonlinearity kind, ConstTensorView x, TensorView y) {
    cuda::activation_forward(queue_.stream(), curve_of(kind), y.shape.elements(), in(x), out(y));
}

void CudaKernels::activation_backward_input(Nonlinearity kind, ConstTensorView dy,
                                            ConstTensorView x, TensorView dx) {
    cuda::activation_backward_input(queue_.stream(), curve_of(kind), dx.shape.elements(), in(dy),
                                    in(x), out(dx));
}

void CudaKernels::gated_forward(Gate kind, ConstTensorView gate_up, TensorView y) {
    cuda::gated_forward(queue_.stream(), curve_of(kind), rows_of(y), y.shape.columns(), in(gate_up),
                        out(y));
}

void CudaKernels::gated_backward_input(Gate kind, ConstTensorView dy, ConstTensorView gate_up,
                                       TensorView dgate_up) {
    cuda::gated_backward_input(queue_.stream(), curve_of(kind), rows_of(dy), dy.shape.columns(),
                               in(dy), in(gate_up), out(dgate_up));
}

void CudaKernels::output_gate_forward(ConstTensorView x, ConstTensorView gate, TensorView y) {
    cuda::output_gate_forward(queue_.stream(), y.shape.elements(), in(x), in(gate), out(y));
}

void CudaKernels::output_gate_backward_input(ConstTensorView dy, ConstTensorView x,
                                             ConstTensorView gate, TensorView dx,
                                             TensorView dgate) {
    output_gate_backward(queue_.stream(), dx.shape.elements(), in(dy), in(x), in(gate), out(dx),
                         out(dgate));
}

void CudaKernels::soft_cap_forward(double cap, ConstTensorView x, TensorView y) {
    cuda::soft_cap_forward(queue_.stream(), static_cast<float>(cap), y.shape.elements(), in(x),
                           out(y));
}

void CudaKernels::soft_cap_backward_input(double cap, ConstTensorView dy, ConstTensorView x,
                                          TensorView dx) {
    soft_cap_backward(queue_.stream(), static_cast<float>(cap), dx.shape.elements(), in(dy), in(x),
                      out(dx));
}

void CudaKernels::residual_forward(ConstTensorView x, ConstTensorView branch, TensorView y) {
    sum(queue_.stream(), y.shape.elements(), in(x), in(branch), out(y));
}

void CudaKernels::add(ConstTensorView term, TensorView total) {
    sum(queue_.stream(), total.shape.elements(), in(total), in(term), out(total));
}

void CudaKernels::dropout(const Dropout& dropout, const Window& window, ConstTensorView x,
                          TensorView y) {
    assert(x.shape.rank() == 3 && "x, y [samples, rows, columns]");
    const DropoutNumbers how{dropout.stream.seed, dropout.stream.id,
                             dropout.threshold(), static_cast<float>(dropout.scale()),
                             x.shape[1],          x.shape[2],
                             window.all_rows,     window.all_columns,
                             window.first_sample, window.first_row,
                             window.first_column};
    cuda::dropout(queue_.stream(), x.shape.elements(), how, in(x), out(y));
}

void CudaKernels::scale(double factor, TensorView x) {
    cuda::scale(queue_.stream(), x.shape.elements(), static_cast<float>(factor), out(x));
}

void CudaKernels::join_columns(int parts, ConstTensorView gathered, TensorView x) {
    const std::int64_t rows = rows_of(x), columns = x.shape.columns() / parts;
    copy_rows(queue_.stream(), {parts, rows, columns}, in(gathered), {rows * columns, columns},
              out(x), {columns, x.shape.columns()});
}

void CudaKernels::take_columns(int part, int parts, ConstTensorView x, TensorView y) {
    const std::int64_t columns = x.shape.columns() / parts;
    copy_rows(queue_.stream(), {1, rows_of(x), columns}, in(x),
              {0, x.shape.columns(), part * columns}, out(y), {0, columns});
}

void CudaKernels::copy_blocks(const Blocks& blocks, ConstTensorView from, TensorView to) {
    assert(from.type == to.type && "blocks keep their type");
    copy_rows(queue_.stream(), {blocks.count, blocks.rows, blocks.width}, in(from),
              {blocks.from_stride, blocks.width}, out(to), {blocks.to_stride, blocks.width});
}

void CudaKernels::fill_zero(TensorView x) {
    if (x) queue_.fill_zero(x.data, x.bytes());
}

void CudaKernels::copy(ConstTensorView from, TensorView to) {
    assert(from.shape.elements() == to.shape.elements() && "a copy has the elements");
    if (from.type == to.type) return queue_.copy(from.data, to.data, to.bytes());
    convert(queue_.stream(), to.shape.elements(), in(from), out(to));
}

void CudaKernels::upload(ConstTensorView host, TensorView device) {
    assert(host.shape.elements() == device.shape.elements() && "a copy has the elements");
    if (host.type == device.type) return ring_.upload(host.data, device.data, device.bytes());
    void* const there = scratch_.bytes(host.bytes());
    ring_.upload(host.data, there, host.bytes());
    convert(queue_.stream(), device.shape.elements(), {there, type_of(host.type)}, out(device));
}

void CudaKernels::download(ConstTensorView device, TensorView host) {
    assert(host.type == device.type && host.bytes() == device.bytes() && "the host has its like");
    queue_.finish();  // a copy to pageable memory waits by itself, and without a deadline
    queue_.copy(device.data, host.data, host.bytes());
    queue_.finish();
}

}  // namespace debubble::exec::cuda
