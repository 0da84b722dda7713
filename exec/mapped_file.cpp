#include "exec/mapped_file.h"

#include <fmt/format.h>
#include <boost/interprocess/file_mapping.hpp>
#include <boost/interprocess/mapped_region.hpp>

#include "exec/bad_file.h"

namespace debubble::exec {
namespace fs = std::filesystem;
namespace ipc = boost::interprocess;

struct MappedFile::Region {
    ipc::mapped_region region;
};

MappedFile::MappedFile(const fs::path& path) : path_(path) {
    std::error_code error;
    if (!fs::exists(path, error)) throw bad_file(path, "no such file");
    if (!fs::is_regular_file(path, error)) throw bad_file(path, "not a regular file");
    if (fs::file_size(path, error) == 0) return;  // which cannot be mapped
    try {
        const ipc::file_mapping mapping(path.c_str(), ipc::read_only);
        region_ = std::make_unique<Region>(Region{ipc::mapped_region(mapping, ipc::read_only)});
    } catch (const ipc::interprocess_exception& problem) {
        throw WorldError(fmt::format("{}: cannot be read: {}", path.string(), problem.what()));
    }
    bytes_ = {static_cast<const char*>(region_->region.get_address()), region_->region.get_size()};
}

MappedFile::~MappedFile() = default;
MappedFile::MappedFile(MappedFile&&) noexcept = default;
MappedFile& MappedFile::operator=(MappedFile&&) noexcept = default;

}  // namespace debubble::exec
