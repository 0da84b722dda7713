#include <algorithm>
#include <cstring>
#include <tuple>
#include <unordered_set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "exec/io/checkpoint/safetensors.h"
#include "exec/io/mapped_file.h"

namespace debubble::exec {
namespace {

constexpr std::size_t kMostDimensions = 32;

/// A name in quotes for a sentence. Names come from the file and may be long or have control
/// characters.
std::string in_quotes(std::string_view name) {
    std::string shown = "'";
    for (const char c : name.substr(0, 100)) shown += static_cast<unsigned char>(c) < 32 ? ' ' : c;
    return shown + (name.size() > 100 ? "...'" : "'");
}

/// Follows the one form that a header may have; anything else in the JSON ends it with a sentence.
/// Offsets are as written, from the start of the data.
class HeaderBuilder : public nlohmann::json_sax<nlohmann::json> {
public:
    SafetensorsHeader header;
    std::string mistake;

    bool null() override { return misplaced("null"); }
    bool boolean(bool) override { return misplaced("a boolean"); }
    bool number_integer(number_integer_t value) override {
        return misplaced(fmt::format("the negative number {}", value));
    }
    bool number_float(number_float_t, const string_t&) override {
        return misplaced("a number that is not whole");
    }
    bool binary(binary_t&) override { return misplaced("binary data"); }

    bool number_unsigned(number_unsigned_t value) override {
        if (state_ != State::List) return misplaced(fmt::format("the number {}", value));
        if (value > std::uint64_t{1} << 62)
            return wrong(
                fmt::format("{} of tensor {} has the number {}", field_, in_quotes(entry_), value));
        if (list().size() == kMostDimensions)
            return wrong(fmt::format("{} of tensor {} has more than {} numbers", field_,
                                     in_quotes(entry_), kMostDimensions));
        list().push_back(static_cast<std::int64_t>(value));
        return true;
    }

    bool string(string_t& value) override {
        if (state_ == State::Metadata) {
            header.metadata[key_] = std::move(value);
            return true;
        }
        if (state_ != State::Entry || field_ != "dtype") return misplaced("a text");
        const std::optional<StoredType> type = stored_type(value);
        if (!type)
            return wrong(fmt::format("tensor {} has the unknown type {}", in_quotes(entry_),
                                     in_quotes(value)));
        header.entries.back().type = *type;
        return true;
    }

    bool start_object(std::size_t) override {
        if (state_ == State::Start) {
            state_ = State::Root;
        } else if (state_ == State::Root && entry_ == "__metadata__") {
            state_ = State::Metadata;
        } else if (state_ == State::Root) {
            state_ = State::Entry;
            header.entries.push_back({entry_, {}, {}, 0, 0});
            offsets_.clear();
            fields_.clear();
        } else {
            return misplaced("an object");
        }
        return true;
    }

    bool key(string_t& name) override {
        if (state_ == State::Root) {
            entry_ = name;
            return names_.insert(name).second || twice("tensor", name);
        }
        if (state_ == State::Metadata) {
            key_ = name;
            return !header.metadata.contains(name) || twice("metadata", name);
        }
        field_ = name;
        if (name != "dtype" && name != "shape" && name != "data_offsets")
            return wrong(fmt::format("tensor {} has the unknown key {}", in_quotes(entry_),
                                     in_quotes(name)));
        return fields_.insert(name).second ||
               wrong(fmt::format("tensor {} has two values of '{}'", in_quotes(entry_), name));
    }

    bool end_object() override {
        if (state_ == State::Entry) {
            if (fields_.size() != 3 || offsets_.size() != 2)
                return wrong(fmt::format("tensor {} needs a dtype, a shape and two data_offsets",
                                         in_quotes(entry_)));
            header.entries.back().begin = offsets_[0];
            header.entries.back().bytes = offsets_[1] - offsets_[0];
        }
        state_ = state_ == State::Root ? State::End : State::Root;
        return true;
    }

    bool start_array(std::size_t) override {
        if (state_ != State::Entry || field_ == "dtype") return misplaced("a list");
        state_ = State::List;
        return true;
    }
    bool end_array() override {
        state_ = State::Entry;
        return true;
    }

    bool parse_error(std::size_t position, const std::string&,
                     const nlohmann::detail::exception&) override {
        return wrong(fmt::format("the header is not JSON, at its byte {}", position));
    }

private:
    enum class State : std::uint8_t { Start, Root, Metadata, Entry, List, End };

