#pragma once

#include <functional>
#include <list>
#include <memory>
#include <mutex>
#include <utility>

namespace debubble {

/// A cache of values that are pure functions of their keys, so that only the running time shows
/// whether they were cached. Keeps the most recently used. Thread-safe; a thread that asks for a
/// value which another thread is making waits for it. Where values have weights, the cache holds at
/// most `most_weight` of them together, but always the latest one.
///
/// A process-wide cache is a reference to a new object that nobody deletes: destroying its values
/// at exit would be 4 % of a sweep's work.
template <class Key, class Value>
class Memo {
public:
    using Weigh = std::function<std::size_t(const Value&)>;
    explicit Memo(std::size_t capacity) : capacity_(capacity) {}
    Memo(std::size_t capacity, std::size_t most_weight, Weigh weigh)
        : capacity_(capacity), most_weight_(most_weight), weigh_(std::move(weigh)) {}

    /// `make` returns a std::unique_ptr<Value>. The value stays alive as long as
    /// the caller holds it.
    template <class Make>
    std::shared_ptr<Value> get(const Key& key, const Make& make) {
        const std::shared_ptr<Entry> entry = find(key);
        std::call_once(entry->made, [&] {
            entry->value = make();
            if (weigh_) add_weight(*entry);
        });
        return entry->value;
    }

private:
    struct Entry {
        explicit Entry(const Key& k) : key(k) {}
        Key key;
        std::once_flag made;
        std::shared_ptr<Value> value;
        std::size_t weight = 0;
        bool kept = true;
    };

    std::shared_ptr<Entry> find(const Key& key) {
        const std::lock_guard lock(mutex_);
        for (auto entry = entries_.begin(); entry != entries_.end(); ++entry) {
            if (!((*entry)->key == key)) continue;
            entries_.splice(entries_.begin(), entries_, entry);
            return entries_.front();
        }
        entries_.push_front(std::make_shared<Entry>(key));
        if (entries_.size() > capacity_) drop_last();
        return entries_.front();
    }

    void add_weight(Entry& entry) {
        const std::size_t weight = weigh_(*entry.value);
        const std::lock_guard lock(mutex_);
        if (!entry.kept) return;
        entry.weight = weight;
        weight_ += weight;
        while (weight_ > most_weight_ && entries_.back().get() != &entry) drop_last();
    }

    void drop_last() {
        entries_.back()->kept = false;
        weight_ -= entries_.back()->weight;
        entries_.pop_back();
    }

    std::size_t capacity_;
    std::size_t most_weight_ = 0;
    Weigh weigh_;
    std::size_t weight_ = 0;  ///< of all entries
    std::mutex mutex_;
    std::list<std::shared_ptr<Entry>> entries_;  ///< the most recently used first
};

}  // namespace debubble
