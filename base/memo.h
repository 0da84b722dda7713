#pragma once

#include <list>
#include <memory>
#include <mutex>
#include <utility>

namespace debubble {

/// A cache of values that are pure functions of their keys, so that only the running time shows
/// whether they were kept. Keeps the most recently used. Thread-safe; a thread that asks for a
/// value which another thread is making waits for it.
///
/// One for the whole process is a reference to a new object that nobody deletes: taking its values
/// apart at the end would be 4 % of a sweep's work.
template <class Key, class Value>
class Memo {
public:
    explicit Memo(std::size_t capacity) : capacity_(capacity) {}

    /// `make` returns a std::unique_ptr<Value>. The value stays alive as long as
    /// the caller holds it.
    template <class Make>
    std::shared_ptr<Value> get(const Key& key, const Make& make) {
        const std::shared_ptr<Entry> entry = find(key);
        std::call_once(entry->made, [&] { entry->value = make(); });
        return entry->value;
    }

private:
    struct Entry {
        explicit Entry(const Key& k) : key(k) {}
        Key key;
        std::once_flag made;
        std::shared_ptr<Value> value;
    };

    std::shared_ptr<Entry> find(const Key& key) {
        const std::lock_guard lock(mutex_);
        for (auto entry = entries_.begin(); entry != entries_.end(); ++entry) {
            if (!((*entry)->key == key)) continue;
            entries_.splice(entries_.begin(), entries_, entry);
            return entries_.front();
        }
        entries_.push_front(std::make_shared<Entry>(key));
        if (entries_.size() > capacity_) entries_.pop_back();
        return entries_.front();
    }

    std::size_t capacity_;
    std::mutex mutex_;
    std::list<std::shared_ptr<Entry>> entries_;  ///< the most recently used first
};

}  // namespace debubble
