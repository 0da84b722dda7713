#include "trace/profile/formats/snapshot_peaks.h"

#include <bit>
#include <cmath>
#include <limits>
#include <unordered_map>

#include <fmt/format.h>

#include "base/diagnostic.h"

namespace debubble::profile {
namespace {

constexpr std::size_t kMostValues = 1U << 24U;  ///< some gigabyte of them

}  // namespace

/// The stack machine of pickles, for the instructions that make values.
class Unpickling {
public:
    Unpickling(Pickle& into, const std::string& file)
        : out_(into), bytes_(into.bytes_), file_(file) {}

    void run() {
        for (;;) {
            begin_ = at_;
            const unsigned char code = byte();
            if (code == '.') break;
            carry_out(code);
        }
        out_.root_ = pop();
    }

private:
    using Value = Pickle::Value;
    using Kind = Pickle::Kind;

    void carry_out(unsigned char code) {
        switch (code) {
            case 0x80: byte(); return;     // PROTO
            case 0x95: number(8); return;  // FRAME
            case 'N': push({}); return;
            case 0x88: return push_whole(1);
            case 0x89: return push_whole(0);
            case 'K': return push_whole(static_cast<std::int64_t>(number(1)));
            case 'M': return push_whole(static_cast<std::int64_t>(number(2)));
            case 'J': return push_whole(static_cast<std::int32_t>(number(4)));
            case 0x8a: return push_long(number(1));
            case 0x8b: return push_long(number(4));
            case 'G': return push_real();
            case 0x8c: return push_text(number(1));
            case 'X': return push_text(number(4));
            case 0x8d: return push_text(number(8));
            case 'U':
            case 'C': return push_text(number(1));  // bytes, and Python 2's strings
            case 'T':
            case 'B': return push_text(number(4));
            case 0x8e: return push_text(number(8));
            default: return carry_out_on_stack(code);
        }
    }
    void carry_out_on_stack(unsigned char code) {
        switch (code) {
            case '}': return push({.kind = Kind::Map});
            case ']':
            case ')': return push({.kind = Kind::List});
            case '(': marks_.push_back(stack_.size()); return;
            case 'a': return append(stack_.size() - 1, Kind::List);
            case 's': return append(stack_.size() - 2, Kind::Map);
            case 'e': return append(mark(), Kind::List);
            case 'u': return append(mark(), Kind::Map);
            case 't':
            case 'l': return gather(mark(), Kind::List);
            case 'd': return gather(mark(), Kind::Map);
            case 0x85: return gather(stack_.size() - 1, Kind::List);
            case 0x86: return gather(stack_.size() - 2, Kind::List);
            case 0x87: return gather(stack_.size() - 3, Kind::List);
            case '0': pop(); return;
            case '2': stack_.push_back(top()); return;
            case 0x94: memo_[static_cast<std::uint32_t>(memo_.size())] = top(); return;
            case 'q': memo_[static_cast<std::uint32_t>(number(1))] = top(); return;
            case 'r': memo_[static_cast<std::uint32_t>(number(4))] = top(); return;
            case 'h': return recall(static_cast<std::uint32_t>(number(1)));
            case 'j': return recall(static_cast<std::uint32_t>(number(4)));
            default: break;
        }
        fail(fmt::format(
            "the pickle's instruction 0x{:02x} does not make a plain value: nothing that it "
            "names is executed here",
            code));
    }

    unsigned char byte() { return static_cast<unsigned char>(taken(1).front()); }
    std::string_view taken(std::uint64_t count) {
        if (count > bytes_.size() - at_) fail("the pickle ends inside a value");
        const std::string_view part = std::string_view(bytes_).substr(at_, count);
        at_ += count;
        return part;
    }
    /// Little-endian.
    std::uint64_t number(int count) {
        std::uint64_t value = 0;
        int shift = 0;
        for (const char c : taken(static_cast<std::uint64_t>(count))) {
            value |= static_cast<std::uint64_t>(static_cast<unsigned char>(c)) << shift;
            shift += 8;
        }
        return value;
    }

