#include "exec/cuda/products/product_choices.h"

#include <string_view>

#include <fmt/format.h>

namespace debubble::exec::cuda {

namespace {

std::string_view word_of(Type type) {
    switch (type) {
        case Type::Fp64: return "fp64";
        case Type::Fp32: return "fp32";
        case Type::Fp16: return "fp16";
        case Type::Bf16: return "bf16";
        case Type::Int32: return "int32";
    }
    return "";
}

std::string words_of(const ProductKind::Memory& memory) {
    return fmt::format(
        "{}{}{} by {}", word_of(memory.type), memory.transposed ? " transposed" : "",
        memory.row_stride > 0 ? fmt::format(" in rows of {}", memory.row_stride) : "",
        memory.alignment);
}

}  // namespace

std::string words_of(const ProductKind& kind) {
    std::string words = fmt::format("{}x{}x{}, a {}, b {}, c {}", kind.m, kind.n, kind.k,
                                    words_of(kind.a), words_of(kind.b), words_of(kind.c));
    if (kind.adds) words += ", added";
    if (kind.has_bias) words += ", bias " + words_of(kind.bias);
    if (kind.epilogue == Epilogue::Gelu) words += ", gelu " + words_of(kind.wide);
    if (kind.epilogue == Epilogue::GeluGradient)
        words += ", gelu's gradient " + words_of(kind.wide);
    if (kind.makes_sums) words += kind.sums_of_b ? ", sums of b" : ", sums of a";
    return words;
}

}  // namespace debubble::exec::cuda
