// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_WORKFLOW_READ_WFFORMAT_HPP
#define SUBLET_EXAMPLES_WORKFLOW_READ_WFFORMAT_HPP

/// WfFormat of WfCommons, https://github.com/wfcommons/WfFormat, versions 1.3 to 1.6, in JSON. Read is which
/// task makes and reads which file, the sizes, and which tasks wait for which; also how long each ran, if the
/// graph takes durations. All else is skipped.
///
///     workflow.specification      1.5, 1.6: tasks have ids, list the ids of files and of other tasks; the
///                                 sizes are in a list of files
///     workflow.tasks              1.3, 1.4: tasks have names, to which others refer (or to ids, where names
///                                 repeat), and files with a link, which is input or output, and a size
///
/// A task waits for its parents and for those of which it is a child, whether it reads a file of theirs or
/// not. A file is called by its path and name. Runtimes are in seconds, at a task (1.3, 1.4) or in the list
/// of workflow.execution (1.5, 1.6), and become whole milliseconds, at least 1.

#include "task_graph.hpp"

#include <string_view>

namespace workflow {

/// Throws: input_error, with the place in the text if it is no JSON, else with the task, file or member.
void read_wfformat(graph_builder& graph, std::string_view text);

} // namespace workflow

#endif
