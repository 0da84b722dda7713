#pragma once

#include <cstdint>

#include "base/check.h"
#include "exec/core/tensor.h"

namespace debubble::exec {

/// Sizes of queries, keys and values that lie side by side in each row of one packed tensor
/// [samples, rows, query + 2 key], and in tensors of their own elsewhere: q [samples, rows, query],
/// k and v [samples, all_rows, key]. The packed rows are those of k and v from `first_row` on.
struct PackedRows {
    std::int64_t samples, rows, all_rows, first_row, query, key;

    PackedRows(const ConstTensorView& q, const ConstTensorView& k, std::int64_t first)
        : samples(q.shape[0]),
          rows(q.shape[1]),
          all_rows(k.shape[1]),
          first_row(first),
          query(q.shape.elements() / (samples * rows)),
          key(k.shape.elements() / (samples * all_rows)) {
        DEBUBBLE_CHECK(k.shape[0] == samples && first + rows <= all_rows, "keys have all rows");
    }
    std::int64_t width() const { return query + 2 * key; }  ///< elements of a packed row
};

}  // namespace debubble::exec
