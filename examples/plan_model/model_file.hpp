// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_PLAN_MODEL_MODEL_FILE_HPP
#define SUBLET_EXAMPLES_PLAN_MODEL_MODEL_FILE_HPP

#include "network.hpp"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <system_error>
#include <utility>

namespace plan_model {

/// The bytes of a model's file, read once, so it may be a pipe.
///
/// Throws: input_error, naming the file.
inline std::string contents_of(std::string const& file)
{
    std::error_code none;
    if (std::filesystem::is_directory(file, none))
        throw input_error(file + ": is a directory, not a model");
    std::ifstream in(file, std::ios::binary);
    if (!in) throw input_error(file + ": cannot be read, or does not exist");
    std::ostringstream text;
    text << in.rdbuf();
    if (in.bad()) throw input_error(file + ": cannot be read to its end");
    return std::move(text).str();
}

} // namespace plan_model

#endif
