#include <algorithm>
#include <array>
#include <charconv>
#include <cstdint>
#include <limits>

#include "exec/program/calibrate/operator_shapes.h"

namespace debubble::exec {
namespace {

using Json = nlohmann::ordered_json;
using profile::OperatorInput;
using profile::OperatorRuns;

enum class ProductForm { Plain, Summed, Linear, Scaled, Recipes, Grouped, ScaledGrouped };

struct ProductOperator {
    std::string_view name;
    ProductForm form{};
};

constexpr ProductOperator kProducts[] = {
    {"aten::mm", ProductForm::Plain},
    {"aten::bmm", ProductForm::Plain},
    {"aten::addmm", ProductForm::Summed},
    {"aten::addmm_", ProductForm::Summed},
    {"aten::_addmm_activation", ProductForm::Summed},
    {"aten::baddbmm", ProductForm::Summed},
    {"aten::baddbmm_", ProductForm::Summed},
    {"aten::linear", ProductForm::Linear},
    {"aten::_scaled_mm", ProductForm::Scaled},
    {"aten::_scaled_mm_v2", ProductForm::Recipes},
    {"aten::_grouped_mm", ProductForm::Grouped},
    {"aten::_scaled_grouped_mm", ProductForm::ScaledGrouped},
};

const ProductOperator* product_operator(std::string_view name) {
    const auto* const found = std::ranges::find(kProducts, name, &ProductOperator::name);
    return found == std::end(kProducts) ? nullptr : found;
}

/// Missing arguments are empty.
class Arguments {
public:
    explicit Arguments(const std::vector<OperatorInput>& inputs) : inputs_(inputs) {}

    const OperatorInput& operator[](std::size_t at) const {
        static const OperatorInput kMissing;
        return at < inputs_.size() ? inputs_[at] : kMissing;
    }
    std::size_t size() const { return inputs_.size(); }

private:
    const std::vector<OperatorInput>& inputs_;
};

OperatorShape product_missing(std::string why) {
    return {std::nullopt, std::move(why)};
}

std::string scalar_type(const std::string& code) {  // c10::ScalarType
    return code == "6" ? "fp32" : code == "5" ? "fp16" : code == "15" ? "bf16" : "";
}

enum class Stored { AsIs, Transposed, Unknown };

/// How the last two dimensions lie in memory.
Stored stored(const OperatorInput& matrix) {
    const std::size_t rank = matrix.dims.size();
    if (rank < 2 || !matrix.strides || matrix.strides->size() != rank) return Stored::Unknown;
    const std::int64_t across = (*matrix.strides)[rank - 1];
    const std::int64_t down = (*matrix.strides)[rank - 2];
    if (across == 1 && down >= matrix.dims[rank - 1]) return Stored::AsIs;
    if (down == 1 && across >= matrix.dims[rank - 2]) return Stored::Transposed;
    return across == 1 ? Stored::AsIs : Stored::Unknown;
}

/// The layout in the words of the tables, which are those of a library that counts by columns: its
/// first factor is the second one here.
std::optional<std::string> layout(const OperatorInput& a, const OperatorInput& b) {
    const Stored first = stored(a);
    const Stored second = stored(b);
    if (first == Stored::Unknown || second == Stored::Unknown) return std::nullopt;
    if (first == Stored::AsIs) return second == Stored::Transposed ? "TN" : "NN";
    return second == Stored::Transposed ? "TT" : "NT";
}

struct ProductSizes {
    std::int64_t b = 1;
    std::int64_t m = 0;
    std::int64_t n = 0;
    std::int64_t k = 0;
};

/// The sizes of a [b, m, k] times [b, k, n]; nothing if they do not fit together.
std::optional<ProductSizes> product_sizes(const OperatorInput& a, const OperatorInput& b) {
    const std::size_t rank = a.dims.size();
    if (rank < 2 || rank > 3 || b.dims.size() != rank) return std::nullopt;
    ProductSizes sizes;
    if (rank == 3) sizes.b = a.dims[0];
    sizes.m = a.dims[rank - 2];
    sizes.k = a.dims[rank - 1];
    sizes.n = b.dims[rank - 1];
    if (b.dims[rank - 2] != sizes.k || (rank == 3 && b.dims[0] != sizes.b)) return std::nullopt;
    return sizes;
}

/// True for sizes that a table can have.
bool sound(const ProductSizes& sizes) {
    constexpr double kMost = 1e17;  // multiplications that a table may have
    constexpr std::int64_t kMostSize = std::int64_t{1} << 40U;
    const std::array all{sizes.b, sizes.m, sizes.n, sizes.k};
    double product = 1;
    for (const std::int64_t size : all) {
        if (size < 1 || size > kMostSize) return false;
        product *= static_cast<double>(size);
    }
    return product <= kMost;
}

/// Types of less than 16 bits by the operands and their scales.
std::string narrow_type(const OperatorInput& operand, const OperatorInput& scale) {
    if (operand.type.find("Float4_e2m1fn_x2") != std::string::npos)
        return scale.type.find("Float8_e4m3") != std::string::npos ? "nvfp4" : "";
    if (operand.type.find("Float8_e") == std::string::npos) return "";
    if (scale.type.find("e8m0") != std::string::npos) return "mxfp8";
    // One scale, or one for each row, or one for each block of a row.
    const bool blocks = scale.dims.size() == 2 && std::ranges::min(scale.dims) > 1;
    return blocks ? "fp8_block" : "fp8";
}

/// The same by the recipe of _scaled_mm_v2 (at::blas::ScalingType).
std::string recipe_type(const OperatorInput& operand, const OperatorInput& recipe) {
    if (operand.type.find("Float4_e2m1fn_x2") != std::string::npos)
        return recipe.value.starts_with("[2") ? "nvfp4" : "";
    if (operand.type.find("Float8_e") == std::string::npos) return "";
    if (recipe.value == "[0]" || recipe.value == "[1]") return "fp8";
    if (recipe.value == "[3]") return "mxfp8";
    return recipe.value == "[4]" || recipe.value == "[5]" ? "fp8_block" : "";
}

/// Two values lie in each element of four bits.
void unpack(const std::string& dtype, ProductSizes& sizes) {
    if (dtype == "nvfp4" && sizes.k <= std::numeric_limits<std::int64_t>::max() / 2) sizes.k *= 2;
}

struct Result {
    std::string type;  ///< empty: that of the operands
    bool accumulates = false;
};

OperatorShape gemm(const OperatorInput& a, const OperatorInput& b, const std::string& dtype,
                   const Result& result) {
    if (dtype.empty())
        return product_missing("products of " + (a.type.empty() ? "unknown types" : a.type));
    std::optional<ProductSizes> sizes = product_sizes(a, b);
    if (!sizes) return product_missing("sizes that do not fit together");
    unpack(dtype, *sizes);
    if (!sound(*sizes)) return product_missing("sizes of 0, or too large");
    TableKernel out{"gemm", dtype, {}};
    out.shape = {{"b", sizes->b}, {"m", sizes->m}, {"k", sizes->k}, {"n", sizes->n}};
    if (const auto how = layout(a, b)) out.shape["layout"] = *how;
    out.shape["accumulate"] = result.accumulates;
    const std::string own = plain_type(a.type);
    out.shape["out_dtype"] = !result.type.empty() ? result.type : own.empty() ? "bf16" : own;
    return {out, ""};
}

OperatorShape plain(const Arguments& in) {
    // mm(self, mat2), mm.out(self, mat2, out), mm.dtype(self, mat2, out_dtype)
    Result result{scalar_type(in[2].value), false};
    if (!in[2].dims.empty()) result.type = plain_type(in[2].type);
    return gemm(in[0], in[1], plain_type(in[0].type), result);
}

bool is_zero(const std::string& value) {
    double number = 1;
    const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), number);
    return error == std::errc() && end != value.data() && number == 0;
}

