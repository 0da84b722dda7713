#include "scenarios/cluster/kernel_table.h"

#include <algorithm>
#include <cstdint>
#include <initializer_list>
#include <map>
#include <mutex>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "base/file.h"
#include "text/document_readers.h"

namespace debubble::scenarios {
namespace {

using text::MappingReader;
using text::Mistakes;
using text::NodePtr;

constexpr std::size_t kMostKernels = 100'000;
constexpr std::int64_t kLargestSize = std::int64_t{1} << 40;
constexpr double kMostSeconds = 1e4;

/// The type of a kernel's operands.
struct OperandType {
    models::Narrow narrow = models::Narrow::None;
    int element_bytes = 2;  ///< where it is not narrow
};

constexpr std::pair<std::string_view, OperandType> kOperandTypes[] = {
    {"bf16", {}},
    {"fp16", {}},
    {"bfloat16", {}},
    {"fp32", {.element_bytes = 4}},
    {"fp8", {.narrow = models::Narrow::Fp8}},
    {"fp8_block", {.narrow = models::Narrow::Fp8Blockwise}},
    {"mxfp8", {.narrow = models::Narrow::MxFp8}},
    {"nvfp4", {.narrow = models::Narrow::NvFp4}}};
constexpr std::pair<std::string_view, bool> kMeasures[] = {{"burst", true}, {"sustained", false}};

std::int64_t size(MappingReader& shape, std::string_view key) {
    std::int64_t value = 1;
    shape.demand(key);
    shape.whole(key, value, 1, kLargestSize);
    return value;
}

/// Python's words for truth are taken too.
bool says_true(MappingReader& shape, std::string_view key) {
    const NodePtr value = shape.value(key);
    return value && (value->scalar == "true" || value->scalar == "True");
}

/// A gradient in fp32 is read and written instead of a result in 16 bits.
Bytes accumulated(MappingReader& shape, std::int64_t elements) {
    if (!says_true(shape, "accumulate")) return {};
    const NodePtr type = shape.value("out_dtype");
    return Bytes{elements * (type && type->scalar == "fp32" ? 6 : 2)};
}

/// False, with a complaint at `key`, for sizes whose product no kernel has.
bool can_be(MappingReader& shape, std::string_view key, std::initializer_list<std::int64_t> sizes) {
    constexpr double kMost = 1e17;
    double product = 1;
    for (const std::int64_t size : sizes) product *= static_cast<double>(size);
    if (product <= kMost) return true;
    shape.complain(key, "the product of this kernel's sizes exceeds 1e17");
    return false;
}

models::Gemm product(MappingReader& shape) {
    models::Gemm work;
    if (shape.has("b")) work.batch = size(shape, "b");
    work.m = size(shape, "m");
    work.n = size(shape, "n");
    work.k = size(shape, "k");
    if (!can_be(shape, "m", {work.batch, work.m, work.n, work.k})) return work;
    work.accumulated = accumulated(shape, work.batch * work.m * work.n);
    return work;
}

models::Gemm grouped(MappingReader& shape) {
    const NodePtr stage = shape.value("stage");
    const bool summed = stage && stage->scalar == "bwd_grad_w";
    models::Gemm work;
    work.batch = size(shape, "ng");
    const std::int64_t rows = size(shape, "M");
    work.group_rows = rows;
    work.n = size(shape, "N");
    const std::int64_t other = size(shape, "K");
    if (!can_be(shape, "M", {work.batch, rows, work.n, other})) return work;
    work.m = summed ? other : rows;
    work.k = summed ? rows : other;
    work.accumulated = accumulated(shape, work.batch * work.m * work.n);
    return work;
}

models::FlashAttention attention(MappingReader& shape) {
    models::FlashAttention work;
    work.batch = size(shape, "batch");
    work.queries = work.keys = size(shape, "seq_len");
    if (shape.has("keys")) work.keys = size(shape, "keys");
    work.heads = work.kv_heads = size(shape, "head_num");
    if (shape.has("kv_head_num")) work.kv_heads = size(shape, "kv_head_num");
    work.head_dim = size(shape, "qk_head_dim");
    if (shape.has("v_head_dim")) work.narrow_values = size(shape, "v_head_dim");
    can_be(shape, "seq_len", {work.batch, work.heads, work.queries, work.keys, work.head_dim});
    can_be(shape, "seq_len", {work.batch, work.heads, work.queries, work.keys, work.value_dim()});
    work.causal = !shape.has("causal") || says_true(shape, "causal");
    std::int64_t window = 0;
    if (shape.whole("window", window, 0, kLargestSize) && window > 0) work.window = window;
    return work;
}

double flops_of(const models::Gemm& work) {
    return 2.0 * static_cast<double>(work.batch * work.m) * static_cast<double>(work.n * work.k);
}

double flops_of(const models::FlashAttention& work, double pairs) {
    const auto key_width = static_cast<double>(work.head_dim);
    const auto value_width = static_cast<double>(work.value_dim());
    const double columns =
        work.backward ? 3 * key_width + 2 * value_width : key_width + value_width;
    return 2 * static_cast<double>(work.batch * work.heads) * pairs * columns;
}

/// The line's `seconds`, or what its share of a peak says of so many FLOPs; 0 where it has neither.
double seconds_of(MappingReader& in, double flops) {
    double seconds = 0;
    if (in.has("seconds")) {
        in.real("seconds", seconds, 1e-9, kMostSeconds);
        return seconds;
    }
    double share = 0;
    double peak = 0;
    in.demand("of_peak");
    in.demand("peak_tflops");
    in.real("of_peak", share, 1e-6, 10);
    in.real("peak_tflops", peak, 1e-3, 1e6);
    return share > 0 && peak > 0 ? flops / (share * peak * 1e12) : 0;
}

void read_line(const NodePtr& line, Mistakes& mistakes, KernelTable& burst,
               KernelTable& sustained) {
    MappingReader in(line, "kernel", mistakes);
    bool is_burst = false;
    in.word("measures", is_burst, kMeasures);
    KernelTable& table = is_burst ? burst : sustained;
    const KernelWork work = read_kernel_work(in);
    if (const auto* gemm = std::get_if<models::Gemm>(&work)) {
        const double seconds = seconds_of(in, flops_of(*gemm));
        if (seconds > 0) table.products.push_back({*gemm, seconds});
    } else if (const auto* attended = std::get_if<models::FlashAttention>(&work)) {
        const bool counts_all = !text::at(line, "shape.causal");
        const double pairs = counts_all ? static_cast<double>(attended->queries * attended->keys)
                                        : models::pairs(*attended);
        const double seconds = seconds_of(in, flops_of(*attended, pairs));
        if (seconds > 0) table.attentions.push_back({*attended, seconds});
    }
}

}  // namespace

KernelWork read_kernel_work(MappingReader& in) {
    std::string kernel;
    OperandType type;
    in.demand("kernel");
    in.demand("shape");
    in.text("kernel", kernel);
    in.word("dtype", type, kOperandTypes);
    const NodePtr map = in.value("shape");
    if (!map || !map->is(text::Node::Kind::Map)) return {};
    MappingReader shape(map, "shape", in.mistakes());
    if (kernel == "gemm" || kernel == "grouped_gemm") {
        models::Gemm work = kernel == "gemm" ? product(shape) : grouped(shape);
        work.operands = type.narrow;
        work.element_bytes = type.element_bytes;
        if (shape.good()) return work;
    } else if (kernel == "attention_forward" || kernel == "attention_backward") {
        models::FlashAttention work = attention(shape);
        work.backward = kernel == "attention_backward";
        work.narrow = type.narrow != models::Narrow::None;
        work.element_bytes = type.element_bytes;
        if (shape.good()) return work;
    }
    return {};
}

KernelTable read_kernel_table(const std::string& text, const std::string& file,
                              Mistakes& mistakes) {
    KernelTable burst;
    KernelTable sustained;
    burst.burst = true;
    std::string_view rest = text;
    std::size_t lines = 0;
    for (int number = 1; !rest.empty(); ++number) {
        const std::string_view line = rest.substr(0, rest.find('\n'));
        rest.remove_prefix(std::min(rest.size(), line.size() + 1));
        if (line.find_first_not_of(" \t\r") == std::string_view::npos) continue;
        if (++lines > kMostKernels)
            throw InputError({{{file, number, 1},
                               fmt::format("the table has more than {} kernels", kMostKernels),
                               {}}});
        try {
            read_line(text::parse_json_from(number, std::string(line), file), mistakes, burst,
                      sustained);
        } catch (const InputError& error) {
            mistakes.add(error);
        }
    }
    const auto count = [](const KernelTable& of) {
        return of.products.size() + of.attentions.size();
    };
    if (count(burst) + count(sustained) == 0 && mistakes.empty())
        throw InputError({{{file, 0, 0}, "the table has no GEMM and no attention", {}}});
    return count(burst) > count(sustained) ? burst : sustained;
}

std::shared_ptr<const KernelTable> shared_kernel_table(const std::string& file) {
    struct Kept {
        std::string text;
        std::shared_ptr<const KernelTable> table;
    };
    static std::mutex mutex;
    static std::map<std::string, Kept> kept;
    std::string text = read_file(file);
    const std::lock_guard lock(mutex);
    Kept& known = kept[file];
    if (known.table && known.text == text) return known.table;
    Mistakes mistakes;
    auto table = std::make_shared<const KernelTable>(read_kernel_table(text, file, mistakes));
    mistakes.throw_if_any();
    known = {std::move(text), std::move(table)};
    return known.table;
}

}  // namespace debubble::scenarios
