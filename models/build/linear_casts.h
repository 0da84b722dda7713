#pragma once

#include "models/build/graph_builder.h"

/// The casts around one 8-bit or 4-bit GEMM, and which operands are kept and gathered. Private to
/// the folder.
namespace debubble::models {

struct LinearCasts {
    LinearCasts(GraphBuilder& graph_builder, const OperatorPlace& of, const LinearShape& linear,
                int input, std::int64_t rows, bool gathers, bool scatters);

    /// Bytes of a copy of so many elements.
    std::int64_t bytes(std::int64_t elements) const { return narrow_bytes(rule.type, elements); }

    /// Refuses a product whose sizes are not multiples of what the recipe's kernels take.
    void check_widths() const;
    /// Casts x, and keeps the copy that the weight's gradient reads.
    void forward(Operator& op);
    /// Casts the output's gradient and gathers the copies where sequence parallelism scattered it.
    void backward_input(Operator& op, int y_gradient);
    /// The kernels before x is gathered again: the cast of an x that was kept in the compute type.
    void backward_weight_begins(Operator& op, bool keeps_gathered);
    /// The kernels after it: a transpose of the gathered tensor.
    void backward_weight_reads(Operator& op);
    /// The bias's gradient, unless the cast of the output's gradient makes it.
    void backward_bias(Operator& op, int y_gradient) const;

    GraphBuilder& builder;
    const OperatorPlace& place;
    const LinearShape& shape;
    int x = 0;
    std::int64_t tokens = 1;  ///< rows of each product
    bool gathers_x = false;
    bool scatters_y = false;
    LowPrecision how;
    CastRule rule;
    op::NarrowCopies roles;

private:
    struct Pair {
        int rows = 0;
        int columns = 0;
    };
    std::int64_t inputs() const;   ///< elements of x on this rank
    std::int64_t outputs() const;  ///< elements of y on this rank
    /// Adapters read x in the compute type.
    bool keeps_x() const { return !how.keeps_casts || shape.keeps_original || builder.how().lora; }
    /// Adapters read x itself.
    bool keeps_copy() const { return shape.kept_copy && how.keeps_casts && !builder.how().lora; }
    Kernel casts(const std::string& name, std::int64_t elements, int copies) const;
    void find_largest(std::vector<Kernel>& kernels, const std::string& name, std::int64_t elements,
                      bool gathered) const;
    void cast_weight(Operator& op, bool backward);
    Kernel transposes(const char* suffix, std::int64_t elements) const;
};

}  // namespace debubble::models
