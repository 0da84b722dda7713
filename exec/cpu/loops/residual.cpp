#include "exec/cpu/loops/elements.h"

#include "exec/cpu/vectorise.h"

namespace debubble::exec::loops {

void residual_forward(In x, In branch, Out y) {
    assert(x.size() == y.size() && branch.size() == y.size() && "x, branch and y have one shape");
    vectorised([=]() DEBUBBLE_INLINE {
        const std::int64_t count = y.size();
        for (std::int64_t i = 0; i < count; ++i) y[i] = x[i] + branch[i];
    });
}

void add(In term, Out total) {
    residual_forward(total, term, total);
}

}  // namespace debubble::exec::loops
