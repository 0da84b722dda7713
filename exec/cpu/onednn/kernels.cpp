#include "exec/cpu/cpu_kernels.h"
#include "exec/cpu/fp32_operands.h"
#include "exec/cpu/loops/elements.h"
#include "exec/cpu/onednn/attention.h"
#include "exec/cpu/onednn/matmul.h"
#include "exec/cpu/operators/cpu_operators.h"

namespace debubble::exec {

namespace {

using onednn::Operand;

constexpr std::int64_t kElementsAtOnce = 4096;  ///< 16 kB of each operand

/// The weight seen as [inputs, outputs], however it is stored.
Operand inputs_by_outputs(WeightLayout layout, const ConstTensorView& weight, std::int64_t inputs,
                          std::int64_t outputs) {
    assert(weight.shape.elements() == inputs * outputs && "the weight joins all to all");
    const Operand stored{weight.data, weight.type, outputs, 1};
    if (layout == WeightLayout::InputsOutputs) return stored;
    return Operand{weight.data, weight.type, inputs, 1}.transposed();
}

bool multiplied(const ConstTensorView& a, const ConstTensorView& b, const ConstTensorView& c) {
    return a.type == b.type && onednn::multiplies(a.type) &&
           (c.type == a.type || c.type == DataType::Fp32);
}

class OneDnnKernels final : public CpuOperators {
public:
    explicit OneDnnKernels(int threads)
        : CpuOperators(RowWalk(threads, kElementsAtOnce)), matmul_(threads), attention_(threads) {}
    std::string_view name() const override { return name_of(CpuBackEnd::OneDnn); }

    void linear_forward(WeightLayout layout, ConstTensorView x, ConstTensorView weight,
                        ConstTensorView bias, TensorView y) override {
        if (!multiplied(x, weight, y) || (bias && bias.type != x.type)) {
            Fp32Operands use(scratch_);
            return forward(layout, view(use.in(x)), view(use.in(weight)), view(use.in(bias)),
                           view(use.out(y)));
        }
        forward(layout, x, weight, bias, y);
    }

    void linear_backward_input(WeightLayout layout, ConstTensorView dy, ConstTensorView weight,
                               TensorView dx, Write write) override {
        if (!multiplied(dy, weight, dx)) {
            Fp32Operands use(scratch_);
            return backward_input(layout, view(use.in(dy)), view(use.in(weight)),
                                  view(use.out(dx, write)), write);
        }
        backward_input(layout, dy, weight, dx, write);
    }

    void linear_backward_weight(WeightLayout layout, ConstTensorView x, ConstTensorView dy,
                                TensorView dweight, TensorView dbias) override {
        if (multiplied(x, dy, dweight)) {
            backward_weight(layout, x, dy, dweight);
        } else {
            Fp32Operands use(scratch_);
            backward_weight(layout, view(use.in(x)), view(use.in(dy)), view(use.changed(dweight)));
        }
        if (!dbias) return;
        Fp32Operands whole(scratch_);
        const View<float> sum = whole.changed(dbias);
        walk_.in_order(rows_of(dy), dy.shape.columns(), [&](Fp32Operands& use, Rows rows) {
            loops::add_rows(use.in(rows.of(dy)), sum);
        });
    }

    void experts_forward(std::span<const std::int64_t> first_rows, ConstTensorView x,
                         ConstTensorView weights, TensorView y) override {
        const ManyRows any(rows_vary_);
        Kernels::experts_forward(first_rows, x, weights, y);
    }

    void experts_backward_input(std::span<const std::int64_t> first_rows, ConstTensorView dy,
                                ConstTensorView weights, TensorView dx) override {
        const ManyRows any(rows_vary_);
        Kernels::experts_backward_input(first_rows, dy, weights, dx);
    }

    void experts_backward_weight(std::span<const std::int64_t> first_rows, ConstTensorView x,
                                 ConstTensorView dy, TensorView dweights) override {
        const ManyRows any(rows_vary_);
        Kernels::experts_backward_weight(first_rows, x, dy, dweights);
    }

