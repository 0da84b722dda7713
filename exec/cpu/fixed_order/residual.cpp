#include "exec/cpu/fixed_order/residual.h"

#include "exec/cpu/fixed_order/vectorise.h"

namespace debubble::exec::fixed_order {

template <Real T>
void residual_forward(In<T> x, In<T> branch, Out<T> y) {
    assert(x.size() == y.size() && branch.size() == y.size() && "x, branch and y are alike");
    vectorised([=]() DEBUBBLE_INLINE {
        const std::int64_t count = y.size();
        for (std::int64_t i = 0; i < count; ++i) y[i] = x[i] + branch[i];
    });
}

template <Real T>
void add(In<T> term, Out<T> total) {
    residual_forward<T>(total, term, total);
}

template void residual_forward<float>(In<float>, In<float>, Out<float>);
template void residual_forward<double>(In<double>, In<double>, Out<double>);
template void add<float>(In<float>, Out<float>);
template void add<double>(In<double>, Out<double>);

}  // namespace debubble::exec::fixed_order
