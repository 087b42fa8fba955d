// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_WRITTEN_FILE_HPP
#define SUBLET_EXAMPLES_WRITTEN_FILE_HPP

#include <filesystem>
#include <fstream>
#include <system_error>

namespace written {

template <class Write>
bool write_to(std::filesystem::path const& file, Write& write)
{
    std::ofstream out(file, std::ios::binary);
    if (out) write(out);
    out.close();
    return bool(out);
}

/// Writes a file by `write(stream)`. A regular file is written under another name (`file.part`) and renamed
/// at the end: after a failure or Ctrl-C, it is what it was before. False if it cannot be written.
template <class Write>
[[nodiscard]] bool write_file(std::filesystem::path const& file, Write write)
{
    namespace fs = std::filesystem;
    std::error_code error;
    fs::file_status const before = fs::symlink_status(file, error);
    if (fs::exists(before) && !fs::is_regular_file(before)) return write_to(file, write); // a device, a link

    struct part_file {
        fs::path name;
        ~part_file()
        {
            std::error_code ignored; // after renaming, there is none
            fs::remove(name, ignored);
        }
    } const part{fs::path(file) += ".part"};
    if (!write_to(part.name, write)) return false;
    if (fs::exists(before)) fs::permissions(part.name, before.permissions(), error);
    fs::rename(part.name, file, error);
    return !error;
}

} // namespace written

#endif