    Dimensions& list() { return field_ == "shape" ? header.entries.back().shape : offsets_; }
    bool wrong(std::string sentence) {
        mistake = std::move(sentence);
        return false;
    }
    bool twice(std::string_view what, std::string_view name) {
        return wrong(fmt::format("the header has two values of {} {}", what, in_quotes(name)));
    }
    bool misplaced(std::string_view what) {
        if (state_ == State::Start) return wrong("the header is not a JSON object");
        return wrong(fmt::format("the header has {} where something else belongs, at {}", what,
                                 in_quotes(entry_)));
    }

    State state_ = State::Start;
    std::string entry_;
    std::string key_;
    std::string field_;
    Dimensions offsets_;
    std::unordered_set<std::string> names_;
    std::unordered_set<std::string> fields_;
};

/// The bytes of a tensor; nothing if the product exceeds 2^63, even where another dimension has
/// size zero, since users compute strides.
std::optional<std::int64_t> bytes_of(const SafetensorsEntry& entry) {
    std::int64_t product = size_of(entry.type);
    bool empty = false;
    for (const std::int64_t extent : entry.shape) {
        empty = empty || extent == 0;
        if (extent != 0 && __builtin_mul_overflow(product, extent, &product)) return std::nullopt;
    }
    return empty ? 0 : product;
}

void check_entries(SafetensorsHeader& header, std::int64_t data, const std::string& file) {
    std::ranges::sort(header.entries, [](const SafetensorsEntry& a, const SafetensorsEntry& b) {
        return std::tie(a.begin, a.bytes, a.name) < std::tie(b.begin, b.bytes, b.name);
    });
    std::int64_t end = 0;
    std::string_view before = "the header";
    for (SafetensorsEntry& entry : header.entries) {
        const std::string name = in_quotes(entry.name);
        const std::optional<std::int64_t> needed = bytes_of(entry);
        if (entry.bytes < 0 || entry.begin + entry.bytes > data)
            throw bad_file(file, fmt::format("tensor {} lies at bytes {} to {} of {} bytes of data",
                                             name, entry.begin, entry.begin + entry.bytes, data));
        if (needed != entry.bytes)
            throw bad_file(file, fmt::format("tensor {} of type {} and shape {} has {} bytes", name,
                                             word(entry.type), text(entry.shape), entry.bytes));
        if (entry.begin < end)
            throw bad_file(file,
                           fmt::format("tensor {} begins at byte {} of the data, inside tensor {}, "
                                       "which ends at {}",
                                       name, entry.begin, in_quotes(before), end));
        if (entry.begin > end)
            throw bad_file(
                file,
                fmt::format("bytes {} to {} of the data, before tensor {}, belong to no tensor",
                            end, entry.begin, name));
        end = entry.begin + entry.bytes;
        before = entry.name;
        entry.begin += header.bytes;
    }
    if (end != data)
        throw bad_file(file,
                       fmt::format("the tensors end at byte {} of {} bytes of data", end, data));
}

}  // namespace

SafetensorsHeader parse_safetensors(std::string_view bytes, const std::string& file) {
    std::uint64_t length = 0;
    if (bytes.size() < sizeof length)
        throw bad_file(file,
                       fmt::format("{} bytes are too few for a safetensors file", bytes.size()));
    std::memcpy(&length, bytes.data(), sizeof length);
    if (length > kLongestSafetensorsHeader)
        throw bad_file(file,
                       fmt::format("not a safetensors file: a header of {} bytes, the limit is {}",
                                   length, kLongestSafetensorsHeader));
    if (length > bytes.size() - sizeof length)
        throw bad_file(file, fmt::format("cut short: a header of {} bytes in a file of {}", length,
                                         bytes.size()));
    const std::string_view json = bytes.substr(sizeof length, length);
    HeaderBuilder builder;
    if (!nlohmann::json::sax_parse(json.begin(), json.end(), &builder))
        throw bad_file(file, builder.mistake);
    builder.header.bytes = static_cast<std::int64_t>(sizeof length + length);
    check_entries(builder.header, static_cast<std::int64_t>(bytes.size()) - builder.header.bytes,
                  file);
    return std::move(builder.header);
}

}  // namespace debubble::exec
