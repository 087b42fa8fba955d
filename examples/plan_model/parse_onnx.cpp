// SPDX-License-Identifier: BSL-1.0

// Parses ONNX files. Protobuf's parser is recursive: the depth of graphs is counted first.

#include "model_file.hpp"
#include "read_onnx.hpp"

#include <google/protobuf/io/coded_stream.h>
#include <google/protobuf/stubs/common.h>
#include <onnx/onnx_pb.h>

#include <algorithm>
#include <climits>
#include <cstdint>
#include <iterator>
#include <string>
#include <vector>

#if GOOGLE_PROTOBUF_VERSION < 4022000
#include <google/protobuf/stubs/logging.h>
#endif

namespace plan_model {
namespace {

/// Whether graphs are nested deeper than `deepest`, through the attributes of nodes.
///
/// Protobuf refuses deep nesting without naming the reason. So this function walks the bytes and skips all
/// that contains no graph.
bool has_graphs_below(int deepest, std::string const& bytes)
{
    enum kind { model, training, function, graph, node, attribute };
    struct {
        kind outer;
        std::uint32_t field;
        kind inner;
    } constexpr fields[] = {{model, 7, graph},     {model, 20, training}, {model, 25, function},
                            {training, 1, graph},  {training, 2, graph},  {function, 7, node},
                            {graph, 1, node},      {node, 5, attribute},  {attribute, 6, graph},
                            {attribute, 11, graph}};
    struct message {
        kind what;
        int end, depth;
    };
    google::protobuf::io::CodedInputStream in(reinterpret_cast<std::uint8_t const*>(bytes.data()),
                                              static_cast<int>(bytes.size()));
    std::vector<message> open{{model, static_cast<int>(bytes.size()), 0}};
    while (!open.empty()) {
        message const outer = open.back();
        if (in.CurrentPosition() >= outer.end) {
            open.pop_back();
            continue;
        }
        std::uint32_t const tag = in.ReadTag();
        std::uint32_t length = 0;
        std::uint64_t number = 0;
        bool is_read = tag != 0;
        switch (tag & 7) { // the wire type
        case 0: is_read = is_read && in.ReadVarint64(&number); break;
        case 1: is_read = in.Skip(8); break;
        case 5: is_read = in.Skip(4); break;
        case 2: is_read = in.ReadVarint32(&length) && length <= INT_MAX; break;
        default: is_read = false;
        }
        if (!is_read) break; // the parser reports it
        if ((tag & 7) != 2) continue;
        auto const* const known = std::find_if(std::begin(fields), std::end(fields), [&](auto const& f) {
            return f.outer == outer.what && f.field == tag >> 3;
        });
        if (known == std::end(fields)) {
            if (!in.Skip(static_cast<int>(length))) break;
            continue;
        }
        int const end =
            in.CurrentPosition() + std::min(static_cast<int>(length), outer.end - in.CurrentPosition());
        open.push_back({known->inner, end, outer.depth + (known->inner == graph)});
        if (open.back().depth > deepest) return true;
    }
    return false;
}

} // namespace

onnx::ModelProto parse_onnx(std::string const& file) { return parse_onnx(file, contents_of(file)); }

onnx::ModelProto parse_onnx(std::string const& file, std::string bytes)
{
#if GOOGLE_PROTOBUF_VERSION < 4022000
    google::protobuf::SetLogHandler(nullptr); // errors are reported once, by this program
#endif
    constexpr int deepest = 100;
    if (bytes.empty()) throw input_error(file + ": is empty");
    if (bytes.size() > INT_MAX)
        throw input_error(file + ": is larger than 2 GiB, which is all that protobuf reads");
    if (has_graphs_below(deepest, bytes))
        throw input_error(file + ": its graphs are nested more than " + std::to_string(deepest) + " deep");
    google::protobuf::io::CodedInputStream in(reinterpret_cast<std::uint8_t const*>(bytes.data()),
                                              static_cast<int>(bytes.size()));
    in.SetRecursionLimit(4 * deepest); // three messages per graph, and its other nested messages
    onnx::ModelProto model;
    if (!model.ParseFromCodedStream(&in) || !in.ConsumedEntireMessage())
        throw input_error(file + ": is truncated, or no ONNX file");
    if (!model.has_graph()) throw input_error(file + ": holds no ONNX graph");
    return model;
}

} // namespace plan_model
