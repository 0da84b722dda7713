#include "exec/io/checkpoint/safetensors.h"

#include <algorithm>

#include "base/ids.h"

namespace debubble::exec {
namespace {

struct TypeRow {
    StoredType type;
    std::string_view word;
    std::int64_t bytes;
    std::optional<DataType> computed;
};

constexpr ArrayBy<StoredType, TypeRow, 15> kTypes = {{{
    {StoredType::Bool, "BOOL", 1, {}},
    {StoredType::U8, "U8", 1, {}},
    {StoredType::I8, "I8", 1, {}},
    {StoredType::F8E4M3, "F8_E4M3", 1, {}},
    {StoredType::F8E5M2, "F8_E5M2", 1, {}},
    {StoredType::U16, "U16", 2, {}},
    {StoredType::I16, "I16", 2, {}},
    {StoredType::F16, "F16", 2, DataType::Fp16},
    {StoredType::BF16, "BF16", 2, DataType::Bf16},
    {StoredType::U32, "U32", 4, {}},
    {StoredType::I32, "I32", 4, DataType::Int32},
    {StoredType::F32, "F32", 4, DataType::Fp32},
    {StoredType::U64, "U64", 8, {}},
    {StoredType::I64, "I64", 8, {}},
    {StoredType::F64, "F64", 8, DataType::Fp64},
}}};

constexpr bool rows_are_in_order() {
    for (std::size_t i = 0; i < kTypes.size(); ++i)
        if (kTypes[i].type != static_cast<StoredType>(i)) return false;
    return true;
}
static_assert(rows_are_in_order());

const TypeRow& row(StoredType type) {
    return kTypes[type];
}

}  // namespace

std::string_view word(StoredType type) {
    return row(type).word;
}

std::int64_t size_of(StoredType type) {
    return row(type).bytes;
}

std::optional<StoredType> stored_type(std::string_view word) {
    const auto found = std::ranges::find(kTypes, word, &TypeRow::word);
    return found == kTypes.end() ? std::nullopt : std::optional(found->type);
}

StoredType stored_type(DataType type) {
    return std::ranges::find(kTypes, std::optional(type), &TypeRow::computed)->type;
}

std::optional<DataType> data_type(StoredType type) {
    return row(type).computed;
}

SafetensorsFile open_safetensors(const std::filesystem::path& path) {
    auto file = std::make_shared<const MappedFile>(path);
    SafetensorsHeader header = file->whole(
        [&](std::string_view bytes) { return parse_safetensors(bytes, path.string()); });
    return {std::move(file), std::move(header)};
}

}  // namespace debubble::exec