    void attention_forward(const Attention& attention, ConstTensorView q, ConstTensorView k,
                           ConstTensorView v, TensorView out, TensorView log_sum) override {
        if (onednn::multiplies(q.type)) {
            return attention_.forward(attention, q, k, v, out, log_sum.as<float>());
        }
        Fp32Operands use(scratch_);
        const auto heads = heads_in(use, attention, q, k, v);
        attention_.forward(attention, view(heads.q), view(heads.k), view(heads.v),
                           view(use.out(out)), log_sum.as<float>());
    }

    void attention_backward_input(const Attention& attention, ConstTensorView dout,
                                  ConstTensorView q, ConstTensorView k, ConstTensorView v,
                                  ConstTensorView out, ConstTensorView log_sum, TensorView dq,
                                  TensorView dk, TensorView dv) override {
        if (onednn::multiplies(q.type)) {
            return attention_.backward(attention, dout, q, k, v, out, log_sum.as<float>(), dq, dk,
                                       dv);
        }
        Fp32Operands use(scratch_);
        const auto heads = heads_in(use, attention, q, k, v);
        const auto gradients = heads_out(use, attention, dq, dk, dv);
        attention_.backward(attention, view(use.in(dout)), view(heads.q), view(heads.k),
                            view(heads.v), view(use.in(out)), log_sum.as<float>(),
                            view(gradients.q), view(gradients.k), view(gradients.v));
    }

private:
    /// While it lives, GEMMs have a different number of rows in each call.
    class ManyRows {
    public:
        explicit ManyRows(bool& vary) : vary_(vary) { vary_ = true; }
        ManyRows(const ManyRows&) = delete;
        ManyRows& operator=(const ManyRows&) = delete;
        ~ManyRows() { vary_ = false; }

    private:
        bool& vary_;
    };
    onednn::Varies varies(onednn::Varies which) const {
        return rows_vary_ ? which : onednn::Varies::Nothing;
    }

    static ConstTensorView view(View<const float> x) {
        return {reinterpret_cast<const std::byte*>(x.data), x.shape, DataType::Fp32};
    }
    static TensorView view(View<float> x) {
        return {reinterpret_cast<std::byte*>(x.data), x.shape, DataType::Fp32};
    }

    void forward(WeightLayout layout, const ConstTensorView& x, const ConstTensorView& weight,
                 const ConstTensorView& bias, const TensorView& y) {
        const std::int64_t inputs = x.shape.columns(), outputs = y.shape.columns();
        matmul_({rows_of(x),
                 outputs,
                 inputs,
                 Operand::of(x),
                 inputs_by_outputs(layout, weight, inputs, outputs),
                 {y.data, y.type, outputs},
                 Write::Overwrite,
                 bias,
                 varies(onednn::Varies::M)});
    }

    void backward_input(WeightLayout layout, const ConstTensorView& dy,
                        const ConstTensorView& weight, const TensorView& dx, Write write) {
        const std::int64_t inputs = dx.shape.columns(), outputs = dy.shape.columns();
        matmul_({rows_of(dy),
                 inputs,
                 outputs,
                 Operand::of(dy),
                 inputs_by_outputs(layout, weight, inputs, outputs).transposed(),
                 {dx.data, dx.type, inputs},
                 write,
                 {},
                 varies(onednn::Varies::M)});
    }

    void backward_weight(WeightLayout layout, const ConstTensorView& x, const ConstTensorView& dy,
                         const TensorView& dweight) {
        const std::int64_t inputs = x.shape.columns(), outputs = dy.shape.columns();
        assert(dweight.shape.elements() == inputs * outputs && "the weight joins all to all");
        if (layout == WeightLayout::InputsOutputs) {
            matmul_({inputs,
                     outputs,
                     rows_of(x),
                     Operand::of(x).transposed(),
                     Operand::of(dy),
                     {dweight.data, dweight.type, outputs},
                     Write::Add,
                     {},
                     varies(onednn::Varies::K)});
        } else {
            matmul_({outputs,
                     inputs,
                     rows_of(x),
                     Operand::of(dy).transposed(),
                     Operand::of(x),
                     {dweight.data, dweight.type, inputs},
                     Write::Add,
                     {},
                     varies(onednn::Varies::K)});
        }
    }

    bool rows_vary_ = false;
    onednn::Matmul matmul_;
    onednn::BlockedAttention attention_;
};

}  // namespace

std::unique_ptr<Kernels> make_onednn_kernels(int threads) {
    return std::make_unique<OneDnnKernels>(threads);
}

}  // namespace debubble::exec