    void push(Value value) {
        if (out_.values_.size() == kMostValues)
            fail(fmt::format("the pickle has more than {} values", kMostValues));
        stack_.push_back(static_cast<std::uint32_t>(out_.values_.size()));
        out_.values_.push_back(std::move(value));
    }
    void push_whole(std::int64_t value) {
        push({.kind = Kind::Number, .real = static_cast<double>(value), .whole = value});
    }
    void push_real() {
        std::uint64_t bits = 0;  // big-endian
        for (const char c : taken(8)) bits = bits << 8U | static_cast<unsigned char>(c);
        const auto value = std::bit_cast<double>(bits);
        constexpr double kMost = 9e18;
        const bool fits = std::abs(value) < kMost;
        push({.kind = Kind::Number,
              .real = value,
              .whole = fits ? static_cast<std::int64_t>(value) : 0});
    }
    /// Two's complement of any length; values beyond 64 bits are clamped.
    void push_long(std::uint64_t count) {
        const std::string_view digits = taken(count);
        if (digits.empty()) return push_whole(0);
        const bool negative = (static_cast<unsigned char>(digits.back()) & 0x80U) != 0;
        std::uint64_t value = negative ? ~std::uint64_t{0} : 0;
        const auto filler = static_cast<char>(negative ? 0xff : 0);
        for (std::size_t i = digits.size(); i-- > 0;) {
            if (i >= 8 && digits[i] != filler)
                return push_whole(negative ? std::numeric_limits<std::int64_t>::min()
                                           : std::numeric_limits<std::int64_t>::max());
            if (i < 8) value = value << 8U | static_cast<unsigned char>(digits[i]);
        }
        push_whole(static_cast<std::int64_t>(value));
    }
    void push_text(std::uint64_t count) { push({.kind = Kind::Text, .text = taken(count)}); }

    std::uint32_t top() {
        if (stack_.size() <= floor()) fail("the pickle's stack is empty");
        return stack_.back();
    }
    std::uint32_t pop() {
        const std::uint32_t index = top();
        stack_.pop_back();
        return index;
    }
    std::size_t floor() const { return marks_.empty() ? 0 : marks_.back(); }
    std::size_t mark() {
        if (marks_.empty()) fail("the pickle's stack has no mark");
        const std::size_t at = marks_.back();
        marks_.pop_back();
        return at;
    }
    /// Those from `first` on, taken off the stack.
    std::vector<std::uint32_t> taken_from(std::size_t first) {
        if (first > stack_.size() || first < floor()) fail("the pickle's stack is empty");
        const auto begin = stack_.begin() + static_cast<std::ptrdiff_t>(first);
        std::vector<std::uint32_t> items(begin, stack_.end());
        stack_.erase(begin, stack_.end());
        return items;
    }
    void append(std::size_t first, Kind kind) {
        const std::vector<std::uint32_t> items = taken_from(first);
        Value& value = out_.values_[top()];
        if (value.kind != kind || (kind == Kind::Map && items.size() % 2 != 0))
            fail("the pickle adds to a value that is neither a list nor a map");
        value.items.insert(value.items.end(), items.begin(), items.end());
    }
    void gather(std::size_t first, Kind kind) {
        std::vector<std::uint32_t> items = taken_from(first);
        if (kind == Kind::Map && items.size() % 2 != 0) fail("the pickle's map has half an entry");
        push({.kind = kind, .items = std::move(items)});
    }
    void recall(std::uint32_t number) {
        const auto found = memo_.find(number);
        if (found == memo_.end()) fail("the pickle recalls a value that it never stored");
        stack_.push_back(found->second);
    }

    [[noreturn]] void fail(const std::string& what) const {
        throw InputError(fmt::format("{}: byte {}: {}", file_, begin_, what));
    }

    Pickle& out_;
    const std::string& bytes_;
    const std::string& file_;
    std::size_t at_ = 0;
    std::size_t begin_ = 0;  ///< of the instruction
    std::vector<std::uint32_t> stack_;
    std::vector<std::size_t> marks_;
    std::unordered_map<std::uint32_t, std::uint32_t> memo_;
};

Pickle::Pickle(std::string bytes, const std::string& file) : bytes_(std::move(bytes)) {
    Unpickling(*this, file).run();
}

const Pickle::Value* Pickle::find(const Value& map, std::string_view key) const {
    if (map.kind != Kind::Map) return nullptr;
    for (std::size_t i = map.items.size(); i > 1; i -= 2) {  // the last of equal keys counts
        const Value& name = values_[map.items[i - 2]];
        if (name.kind == Kind::Text && name.text == key) return &values_[map.items[i - 1]];
    }
    return nullptr;
}

std::int64_t Pickle::number(const Value& map, std::string_view key, std::int64_t otherwise) const {
    const Value* const value = find(map, key);
    return value != nullptr && value->kind == Kind::Number ? value->whole : otherwise;
}

std::string_view Pickle::text(const Value& map, std::string_view key) const {
    const Value* const value = find(map, key);
    return value != nullptr && value->kind == Kind::Text ? value->text : std::string_view();
}

}  // namespace debubble::profile
