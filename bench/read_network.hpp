// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_BENCH_READ_NETWORK_HPP
#define SUBLET_BENCH_READ_NETWORK_HPP

/// Networks by a command-line word: resnet50:16, densenet121:forward, or the name of a file.

#include "measure.hpp"
#include "training_network.hpp"

#ifdef SUBLET_BENCH_READS_ONNX
#include "../examples/plan_model/read_onnx.hpp"
#endif

#include <sublet/core/plan.hpp>
#include <sublet/core/units.hpp>

#include <algorithm>
#include <cstddef>
#include <filesystem>
#include <stdexcept>
#include <string>

namespace bench {

using plan_model::network;

inline network read_network(std::string const& word)
{
    if (word.ends_with(".onnx")) {
#ifdef SUBLET_BENCH_READS_ONNX
        return plan_model::read_onnx(word);
#else
        throw std::runtime_error(word + ": this program was built without a reader of ONNX files");
#endif
    }
    training_options options;
    std::string name;
    for (std::size_t at = 0, end; at <= word.size(); at = end + 1) {
        end = std::min(word.find(':', at), word.size());
        std::string const part = word.substr(at, end - at);
        if (at == 0) name = part;
        else if (part == "forward") options.trains = false;
        else if (part == "operand") options.keeps = relu_keeps::operand;
        else options.batch = number_in(part, 1);
    }
    if (name == "resnet50") return resnet50(options);
    if (name == "densenet121") return densenet121(options);
    if (name == "inception") return inception(options);
    if (name == "transformer") return transformer(options);
    throw std::runtime_error(word + ": none of resnet50, densenet121, inception, transformer, FILE.onnx");
}

inline std::string name_of(std::string const& word)
{
    return word.ends_with(".onnx") ? std::filesystem::path(word).stem().string() : word;
}

/// Bytes of external storage, each root once.
inline byte_count external_bytes(network const& net)
{
    byte_count sum = 0;
    for (auto const& v : net.values)
        if (has_role(v.role, value_role::external) && v.alias_of == no_value && v.bytes != sublet::no_size)
            sum += v.bytes;
    return sum;
}

} // namespace bench

#endif
