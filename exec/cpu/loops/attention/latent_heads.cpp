#include "exec/cpu/loops/attention/heads.h"

#include <algorithm>

namespace debubble::exec::loops {

void latent_heads_forward(In cosine, In sine, In queries, In keys_values, In shared, Out q, Out k,
                          Out v) {
    const std::int64_t half = cosine.size(), width = q.columns(), own = width - 2 * half;
    assert(keys_values.columns() == own + v.columns() && "a head's own keys, then its values");
    for (std::int64_t head = 0; head < q.rows(); ++head) {
        const float* key = keys_values.row(head);
        std::copy_n(queries.row(head), own, q.row(head));
        std::copy_n(key, own, k.row(head));
        std::copy_n(key + own, v.columns(), v.row(head));
        turn_neighbours(half, cosine.data, sine.data, 1.F, queries.row(head) + own,
                        q.row(head) + own);
    }
    if (k.rows() == 0) return;
    turn_neighbours(half, cosine.data, sine.data, 1.F, shared.data, k.row(0) + own);
    for (std::int64_t head = 1; head < k.rows(); ++head)
        std::copy_n(k.row(0) + own, 2 * half, k.row(head) + own);
}

void latent_heads_backward_input(In cosine, In sine, In dq, In dk, In dv, Out dqueries,
                                 Out dkeys_values, Out dshared) {
    const std::int64_t half = cosine.size(), width = dq.columns(), own = width - 2 * half;
    std::fill_n(dshared.data, 2 * half, 0.F);
    for (std::int64_t head = 0; head < dq.rows(); ++head) {
        float* key = dkeys_values.row(head);
        std::copy_n(dq.row(head), own, dqueries.row(head));
        std::copy_n(dk.row(head), own, key);
        std::copy_n(dv.row(head), dv.columns(), key + own);
        turn_neighbours(half, cosine.data, sine.data, -1.F, dq.row(head) + own,
                        dqueries.row(head) + own);
        for (std::int64_t i = 0; i < 2 * half; ++i) dshared[i] += dk.row(head)[own + i];
    }
    turn_neighbours(half, cosine.data, sine.data, -1.F, dshared.data, dshared.data);
}

}  // namespace debubble::exec::loops
