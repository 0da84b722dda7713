#include "exec/cpu/fixed_order/gemm.h"

#include <algorithm>
#include <cassert>
#include <memory>

#include "exec/cpu/vectorise.h"

// Goto and van de Geijn 2008, "Anatomy of High-Performance Matrix Multiplication": blocks of
// a and b are packed in the order in which the innermost kernel reads them, sized so that
// a's stays in the second-level cache and a panel of b in the first.

namespace debubble::exec::fixed_order {

namespace {

constexpr std::int64_t kTileRows = 6;
constexpr std::int64_t kVectorsPerRow = 2;
constexpr std::int64_t kMaxTileColumns = 32;  ///< floats in two vectors of 512 bits
constexpr std::int64_t kBlockRows = 16 * kTileRows;
constexpr std::int64_t kBlockColumns = 1024;
constexpr std::int64_t kBlockDepth = 256;

/// T is float. It stays a parameter: without it, GCC 12 loaded rows that are not aligned as if they
/// were.
template <class T, int Bytes>
struct Vector {
    typedef T type __attribute__((vector_size(Bytes), aligned(alignof(T)), may_alias));
    static constexpr std::int64_t kLanes = Bytes / sizeof(T);
};

/// The place of a tile of c, and whether it starts from zero or from the content.
template <class T>
struct TileOut {
    T* data;
    std::int64_t row_stride;
    bool fresh;
};

/// c [6, 2 vectors] = or += a b over `depth`, with c in registers. Packed: a [depth, 6],
/// b [depth, 2 vectors].
template <class T, int Bytes>
DEBUBBLE_INLINE inline void tile(std::int64_t depth, const T* a, const T* b, const TileOut<T>& c) {
    using V = typename Vector<T, Bytes>::type;
    constexpr std::int64_t kLanes = Vector<T, Bytes>::kLanes;
    const auto at = [&](int i, int v) DEBUBBLE_INLINE {
        return reinterpret_cast<V*>(c.data + i * c.row_stride + v * kLanes);
    };
    V sum[kTileRows][kVectorsPerRow];
    for (int i = 0; i < kTileRows; ++i) {
        for (int v = 0; v < kVectorsPerRow; ++v) sum[i][v] = c.fresh ? V{} : *at(i, v);
    }
    for (std::int64_t p = 0; p < depth; ++p, a += kTileRows, b += kVectorsPerRow * kLanes) {
        for (int i = 0; i < kTileRows; ++i) {
            for (int v = 0; v < kVectorsPerRow; ++v) {
                sum[i][v] += a[i] * *reinterpret_cast<const V*>(b + v * kLanes);
            }
        }
    }
    for (int i = 0; i < kTileRows; ++i) {
        for (int v = 0; v < kVectorsPerRow; ++v) *at(i, v) = sum[i][v];
    }
}

/// The tile for one vector unit; its columns are two of its vectors.
template <class T>
struct TileKernel {
    void (*run)(std::int64_t depth, const T* a, const T* b, const TileOut<T>& c);
    std::int64_t columns;
};

template <class T>
void tile_baseline(std::int64_t depth, const T* a, const T* b, const TileOut<T>& c) {
    tile<T, 16>(depth, a, b, c);
}
#if defined(__x86_64__)
template <class T>
__attribute__((target("avx512f,fma"))) void tile_avx512(std::int64_t depth, const T* a, const T* b,
                                                        const TileOut<T>& c) {
    tile<T, 64>(depth, a, b, c);
}
template <class T>
__attribute__((target("avx2,fma"))) void tile_avx2(std::int64_t depth, const T* a, const T* b,
                                                   const TileOut<T>& c) {
    tile<T, 32>(depth, a, b, c);
}
#endif

template <class T>
TileKernel<T> tile_kernel() {
    constexpr std::int64_t kElement = sizeof(T);
#if defined(__x86_64__)
    if (vector_unit() == VectorUnit::Avx512) return {tile_avx512<T>, 128 / kElement};
    if (vector_unit() == VectorUnit::Avx2) return {tile_avx2<T>, 64 / kElement};
#endif
    return {tile_baseline<T>, 32 / kElement};
}

std::int64_t round_up(std::int64_t size, std::int64_t multiple) {
    return (size + multiple - 1) / multiple * multiple;
}

/// Copies `from`, [width, depth] with any strides, into panels of `panel` rows, each [depth,
/// panel]; the last one is padded with zeros.
template <class T>
void pack(const Matrix<const T>& from, std::int64_t width, std::int64_t depth, std::int64_t panel,
          T* to) {
    for (std::int64_t first = 0; first < width; first += panel, to += panel * depth) {
        const std::int64_t used = std::min(panel, width - first);
        const T* source = from.data + first * from.row_stride;
        if (used < panel) std::fill_n(to, panel * depth, T{});
        if (from.row_stride == 1) {
            for (std::int64_t p = 0; p < depth; ++p) {
                std::copy_n(source + p * from.column_stride, used, to + p * panel);
            }
            continue;
        }
        for (std::int64_t i = 0; i < used; ++i) {
            const T* row = source + i * from.row_stride;
            for (std::int64_t p = 0; p < depth; ++p)
                to[p * panel + i] = row[p * from.column_stride];
        }
    }
}

/// One GEMM with its packed blocks.
template <class T>
struct Product {
    ProductSizes sizes;
    Matrix<const T> a;
    Matrix<const T> b;
    Matrix<T> c;
    Write write;
    TileKernel<T> kernel = tile_kernel<T>();
    std::unique_ptr<T[]> packed_a;
    std::unique_ptr<T[]> packed_b;

