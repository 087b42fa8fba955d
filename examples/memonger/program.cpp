// SPDX-License-Identifier: BSL-1.0
// Caffe2's memonger on sublet: reads a net, from a text or (if ONNX is found) a model, writes a plan into it
// by the given call, and prints the log line. Prints the replacements and the net on request.

#include "program.hpp"

#include "../command_line.hpp"
#include "../statements.hpp"
#include "memonger.hpp"

#ifdef MEMONGER_READS_ONNX
#include "../plan_model/read_onnx.hpp"
#endif

#include <algorithm>
#include <fstream>
#include <iomanip>
#include <iterator>
#include <ostream>
#include <string>

namespace memonger {
namespace {

using statements::in_quotes;

constexpr char const* usage =
    "usage: memonger CALL FILE [--log] [--print]\n"
    "\n"
    "Lets the blobs of a net share storage, or frees them, and prints what that saves.\n"
    "\n"
    "  CALL       optimize_inference_fast | optimize_inference_for_dag | compute_assignments |\n"
    "             share_grad_blobs | share_grad_and_activation_blobs | release_blobs_when_used\n"
    "  FILE       a net as text, or an ONNX model\n"
    "  --log      print which blob takes which storage\n"
    "  --print    print the resulting net\n"
    "  --version  print the name and the version\n"
    "\n"
    "Exit status: 0; 2 for bad input or usage.\n";

constexpr char const* calls[] = {
    "optimize_inference_fast", "optimize_inference_for_dag",      "compute_assignments",
    "share_grad_blobs",        "share_grad_and_activation_blobs", "release_blobs_when_used"};

struct arguments {
    std::string call, file;
    bool log = false, print = false, help = false, version = false;
};

/// Throws: net_error.
arguments read_arguments(int count, char const* const* words)
{
    arguments args;
    for (command_line::reader<net_error> reader(count, words, usage); reader.next();) {
        std::string const& word = reader.name();
        if (word == "--help" || word == "-h") args.help = true;
        else if (word == "--version") args.version = true;
        else if (word == "--log") args.log = true;
        else if (word == "--print") args.print = true;
        else if (reader.is_option()) throw net_error("unknown option " + in_quotes(word) + reader.hint());
        else if (args.call.empty()) args.call = word;
        else if (args.file.empty()) args.file = word;
        else throw net_error("more than one file: " + in_quotes(args.file) + " and " + in_quotes(word));
    }
    if (args.help || args.version) return args;
    if (args.call.empty()) throw net_error("no call is given (see --help)");
    if (std::find(std::begin(calls), std::end(calls), args.call) == std::end(calls))
        throw net_error("there is no call " + in_quotes(args.call) + " (see --help)");
    if (args.file.empty()) throw net_error("no file is given (see --help)");
    return args;
}

bool ends_with(std::string const& name, std::string const& end)
{
    return name.size() >= end.size() && name.substr(name.size() - end.size()) == end;
}

/// The net of a file, and which blobs are gradients.
struct input {
    net_def net;
    names gradients;
};

#ifdef MEMONGER_READS_ONNX
/// Operators up to the one that defines the first output are the forward part; results of later ones are
/// gradients.
input read_model(std::string const& file)
{
    plan_model::network const model = plan_model::read_onnx(file);
    input in;
    in.net.name = file.substr(file.find_last_of('/') + 1);
    bool is_backward = false;
    auto name_of = [&](sublet::value_id v) -> auto& { return model.values[v].name; };
    for (auto const& operation : model.operations) {
        operator_def op;
        op.type = operation.type;
        for (auto v : operation.inputs)
            if (v != sublet::no_value) op.inputs.push_back(name_of(v));
        bool makes_output = false;
        for (auto const& row : {operation.outputs, operation.mutated})
            for (auto v : row) {
                if (v == sublet::no_value) continue;
                op.outputs.push_back(name_of(v));
                makes_output |= has_role(model.values[v].role, sublet::value_role::output);
                if (is_backward) in.gradients.insert(name_of(v));
            }
        in.net.operators.push_back(op);
        is_backward |= makes_output;
    }
    for (auto const& value : model.values) {
        if (has_role(value.role, sublet::value_role::external)) in.net.external_inputs.push_back(value.name);
        if (has_role(value.role, sublet::value_role::output)) in.net.external_outputs.push_back(value.name);
        blob_def& blob = in.net.blobs[value.name];
        blob.bytes = value.bytes == sublet::no_size ? 0 : value.bytes;
        if (value.alias_of != sublet::no_value) blob.view_of = name_of(value.alias_of);
    }
    return in;
}
#endif

input read(std::string const& file)
{
#ifdef MEMONGER_READS_ONNX
    if (ends_with(file, ".onnx")) return read_model(file);
#endif
    std::ifstream text = statements::open_text<net_error>(file);
    input in{read_net(text), {}};
    for (operator_def const& op : in.net.operators)
        for (auto const& blob : op.outputs)
            if (ends_with(blob, "_grad")) in.gradients.insert(blob);
    return in;
}

/// The log line; `mark` makes it a comment before a net.
void print_line(std::ostream& out, net_def const& net, savings const& s, char const* mark)
{
    out << mark << net.name;
    if (s.was_planned) return void(out << ": was planned already\n");
    out << ": " << s.shared_blobs << " shared blobs";
    auto const mebibytes = [](std::uint64_t bytes) { return static_cast<double>(bytes) / 1048576; };
    if (s.has_sizes && s.before != 0)
        out << std::fixed << std::setprecision(2) << ", " << mebibytes(s.before) << " MiB before, "
            << mebibytes(s.after) << " MiB after, saved "
            << 100 * (1 - static_cast<double>(s.after) / static_cast<double>(s.before)) << " %";
    out << '\n';
}

void run(arguments const& args, std::ostream& out)
{
    input in = read(args.file);
    net_def& net = in.net;
    auto const is_gradient = [&](std::string const& blob) { return in.gradients.count(blob) != 0; };
    char const* const mark = args.print ? "# " : "";
    std::string const& call = args.call;
    if (call == "release_blobs_when_used") {
        std::size_t const freed = release_blobs_when_used(net, {});
        out << mark << net.name << ": " << freed << " blobs freed\n";
    } else {
        savings const result = call == "optimize_inference_fast"      ? optimize_inference_fast(net, {})
                               : call == "optimize_inference_for_dag" ? optimize_inference_for_dag(net, {})
                               : call == "compute_assignments"
                                   ? compute_assignments(net, {})
                                   : share_grad_blobs(net, is_gradient, {}, call != "share_grad_blobs");
        print_line(out, net, result, mark);
        if (args.log)
            for (auto const& line : result.log) out << mark << "  " << line;
    }
    if (args.print) print_net(out, net);
}

} // namespace

int run_program(int count, char const* const* words, std::ostream& out, std::ostream& err)
{
    return command_line::answer(
        "memonger", usage, out, err, [&] { return read_arguments(count, words); }, run);
}

} // namespace memonger
