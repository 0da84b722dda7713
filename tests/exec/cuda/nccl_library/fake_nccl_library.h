#pragma once

#include <nccl.h>

#include <map>
#include <mutex>
#include <string>
#include <vector>

namespace debubble::exec::nccl {

/// A libnccl.so that moves nothing: it notes what the ranks of a process ask of it. There is one in
/// a program, since the library has plain functions.
struct FakeNcclLibrary {
    struct Made {
        int ranks = 0;
        int most_ctas = 0;  ///< NCCL_CONFIG_UNDEF_INT where nothing was said
        int blocking = 0;
        int registered = 0;
        int deregistered = 0;
        bool finalized = false;
        bool destroyed = false;
        int asked = 0;  ///< times that its state was asked for since the last call
    };

    std::mutex mutex;
    int version = 22809;
    int driver = 13000;
    int calls_in_progress = 0;  ///< times that every call answers that it is still being done
    ncclResult_t of_registering = ncclSuccess;

    std::map<ncclComm_t, Made> made;
    std::vector<std::size_t> allocated;
    int freed = 0;
    std::map<std::string, std::string> environment;  ///< as the first communicator finds it

    void forget();
};

extern FakeNcclLibrary fake_nccl_library;

}  // namespace debubble::exec::nccl
