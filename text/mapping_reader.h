#pragma once

#include <concepts>
#include <cstdint>
#include <limits>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/units.h"
#include "text/document.h"

/// Reads one mapping into a struct, key by key, and keeps every mistake with its place. Fields
/// whose key is absent or wrong keep their value.
namespace debubble::text {

/// The words of an enum, in the order in which a person is shown them.
template <class E>
using Words = std::span<const std::pair<std::string_view, E>>;

class MappingReader {
public:
    /// `name` is the mapping's name in sentences: "model", "parallel". A Null is read as an empty
    /// map; anything else that is not a map is a mistake. Both `mapping` and `mistakes` must
    /// outlive the reader, and so must every key given to it.
    MappingReader(NodePtr mapping, std::string_view name, Mistakes& mistakes);

    /// True if the key is given. A Null, written `key:` or `key: ~`, counts as not given.
    bool has(std::string_view key) const {
        const NodePtr found = mapping_->get(key);
        return found && !found->is(Node::Kind::Null);
    }
    bool good() const { return mistakes_->count() == mistakes_at_start_; }

    /// True if the key is present and its value is good. Null counts as absent.
    template <std::integral T>
    bool whole(std::string_view key, T& out, std::type_identity_t<T> least,
               std::type_identity_t<T> most) {
        std::int64_t value = 0;
        if (!read_whole(key, value, least, most)) return false;
        out = static_cast<T>(value);
        return true;
    }
    bool real(std::string_view key, double& out, double least, double most);
    bool flag(std::string_view key, bool& out);
    bool text(std::string_view key, std::string& out);     ///< without control characters
    bool bytes(std::string_view key, Bytes& out);          ///< up to 1e15
    bool rate(std::string_view key, BytesPerSecond& out);  ///< positive
    bool duration(std::string_view key, Duration& out);
    bool flop_rate(std::string_view key, double& out);
    bool power(std::string_view key, double& out);
    bool span(std::string_view key, double& seconds);
    bool count(std::string_view key, std::int64_t& out);
    /// `what` is the word's name in sentences, where it is not the key.
    template <class E>
    bool word(std::string_view key, E& out, std::type_identity_t<Words<E>> words,
              std::string_view what = {}) {
        std::vector<std::string> known;
        for (const auto& [name, value] : words) known.emplace_back(name);
        const auto found = read_word(key, known, what.empty() ? key : what);
        if (found >= known.size()) return false;
        out = words[found].second;
        return true;
    }
    bool wholes(std::string_view key, std::vector<int>& out, int least, int most);
    bool reals(std::string_view key, std::vector<double>& out, double least, double most);
    bool texts(std::string_view key, std::vector<std::string>& out);

    /// The value of any kind; null if absent or Null. The key counts as known.
    NodePtr value(std::string_view key);
    /// The value if it is a scalar, else a mistake and null.
    NodePtr scalar(std::string_view key, std::string_view wanted);

    /// Complains if the key is absent.
    void demand(std::string_view key);
    /// The mapping takes values that it does not give from `outer`, and mistakes in them stand
    /// there.
    void inherits(NodePtr outer) { outer_ = std::move(outer); }
    /// A mistake at the value of `key`, or at the mapping if it is absent.
    void complain(std::string_view key, std::string message,
                  Diagnostic::Kind kind = Diagnostic::Kind::Mistake);
    /// The same for a word in the value that is not one of the `known`; `what` as for word().
    void complain_unknown(std::string_view key, std::string_view what, std::string_view word,
                          std::span<const std::string> known);
    /// Complains about every key that was never asked for, and suggests the key that was probably
    /// meant.
    void finish();
    /// The keys that are given and were never asked for, in their order.
    std::vector<std::string_view> unasked() const;

    const NodePtr& mapping() const { return mapping_; }
    Mistakes& mistakes() const { return *mistakes_; }

private:
    bool read_whole(std::string_view key, std::int64_t& out, std::int64_t least, std::int64_t most);
    std::size_t read_word(std::string_view key, const std::vector<std::string>& known,
                          std::string_view what);
    template <class T>
    bool numbers(std::string_view key, std::vector<T>& out, T least, T most, std::string_view what,
                 auto parse);
    template <class T>
    bool quantity(std::string_view key, T& out, std::string_view wanted, auto parse);

    NodePtr mapping_;
    NodePtr outer_;
    std::string_view name_;
    Mistakes* mistakes_;
    std::size_t mistakes_at_start_;
    std::vector<std::string_view> known_;
};

/// "unknown <what> 'word'; did you mean 'x'?" or "...; known: x, y"; `where`, if any, comes after
/// the word.
std::string unknown_word(std::string_view what, std::string_view word,
                         std::span<const std::string> known, std::string_view where = {});

// Keys of earlier releases that have been removed, with their replacements.

/// The replacement of a removed key of the map with this name, as a sentence; empty for unknown
/// keys.
std::string_view instead_of_retired(std::string_view map, std::string_view key);

}  // namespace debubble::text