    void run() {
        const std::int64_t depth = std::min(sizes.k, kBlockDepth);
        const std::int64_t rows = std::min(sizes.m, kBlockRows);
        const std::int64_t columns = std::min(sizes.n, kBlockColumns);
        packed_a = std::make_unique_for_overwrite<T[]>(depth * round_up(rows, kTileRows));
        packed_b = std::make_unique_for_overwrite<T[]>(depth * round_up(columns, kernel.columns));
        for (std::int64_t j = 0; j < sizes.n; j += kBlockColumns) {
            for (std::int64_t p = 0; p < sizes.k; p += kBlockDepth) panel_of_b(j, p);
        }
    }

    void panel_of_b(std::int64_t j, std::int64_t p) {
        const std::int64_t columns = std::min(kBlockColumns, sizes.n - j);
        const std::int64_t depth = std::min(kBlockDepth, sizes.k - p);
        const T* b_corner = b.data + p * b.row_stride + j * b.column_stride;
        pack<T>({b_corner, b.column_stride, b.row_stride}, columns, depth, kernel.columns,
                packed_b.get());
        const bool first = p == 0 && write == Write::Overwrite;
        for (std::int64_t i = 0; i < sizes.m; i += kBlockRows) {
            const std::int64_t rows = std::min(kBlockRows, sizes.m - i);
            const T* a_corner = a.data + i * a.row_stride + p * a.column_stride;
            pack<T>({a_corner, a.row_stride, a.column_stride}, rows, depth, kTileRows,
                    packed_a.get());
            block({rows, columns, depth}, c.data + i * c.row_stride + j, first);
        }
    }

    void block(const ProductSizes& size, T* corner, bool first) {
        for (std::int64_t j = 0; j < size.n; j += kernel.columns) {
            const T* panel = packed_b.get() + j * size.k;
            const std::int64_t columns = std::min(kernel.columns, size.n - j);
            for (std::int64_t i = 0; i < size.m; i += kTileRows) {
                const T* strip = packed_a.get() + i * size.k;
                const std::int64_t rows = std::min(kTileRows, size.m - i);
                const TileOut<T> out{corner + i * c.row_stride + j, c.row_stride, first};
                if (rows == kTileRows && columns == kernel.columns) {
                    kernel.run(size.k, strip, panel, out);
                } else {
                    edge(size.k, strip, panel, out, rows, columns);
                }
            }
        }
    }

    /// A tile that reaches beyond the end of c is computed in a whole tile of its own.
    void edge(std::int64_t depth, const T* strip, const T* panel, const TileOut<T>& out,
              std::int64_t rows, std::int64_t columns) {
        alignas(64) T whole[kTileRows * kMaxTileColumns] = {};
        for (std::int64_t r = 0; r < rows && !out.fresh; ++r) {
            std::copy_n(out.data + r * out.row_stride, columns, whole + r * kernel.columns);
        }
        kernel.run(depth, strip, panel, {whole, kernel.columns, false});
        for (std::int64_t r = 0; r < rows; ++r) {
            std::copy_n(whole + r * kernel.columns, columns, out.data + r * out.row_stride);
        }
    }
};

}  // namespace

template <class T>
void multiply(const ProductSizes& sizes, const Matrix<const std::type_identity_t<T>>& a,
              const Matrix<const std::type_identity_t<T>>& b, const Matrix<T>& c, Write write) {
    assert(c.column_stride == 1 && "the GEMM writes whole rows");
    if (sizes.m == 0 || sizes.n == 0) return;
    if (sizes.k == 0) {
        for (std::int64_t i = 0; i < sizes.m && write == Write::Overwrite; ++i) {
            std::fill_n(c.data + i * c.row_stride, sizes.n, T{});
        }
        return;
    }
    Product<T>{sizes, a, b, c, write, tile_kernel<T>(), {}, {}}.run();
}

template void multiply(const ProductSizes&, const Matrix<const float>&, const Matrix<const float>&,
                       const Matrix<float>&, Write);

}  // namespace debubble::exec::fixed_order
