#include "base/parallel.h"

#include <algorithm>
#include <exception>
#include <mutex>
#include <thread>
#include <vector>

namespace debubble {

void run_parallel(std::size_t count, int jobs, const std::atomic<bool>* stop,
                  const std::function<void(std::size_t)>& work) {
    std::atomic<std::size_t> next{0};
    std::atomic<bool> failed{false};
    std::exception_ptr failure;
    std::mutex failure_mutex;
    const auto worker = [&] {
        while (!failed && (stop == nullptr || !*stop)) {
            const std::size_t index = next++;
            if (index >= count) return;
            try {
                work(index);
            } catch (...) {
                const std::lock_guard lock(failure_mutex);
                if (!failure) failure = std::current_exception();
                failed = true;
            }
        }
    };
    const auto cores = static_cast<int>(std::max(1u, std::thread::hardware_concurrency()));
    const auto threads = std::min<std::size_t>(count, jobs > 0 ? jobs : cores);
    {
        std::vector<std::jthread> others;
        for (std::size_t i = 1; i < threads; ++i) others.emplace_back(worker);
        worker();
    }
    if (failure) std::rethrow_exception(failure);
}

}  // namespace debubble
