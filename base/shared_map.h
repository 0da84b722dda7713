#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <utility>

namespace debubble {

/// A map whose copies share their entries until one of them is changed. A copy costs what a
/// pointer costs.
template <class Key, class Value>
class SharedMap {
public:
    using Entries = std::map<Key, Value>;

    SharedMap() = default;
    SharedMap(Entries entries) : entries_(std::make_shared<Entries>(std::move(entries))) {}

    auto begin() const { return entries().begin(); }
    auto end() const { return entries().end(); }
    std::size_t size() const { return entries().size(); }
    auto find(const Key& key) const { return entries().find(key); }
    bool contains(const Key& key) const { return entries().contains(key); }
    const Value& at(const Key& key) const { return entries().at(key); }

    /// The value of a key, which is inserted if missing. Ends the sharing.
    Value& operator[](const Key& key) {
        if (!entries_ || entries_.use_count() > 1) entries_ = std::make_shared<Entries>(entries());
        return (*entries_)[key];
    }

    friend bool operator==(const SharedMap& a, const SharedMap& b) {
        return a.entries_ == b.entries_ || a.entries() == b.entries();
    }

private:
    const Entries& entries() const {
        static const Entries kNone;
        return entries_ ? *entries_ : kNone;
    }

    std::shared_ptr<Entries> entries_;
};

}  // namespace debubble
