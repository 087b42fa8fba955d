// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_PACK_FORMATS_HPP
#define SUBLET_EXAMPLES_PACK_FORMATS_HPP

#include "csv_rows.hpp"

#include <cstddef>
#include <cstdint>
#include <iterator>
#include <string>
#include <string_view>

namespace pack {

enum class format : std::uint8_t {
    csv,        ///< a table as read_lifetimes.hpp describes it
    minimalloc, ///< the same without quotes; written as MiniMalloc writes it
    omnimalloc, ///< the table that omnimalloc saves
    idealloc,   ///< binary jobs, .plc
    tflm        ///< binary offsets of TensorFlow Lite Micro
};
inline constexpr std::string_view format_names[] = {"csv", "minimalloc", "omnimalloc", "idealloc", "tflm"};

inline std::string name_of(format which)
{
    return std::string(format_names[static_cast<std::size_t>(which)]);
}

/// Throws: input_error.
inline format read_format(std::string const& option, std::string const& name)
{
    for (std::size_t f = 0; f != std::size(format_names); ++f)
        if (format_names[f] == name) return static_cast<format>(f);
    throw input_error("option " + option + " is csv, minimalloc, omnimalloc, idealloc or tflm, not " +
                      in_quotes(name));
}

inline format format_of_ending(std::string_view file)
{
    return file.ends_with(".plc") ? format::idealloc : file.ends_with(".tflm") ? format::tflm : format::csv;
}

} // namespace pack

#endif
