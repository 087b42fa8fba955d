// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_WORKFLOW_READ_TEXT_HPP
#define SUBLET_EXAMPLES_WORKFLOW_READ_TEXT_HPP

/// One line a task: its name, the files that it makes, and those that it reads, separated by tabs. Names have
/// no blanks; those of files no colon. A task may be listed before those that make what it reads. Empty lines
/// are skipped, and those that begin with `#`. A name may be followed by a blank and a duration, in any unit.
///
///     fetch   raw:4096                a file that is made has a size
///     pack @7 all:900   raw           takes seven times as long as a task of @1
///     clean   rows:1024 log:16 raw
///     count   table:8   rows geo:512  no task makes geo: it is an input, and has its size here

#include "task_graph.hpp"

#include <string_view>

namespace workflow {

/// Throws: input_error, with the line.
void read_text(graph_builder& graph, std::string_view text);

} // namespace workflow

#endif