OperatorShape summed(const Arguments& in) {
    // (self, a, b, beta, alpha), with out at the end or out_dtype before beta
    const bool has_type = in.size() == 7 || (in.size() == 6 && in[5].dims.empty());
    const OperatorInput& out = in[has_type ? 6 : 5];
    const OperatorInput& beta = in[has_type ? 4 : 3];
    Result result{has_type ? scalar_type(in[3].value) : "", false};
    if (!out.dims.empty()) result.type = plain_type(out.type);
    const auto sizes = product_sizes(in[1], in[2]);
    const std::vector<std::int64_t>& sum = in[0].dims;
    const auto& steps = in[0].strides;
    const bool whole = sizes && sum.size() == in[1].dims.size() && sizes->m > 1 &&
                       sum[sum.size() - 2] == sizes->m && sum.back() == sizes->n;
    const bool repeated = steps && std::ranges::find(*steps, 0) != steps->end();
    result.accumulates = whole && !repeated && !is_zero(beta.value);
    return gemm(in[1], in[2], plain_type(in[1].type), result);
}

/// x [..., k] times a weight [n, k], transposed.
OperatorShape linear(const Arguments& in) {
    if (in[0].dims.empty() || in[1].dims.size() != 2)
        return product_missing("sizes that do not fit together");
    OperatorInput x{
        {1, in[0].dims.back()}, std::vector<std::int64_t>{in[0].dims.back(), 1}, in[0].type, ""};
    for (const std::int64_t size : std::vector(in[0].dims.begin(), in[0].dims.end() - 1)) {
        if (size < 1 || x.dims[0] > std::numeric_limits<std::int32_t>::max() ||
            size > std::numeric_limits<std::int32_t>::max())
            return product_missing("sizes of 0, or too large");
        x.dims[0] *= size;
    }
    OperatorInput weight = in[1];
    std::ranges::reverse(weight.dims);
    if (weight.strides) std::ranges::reverse(*weight.strides);
    return gemm(x, weight, plain_type(x.type), {});
}

