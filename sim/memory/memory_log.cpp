#include "sim/memory/memory_log.h"

#include <algorithm>
#include <map>

namespace debubble::sim {

MemoryLog::MemoryLog(scenarios::AllocatorModel model, Keeps keeps)
    : records_(keeps == Keeps::Record) {
    using models::CachingAllocator;
    if (model == scenarios::AllocatorModel::PyTorchCaching)
        allocator_.emplace<CachingAllocator>();
    else if (model == scenarios::AllocatorModel::PyTorchExpandable)
        allocator_.emplace<CachingAllocator>(CachingAllocator::Segments::Expandable);
}

const models::MemoryUsage& MemoryLog::usage() const {
    return std::visit([](const auto& a) -> const models::MemoryUsage& { return a.usage(); },
                      allocator_);
}

int MemoryLog::allocate(Bytes bytes, MemoryClass held_as, std::string_view name,
                        std::string_view op) {
    const int handle = std::visit([&](auto& a) { return a.allocate(bytes); }, allocator_);
    if (!records_) return handle;
    entries_.push_back({handle, false, held_as, bytes, name, op, action_});
    if (usage().allocated > fullest_) {
        fullest_ = usage().allocated;
        fullest_entry_ = entries_.size() - 1;
    }
    return handle;
}

void MemoryLog::free(int handle) {
    if (handle == kNone) return;
    std::visit([&](auto& a) { a.free(handle); }, allocator_);
    if (records_) entries_.push_back({handle, true, {}, {}, {}, {}, action_});
}

PlayedMemory MemoryLog::result(std::size_t largest) const {
    PlayedMemory played;
    played.peak_allocated = usage().peak_allocated;
    played.peak_reserved = usage().peak_reserved;
    if (entries_.empty()) return played;
    const auto text = [](const Action* action) {
        return action != nullptr ? to_text(*action) : std::string("OPTIMIZER_STEP");
    };
    std::map<int, const Entry*> there;
    for (std::size_t i = 0; i <= fullest_entry_; ++i) {
        if (entries_[i].frees)
            there.erase(entries_[i].handle);
        else
            there[entries_[i].handle] = &entries_[i];
    }
    const auto in = [](const Action* action) {
        return action != nullptr ? *action : Action(OptimizerStep{});
    };
    std::map<int, const Action*> freed;
    for (std::size_t i = fullest_entry_ + 1; i < entries_.size(); ++i)
        if (entries_[i].frees) freed.try_emplace(entries_[i].handle, entries_[i].action);
    for (const auto& [handle, entry] : there) {
        played.at_peak[entry->held_as] += entry->bytes;
        const bool is_static = entry->name == "static";
        played.largest.push_back({is_static ? std::string(name_of(entry->held_as))
                                            : text(entry->action) + ' ' + std::string(entry->name),
                                  entry->bytes, entry->held_as});
        if (is_static) continue;
        HeldTensor& tensor = played.largest.back();
        tensor.tensor = entry->name;
        tensor.born = in(entry->action);
        if (const auto end = freed.find(handle); end != freed.end()) tensor.freed = in(end->second);
    }
    std::ranges::stable_sort(played.largest,
                             [](const auto& a, const auto& b) { return a.bytes > b.bytes; });
    if (played.largest.size() > largest) played.largest.resize(largest);
    played.action = text(entries_[fullest_entry_].action);
    played.op = entries_[fullest_entry_].op;
    return played;
}

}  // namespace debubble::sim
