#include "text/mapping_reader.h"

#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "base/diagnostic.h"
#include "text/quantity.h"

namespace debubble::text {
namespace {

constexpr std::size_t kLongestShown = 60;
constexpr auto kWrong = Diagnostic::Kind::WrongValue;

}  // namespace

std::string unknown_word(std::string_view what, std::string_view word,
                         std::span<const std::string> known, std::string_view where) {
    constexpr std::size_t kLongest = 60;
    std::string sentence = fmt::format("unknown {} '{}{}'{}", what, word.substr(0, kLongest),
                                       word.size() > kLongest ? "..." : "", where);
    if (const auto guess = did_you_mean(word, known))
        return sentence + fmt::format("; did you mean '{}'?", *guess);
    return sentence + fmt::format("; known: {}", fmt::join(known, ", "));
}

MappingReader::MappingReader(NodePtr mapping, std::string_view name, Mistakes& mistakes)
    : mapping_(std::move(mapping)),
      name_(name),
      mistakes_(&mistakes),
      mistakes_at_start_(mistakes.count()) {
    if (mapping_ && mapping_->is(Node::Kind::Map)) return;
    const SourcePosition place = mapping_ ? mapping_->place : SourcePosition{};
    if (mapping_ && !mapping_->is(Node::Kind::Null))
        mistakes.add(place, fmt::format("'{}' must be a map, not {}", name, describe(*mapping_)),
                     kWrong);
    mapping_ = make_map({}, place);
}

NodePtr MappingReader::value(std::string_view key) {
    known_.push_back(key);
    NodePtr found = mapping_->get(key);
    return found && !found->is(Node::Kind::Null) ? found : nullptr;
}

NodePtr MappingReader::scalar(std::string_view key, std::string_view wanted) {
    NodePtr found = value(key);
    if (!found || found->is(Node::Kind::Scalar)) return found;
    complain(key, fmt::format("'{}' must be {}, not {}", key, wanted, describe(*found)), kWrong);
    return nullptr;
}

bool MappingReader::read_whole(std::string_view key, std::int64_t& out, std::int64_t least,
                               std::int64_t most) {
    const NodePtr found = scalar(key, "a whole number");
    if (!found) return false;
    const auto number = parse_whole_value(found->scalar);
    if (!number) {
        const bool digits = !found->scalar.empty() &&
                            found->scalar.find_first_not_of("0123456789") == std::string::npos;
        complain(key,
                 digits
                     ? fmt::format("'{}' must be at most {}, not {}", key, most, describe(*found))
                     : fmt::format("'{}' must be a whole number, not {}", key, describe(*found)),
                 kWrong);
        return false;
    }
    if (*number < least || *number > most) {
        complain(
            key,
            fmt::format("'{}' must be {} {}, not {}", key, *number < least ? "at least" : "at most",
                        *number < least ? least : most, *number),
            kWrong);
        return false;
    }
    out = *number;
    return true;
}

bool MappingReader::real(std::string_view key, double& out, double least, double most) {
    const NodePtr found = scalar(key, "a number");
    if (!found) return false;
    const auto number = parse_real(found->scalar);
    if (!number) {
        complain(key, fmt::format("'{}' must be a number, not {}", key, describe(*found)), kWrong);
        return false;
    }
    if (*number < least || *number > most) {
        complain(
            key,
            fmt::format("'{}' must be {} {}, not {}", key, *number < least ? "at least" : "at most",
                        *number < least ? least : most, *number),
            kWrong);
        return false;
    }
    out = *number;
    return true;
}

bool MappingReader::flag(std::string_view key, bool& out) {
    const NodePtr found = scalar(key, "true or false");
    if (!found) return false;
    if (found->scalar != "true" && found->scalar != "false") {
        complain(key, fmt::format("'{}' must be true or false, not {}", key, describe(*found)),
                 kWrong);
        return false;
    }
    out = found->scalar == "true";
    return true;
}

bool MappingReader::text(std::string_view key, std::string& out) {
    const NodePtr found = scalar(key, "a text");
    if (!found) return false;
    if (!is_printable(found->scalar)) {
        complain(key,
                 fmt::format("'{}' has a control character: '{}'", key,
                             printable(found->scalar.substr(0, kLongestShown))),
                 kWrong);
        return false;
    }
    out = found->scalar;
    return true;
}

template <class T>
bool MappingReader::quantity(std::string_view key, T& out, std::string_view wanted, auto parse) {
    const NodePtr found = scalar(key, wanted);
    if (!found) return false;
    const auto parsed = parse(found->scalar);
    if (!parsed.value) {
        complain(key, fmt::format("'{}': {}", key, parsed.mistake), kWrong);
        return false;
    }
    out = *parsed.value;
    return true;
}

bool MappingReader::bytes(std::string_view key, Bytes& out) {
    constexpr Bytes kMost{1'000'000'000'000'000};  // sums of many such values must stay below 2^63
    Bytes read;
    if (!quantity(key, read, "a number of bytes", parse_bytes)) return false;
    if (read > kMost) {
        complain(key, fmt::format("'{}' must be at most 1000 TB", key), kWrong);
        return false;
    }
    out = read;
    return true;
}

bool MappingReader::rate(std::string_view key, BytesPerSecond& out) {
    BytesPerSecond read;
    if (!quantity(key, read, "a rate", parse_rate)) return false;
    if (read.value < 1) {
        complain(key, fmt::format("'{}' must be at least 1 B/s", key), kWrong);
        return false;
    }
    out = read;
    return true;
}

bool MappingReader::duration(std::string_view key, Duration& out) {
    return quantity(key, out, "a duration", parse_duration);
}

bool MappingReader::flop_rate(std::string_view key, double& out) {
    return quantity(key, out, "a FLOP rate", parse_flop_rate);
}

bool MappingReader::power(std::string_view key, double& out) {
    return quantity(key, out, "a power", parse_power);
}

bool MappingReader::span(std::string_view key, double& seconds) {
    return quantity(key, seconds, "a span of time", parse_span);
}

bool MappingReader::count(std::string_view key, std::int64_t& out) {
    return quantity(key, out, "a count", parse_count);
}

std::size_t MappingReader::read_word(std::string_view key, const std::vector<std::string>& known,
                                     std::string_view what) {
    const NodePtr found = scalar(key, fmt::format("one of {}", fmt::join(known, ", ")));
    if (!found) return known.size();
    const auto at = std::ranges::find(known, found->scalar);
    if (at == known.end()) complain_unknown(key, what, found->scalar, known);
    return at - known.begin();
}

template <class T>
bool MappingReader::numbers(std::string_view key, std::vector<T>& out, T least, T most,
                            std::string_view what, auto parse) {
    const NodePtr list = value(key);
    if (!list) return false;
    if (!list->is(Node::Kind::List)) {
        complain(key, fmt::format("'{}' must be a list, not {}", key, describe(*list)), kWrong);
        return false;
    }
    std::vector<T> read;
    for (const NodePtr& item : list->items) {
        const auto number = item->is(Node::Kind::Scalar) ? parse(item->scalar) : std::nullopt;
        if (number && *number >= least && *number <= most) {
            read.push_back(static_cast<T>(*number));
            continue;
        }
        mistakes_->add(item->place,
                       fmt::format("'{}' must have {} from {} to {}, not {}", key, what, least,
                                   most, describe(*item)),
                       kWrong);
        return false;
    }
    out = std::move(read);
    return true;
}

bool MappingReader::wholes(std::string_view key, std::vector<int>& out, int least, int most) {
    return numbers(key, out, least, most, "whole numbers",
                   [](std::string_view text) { return parse_whole_value(text); });
}

bool MappingReader::reals(std::string_view key, std::vector<double>& out, double least,
                          double most) {
    return numbers(key, out, least, most, "numbers",
                   [](std::string_view text) { return parse_real(text); });
}

bool MappingReader::texts(std::string_view key, std::vector<std::string>& out) {
    const NodePtr found = value(key);
    if (!found) return false;
    const std::vector<NodePtr> one{found};
    std::vector<std::string> read;
    for (const NodePtr& item : found->is(Node::Kind::List) ? found->items : one) {
        if (!item->is(Node::Kind::Scalar)) {
            mistakes_->add(item->place,
                           fmt::format("'{}' must contain words, not {}", key, describe(*item)),
                           kWrong);
            return false;
        }
        read.push_back(item->scalar);
    }
    out = std::move(read);
    return true;
}

void MappingReader::demand(std::string_view key) {
    const NodePtr found = mapping_->get(key);
    if (!found || found->is(Node::Kind::Null))
        mistakes_->add(mapping_->place, fmt::format("'{}' is missing", key));
}

void MappingReader::complain(std::string_view key, std::string message, Diagnostic::Kind kind) {
    NodePtr found = mapping_->get(key);
    if (!found && outer_) found = outer_->get(key);
    mistakes_->add(found ? found->place : mapping_->place, std::move(message), kind);
}

void MappingReader::complain_unknown(std::string_view key, std::string_view what,
                                     std::string_view word, std::span<const std::string> known) {
    complain(key, unknown_word(what, word, known), Diagnostic::Kind::UnknownName);
}

std::vector<std::string_view> MappingReader::unasked() const {
    std::vector<std::string_view> keys;
    for (const Node::Entry& entry : mapping_->entries)
        if (std::ranges::find(known_, entry.key) == known_.end()) keys.push_back(entry.key);
    return keys;
}

void MappingReader::finish() {
    for (const Node::Entry& entry : mapping_->entries) {
        if (std::ranges::find(known_, entry.key) != known_.end()) continue;
        if (const auto instead = instead_of_retired(name_, entry.key); !instead.empty()) {
            mistakes_->add(entry.place, fmt::format("'{}' of '{}' has been removed: {}", entry.key,
                                                    name_, instead));
            continue;
        }
        std::vector<std::string> known;  // a key may be asked for twice
        for (const std::string_view key : known_)
            if (std::ranges::find(known, key) == known.end()) known.emplace_back(key);
        const std::string where = name_.empty() ? "" : fmt::format(" of '{}'", name_);
        mistakes_->add(entry.place, unknown_word("key", entry.key, known, where),
                       Diagnostic::Kind::UnknownName);
    }
}

}  // namespace debubble::text
