#pragma once

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

/// The processor's cores that are nearest to a GPU: those of the socket whose PCI Express it hangs
/// on. From the others, launches and copies cross the link between the sockets.
namespace debubble::exec {

/// The numbers of a list such as "0-3,8,10-11", as Linux writes lists of cores, in order; empty if
/// the text is none.
std::vector<int> cores_of_list(std::string_view list);

/// The cores beside the GPU with this PCI bus id, such as "0000:2A:00.0", as Linux tells them
/// (bus/pci/devices/ID/local_cpulist under `sys`); empty where it tells none.
std::vector<int> cores_near(const std::string& bus_id, const std::filesystem::path& sys = "/sys");

/// The cores to which a rank's thread is bound: those of `near` that are `allowed`. Empty if that
/// would be none or all of them: then the thread stays where the launcher put it.
std::vector<int> cores_to_use(const std::vector<int>& near, const std::vector<int>& allowed);

/// Binds the calling thread, and so those that it starts after this, to the cores near the GPU
/// (cores_near) among those that it may use. Does nothing where Linux tells no cores or allows none
/// of them.
void stay_near(const std::string& bus_id, const std::filesystem::path& sys = "/sys");

}  // namespace debubble::exec
