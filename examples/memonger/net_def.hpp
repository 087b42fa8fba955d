// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_MEMONGER_NET_DEF_HPP
#define SUBLET_EXAMPLES_MEMONGER_NET_DEF_HPP

/// A net as in Caffe2: operators name the blobs that they read and write; a blob holds the result of its last
/// writer. Independent of sublet.

#include <cstdint>
#include <iosfwd>
#include <map>
#include <stdexcept>
#include <string>
#include <vector>

namespace memonger {

struct net_error : std::runtime_error {
    using std::runtime_error::runtime_error;
};

struct net_def;

struct operator_def {
    std::string type;
    std::vector<std::string> inputs, outputs;
    std::vector<std::string> controls; ///< blobs that must be defined, and are not read
    std::string device;                ///< of the outputs; empty: the CPU
    std::vector<net_def> step_nets;    ///< of a recurrent operator: forward, backward ...
    std::map<std::string, std::string> arguments;
};

struct blob_def {
    std::uint64_t bytes = 0; ///< 0: unknown
    std::string view_of;     ///< the blob that it is a view of; empty: none
};

struct net_def {
    std::string name, type = "dag";
    std::vector<std::string> external_inputs, external_outputs;
    std::vector<operator_def> operators;
    std::map<std::string, blob_def> blobs; ///< known sizes and views
    bool is_planned = false;               ///< memonger has planned it
};

/// Reads a text of one statement per line; the text behind `#` is a comment.
///
///     net rnn dag
///     input x w
///     output y
///     size h 4096
///     op FC x w -> h @gpu:0 ^c         c is a control input
///     op RecurrentNetwork h -> y {
///       net step
///       input h
///       output s
///       op Tanh h -> s
///     }
///
/// A name does not begin with `@` or `^` and has no `=`. Nets are nested at most 1000 deep.
///
/// Throws: net_error with the line.
net_def read_net(std::istream& in);

/// Prints the same text format.
/// Throws: net_error for a name that the format cannot hold.
void print_net(std::ostream& out, net_def const& net);

} // namespace memonger

#endif
