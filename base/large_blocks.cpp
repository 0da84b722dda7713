#include <cstdlib>
#include <new>

#if defined(__GLIBC__) && !defined(__SANITIZE_ADDRESS__) && !defined(__SANITIZE_THREAD__)
#include <cstdint>

#include <malloc.h>
#include <sys/mman.h>
#include <unistd.h>

/// The program's heap may use huge pages, where the kernel provides them on request
/// (transparent_hugepage/enabled: madvise). A prediction of some 400,000 spans touches 100 MB, each
/// page of which costs a fault: a fifth of its time with pages of 4 KiB.
namespace {

constexpr std::size_t kHugePage = std::size_t{2} << 20;
constexpr std::size_t kFirstHeap = std::size_t{256} << 20;  ///< touched only as far as it is used
constexpr std::size_t kLargestInHeap = std::size_t{32} << 20;  ///< the most that glibc takes

/// Without huge pages the memory works as well.
void ask_for_huge_pages(void* memory, std::size_t bytes) {
    const auto begin = reinterpret_cast<std::uintptr_t>(memory);
    const std::uintptr_t first = (begin + kHugePage - 1) / kHugePage * kHugePage;
    const std::uintptr_t last = (begin + bytes) / kHugePage * kHugePage;
    if (first < last) (void)madvise(reinterpret_cast<void*>(first), last - first, MADV_HUGEPAGE);
}

/// Grows the heap to the size that most predictions need, and keeps freed memory in it, so that
/// later parts of a prediction reuse it without a fault.
bool lay_out_heap() {
    mallopt(M_MMAP_THRESHOLD, static_cast<int>(kLargestInHeap));
    mallopt(M_TRIM_THRESHOLD, static_cast<int>(kFirstHeap));
    mallopt(M_TOP_PAD, static_cast<int>(kFirstHeap));
    void* const begin = sbrk(0);
    void* volatile grown = std::malloc(kHugePage);  // volatile: g++ removes an allocation without a
                                                    // use
    std::free(grown);
    const auto* const end = static_cast<const char*>(sbrk(0));
    if (end > begin) ask_for_huge_pages(begin, end - static_cast<char*>(begin));
    mallopt(M_TOP_PAD, static_cast<int>(kLargestInHeap));
    return true;
}

const bool heap_is_laid_out = lay_out_heap();

}  // namespace

// Out of line: g++ warns of a free() that it sees after a call of new.
[[gnu::noinline]] void* operator new(std::size_t bytes) {
    for (;;) {
        void* block = std::malloc(bytes > 0 ? bytes : 1);
        if (block != nullptr) {
            if (bytes >= kHugePage) ask_for_huge_pages(block, bytes);
            return block;
        }
        const std::new_handler handler = std::get_new_handler();
        if (handler == nullptr) throw std::bad_alloc();
        handler();
    }
}

[[gnu::noinline]] void operator delete(void* block) noexcept {
    std::free(block);
}

[[gnu::noinline]] void operator delete(void* block, std::size_t) noexcept {
    std::free(block);
}

#endif
