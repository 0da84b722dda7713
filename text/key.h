#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <variant>
#include <vector>

#include "text/quantity.h"

/// The keys of a document, described for people and editors. A description is made from the table
/// by which a reader reads (text/fields.h), so that it says what the reader does.
namespace debubble::text {

struct Form;
struct Key;

struct WholeForm {
    std::int64_t least = 0;
    std::int64_t most = 0;
    std::string unit;  ///< "samples"; empty for a plain number
};
struct RealForm {
    double least = 0;
    double most = 0;
    std::string unit;
};
struct FlagForm {};
struct TextForm {};  ///< any word or number
struct PathForm {};
struct QuantityForm {
    Quantity quantity{};
};
struct WordForm {
    std::vector<std::string> words;
};
/// The name of a shipped file, or the path of another one.
struct ShippedForm {
    std::string folder;
};
struct ListForm {
    std::vector<Form> of;              ///< an element has any one of these forms
    std::optional<std::size_t> count;  ///< the only length; unset: any
};
struct MapForm {
    std::vector<Key> keys;
};
/// A map whose keys the person chooses.
struct TableForm {
    std::string placeholder;  ///< stands for such a key: "PATTERN"
    std::string pattern;      ///< regular expression of the keys
    std::vector<Form> of;
};
/// A grid: a map from dotted paths of the whole document to lists of their values, or to ranges.
struct GridForm {
    std::vector<Key> own;    ///< the keys that are no paths
    std::vector<Key> range;  ///< the keys of a range
};
/// A map in another program's format, told by one of its keys.
struct ForeignForm {
    std::string mark;
    std::string format;
};

/// One form that a value may have.
struct Form {
    std::variant<WholeForm, RealForm, FlagForm, TextForm, PathForm, QuantityForm, WordForm,
                 ShippedForm, ListForm, MapForm, TableForm, GridForm, ForeignForm>
        is;
};

struct Key {
    std::string name;
    std::vector<Form> forms;  ///< a value has any one of these
    std::string meaning;      ///< full sentences
    std::string example;      ///< a value, as YAML
    std::string otherwise;    ///< what holds if the key is not given: a value, or words
    bool required = false;
};

/// The keys of the map that the value may be; empty if it is none.
std::span<const Key> keys_in(const Key& key);

/// A key with the dotted path that leads to it. Elements of a list of maps have the list's path.
struct KeyAt {
    std::string path;
    const Key* key = nullptr;
};
inline constexpr std::string_view kAnyPath = "KEY";  ///< stands for a path in a grid
/// All keys, each before those in it. `keys` must outlive the result.
std::vector<KeyAt> flattened(std::span<const Key> keys);

/// "a whole number from 1 to 4096", "one of layer, stage", "a list of ..."; alternatives are joined
/// by "or".
std::string text_of(std::span<const Form> forms);

/// One description of variants of a map, such as those of several optimizers: the keys of all of
/// them, with the variants' names next to defaults that differ.
std::vector<Key> merged_variants(
    std::span<const std::pair<std::string, std::vector<Key>>> variants);

}  // namespace debubble::text
