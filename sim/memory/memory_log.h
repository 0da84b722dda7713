#pragma once

#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/purposes.h"
#include "models/memory/allocator.h"
#include "scenarios/software/framework.h"
#include "schedule/action.h"
#include "sim/memory/played_memory.h"

namespace debubble::sim {

/// An allocator with a record of its requests, from which the tensors at its fullest moment can be
/// listed afterwards.
class MemoryLog {
public:
    static constexpr int kNone = -1;

    enum class Keeps { Record, Usage };  ///< without a record there is no result()

    explicit MemoryLog(scenarios::AllocatorModel model, Keeps keeps = Keeps::Record);

    bool records() const { return records_; }
    /// The following requests belong to this action; nullptr means the optimizer step.
    void now_in(const Action* action) { action_ = action; }
    /// Names must outlive the log. `op` is the kernel that the tensor is for.
    int allocate(Bytes bytes, MemoryClass held_as, std::string_view name, std::string_view op);
    void free(int handle);  ///< accepts kNone

    PlayedMemory result(std::size_t largest) const;
    const models::MemoryUsage& usage() const;

private:
    struct Entry {
        int handle = kNone;
        bool frees = false;
        MemoryClass held_as{};
        Bytes bytes;
        std::string_view name;
        std::string_view op;
        const Action* action = nullptr;
    };

    std::variant<models::ExactAllocator, models::CachingAllocator> allocator_;
    bool records_;
    std::vector<Entry> entries_;
    Bytes fullest_;
    std::size_t fullest_entry_ = 0;
    const Action* action_ = nullptr;
};

}  // namespace debubble::sim
