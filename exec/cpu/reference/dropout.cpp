#include "exec/cpu/reference/dropout.h"

namespace debubble::exec::reference {

template <Real T>
void drop_run(const Dropout& dropout, std::uint64_t element, std::int64_t count, const T* from,
              T* to) {
    const std::uint32_t threshold = dropout.threshold();
    const auto scale = static_cast<T>(dropout.scale());
    PhiloxCounter words = dropout.stream.block(element / 4);
    for (std::int64_t i = 0; i < count; ++i, ++element) {
        if (i > 0 && element % 4 == 0) words = dropout.stream.block(element / 4);
        to[i] = words[element % 4] < threshold ? T{0} : from[i] * scale;
    }
}

template <Real T>
void dropout_forward(const Dropout& dropout, const Window& window, In<T> x, Out<T> y) {
    assert(x.shape.rank() == 3 && x.size() == y.size() && "x, y [samples, rows, columns]");
    assert(dropout.probability >= 0 && dropout.probability < 1 && "not everything is dropped");
    for (std::int64_t sample = 0; sample < x.shape[0]; ++sample) {
        for (std::int64_t row = 0; row < x.shape[1]; ++row) {
            const std::int64_t line = sample * x.shape[1] + row;
            drop_run(dropout, window.element(sample, row, 0), x.columns(), x.row(line),
                     y.data + line * x.columns());
        }
    }
}

template <Real T>
void dropout_backward_input(const Dropout& dropout, const Window& window, In<T> dy, Out<T> dx) {
    dropout_forward(dropout, window, dy, dx);  // linear, and its own transpose
}

#define INSTANTIATE(T)                                                                    \
    template void drop_run<T>(const Dropout&, std::uint64_t, std::int64_t, const T*, T*); \
    template void dropout_forward<T>(const Dropout&, const Window&, In<T>, Out<T>);       \
    template void dropout_backward_input<T>(const Dropout&, const Window&, In<T>, Out<T>);
INSTANTIATE(float)
INSTANTIATE(double)
#undef INSTANTIATE

}  // namespace debubble::exec::reference