OperatorShape scaled(const Arguments& in) {
    // (self, mat2, scale_a, scale_b, bias, scale_result, out_dtype, use_fast_accum)
    return gemm(in[0], in[1], narrow_type(in[0], in[2]), {scalar_type(in[6].value), false});
}

OperatorShape by_recipes(const Arguments& in) {
    // (self, mat2, scale_a, recipe_a, swizzle_a, scale_b, recipe_b, swizzle_b, bias, out_dtype, ..)
    return gemm(in[0], in[1], recipe_type(in[0], in[3]), {scalar_type(in[9].value), false});
}

/// Rows of all experts [rows, k] times [experts, k, n] or, for a weight's gradient, [m, rows] times
/// [rows, n]. How many rows an expert has is not written: the mean counts.
OperatorShape grouped(const Arguments& in, const std::string& dtype, const OperatorInput& ends,
                      const std::string& result) {
    const OperatorInput& a = in[0];
    const OperatorInput& b = in[1];
    if (dtype.empty() || dtype == "nvfp4")
        return product_missing("grouped products of " +
                               (a.type.empty() ? "unknown types" : a.type));
    ProductSizes sizes;  // of an expert: m rows
    std::int64_t rows = 0;
    std::string stage;
    if (a.dims.size() == 2 && b.dims.size() == 2 && ends.dims.size() == 1) {
        stage = "bwd_grad_w";
        rows = a.dims[1];
        sizes = {ends.dims[0], 0, b.dims[1], a.dims[0]};
        if (b.dims[0] != rows) return product_missing("sizes that do not fit together");
    } else if (a.dims.size() == 2 && b.dims.size() == 3) {
        rows = a.dims[0];
        sizes = {b.dims[0], 0, b.dims[2], a.dims[1]};
        if (b.dims[1] != a.dims[1]) return product_missing("sizes that do not fit together");
        const Stored weight = stored(b);
        if (weight != Stored::Unknown)
            stage = weight == Stored::Transposed ? "fwd" : "bwd_grad_act";
    } else {
        return product_missing("grouped products of other forms");
    }
    constexpr std::int64_t kMostRows = std::int64_t{1} << 40U;
    if (rows > kMostRows || sizes.b < 1 || sizes.b > kMostRows)
        return product_missing("sizes of 0, or too large");
    sizes.m = std::max<std::int64_t>((rows + sizes.b / 2) / sizes.b, rows > 0 ? 1 : 0);
    if (!sound(sizes)) return product_missing("sizes of 0, or too large");
    TableKernel out{"grouped_gemm", dtype, {}};
    out.shape = {{"ng", sizes.b}, {"M", sizes.m}, {"N", sizes.n}, {"K", sizes.k}};
    if (!stage.empty()) out.shape["stage"] = stage;
    out.shape["accumulate"] = false;
    const std::string own = plain_type(a.type);
    out.shape["out_dtype"] = !result.empty() ? result : own.empty() ? "bf16" : own;
    return {out, ""};
}

}  // namespace

std::string plain_type(std::string_view type) {
    if (type == "c10::BFloat16") return "bf16";
    if (type == "c10::Half") return "fp16";
    return type == "float" ? "fp32" : "";
}

bool is_product_operator(std::string_view name) {
    return product_operator(name) != nullptr;
}

OperatorShape product_shape(const OperatorRuns& runs) {
    const Arguments in(runs.inputs);
    switch (product_operator(runs.name)->form) {
        case ProductForm::Plain: return plain(in);
        case ProductForm::Summed: return summed(in);
        case ProductForm::Linear: return linear(in);
        case ProductForm::Scaled: return scaled(in);
        case ProductForm::Recipes: return by_recipes(in);
        case ProductForm::Grouped:  // (self, mat2, offs, bias, out_dtype)
            return grouped(in, plain_type(in[0].type), in[2], scalar_type(in[4].value));
        case ProductForm::ScaledGrouped:
            // (self, mat2, scale_a, scale_b, offs, bias, scale_result, out_dtype, use_fast_accum)
            return grouped(in, narrow_type(in[0], in[2]), in[4], scalar_type(in[7].value));
    }
    return {};
}

bool is_table_operator(std::string_view name) {
    return is_product_operator(name) || is_attention_operator(name);
}

OperatorShape table_shape(const OperatorRuns& runs) {
    return is_product_operator(runs.name) ? product_shape(runs) : attention_shape(runs);
}

}  // namespace debubble::exec
