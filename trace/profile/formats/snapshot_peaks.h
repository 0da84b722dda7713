#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/units.h"

namespace debubble::profile {

/// The peak memory of a device's allocator while a memory snapshot recorded.
struct SnapshotPeaks {
    Bytes allocated;
    Bytes reserved;
};

/// True for bytes that begin like a pickle.
bool is_pickle(const std::string& file);

/// The peaks in a file of torch.cuda.memory._dump_snapshot (PyTorch 2.11, c10/cuda/
/// CUDACachingAllocator.cpp), of its fullest device: `segments` are the memory at the end, from
/// which `device_traces` are undone to reconstruct earlier levels, as far as its ring of events
/// goes. Throws InputError for other files.
SnapshotPeaks snapshot_peaks(const std::string& file);

/// A pickle of dictionaries, lists, tuples, texts and numbers (Python's pickletools.py, protocols 0
/// to 5 without text opcodes). Nothing is executed: an instruction that would import or call
/// something is refused.
class Pickle {
public:
    enum class Kind : std::uint8_t { None, Number, Text, List, Map };
    struct Value {
        Kind kind = Kind::None;
        double real = 0;             ///< of a Number; a truth value is 0 or 1
        std::int64_t whole = 0;      ///< of a Number that is whole
        std::string_view text = {};  ///< into the bytes
        std::vector<std::uint32_t> items =
            {};  ///< of a List; of a Map each key followed by its value
    };

    /// Throws InputError, with the offset, for bytes that are not such a pickle.
    Pickle(std::string bytes, const std::string& file);
    Pickle(const Pickle&) = delete;
    Pickle& operator=(const Pickle&) = delete;

    const Value& root() const { return values_[root_]; }
    const Value& at(std::uint32_t index) const { return values_[index]; }
    /// Null where the value is not a map or lacks the key.
    const Value* find(const Value& map, std::string_view key) const;
    /// A whole number of a map; `otherwise` where it is missing.
    std::int64_t number(const Value& map, std::string_view key, std::int64_t otherwise = 0) const;
    std::string_view text(const Value& map, std::string_view key) const;

private:
    friend class Unpickling;
    std::string bytes_;
    std::vector<Value> values_;
    std::uint32_t root_ = 0;
};

}  // namespace debubble::profile
