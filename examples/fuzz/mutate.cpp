// SPDX-License-Identifier: BSL-1.0
#include "mutate.hpp"

#include <google/protobuf/descriptor.h>
#include <google/protobuf/message.h>

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <utility>
#include <vector>

namespace fuzz {
namespace {

constexpr std::int64_t odd_integers[] = {0,
                                         1,
                                         -1,
                                         2,
                                         3,
                                         7,
                                         64,
                                         255,
                                         65536,
                                         2147483647,
                                         2147483648,
                                         -2147483648,
                                         4294967295,
                                         4294967296,
                                         3037000500,
                                         1073741824,
                                         std::int64_t{1} << 46,
                                         std::int64_t{1} << 62,
                                         INT64_MAX,
                                         INT64_MAX - 1,
                                         INT64_MIN};

constexpr char const* odd_words[] = {"",
                                     "-1",
                                     "0",
                                     "1",
                                     "2",
                                     "-",
                                     "18446744073709551615",
                                     "18446744073709551616",
                                     "9223372036854775807",
                                     "4294967296",
                                     "4294967295",
                                     "2147483648",
                                     "4611686018427387903",
                                     "1e9",
                                     "nan",
                                     "0x10",
                                     "a",
                                     "@",
                                     "^",
                                     "->",
                                     "{",
                                     "}",
                                     "=",
                                     "\"",
                                     "#",
                                     "\xff",
                                     "0-0",
                                     "3-1",
                                     "0-9@0:1",
                                     "block=0"};

/// The bytes [begin, end) of a text.
struct piece {
    std::size_t begin, end;
    std::string in(std::string const& text) const { return text.substr(begin, end - begin); }
};

void replace(std::string& text, piece which, std::string const& by)
{
    text.replace(which.begin, which.end - which.begin, by);
}

/// Maximal runs of separators and of other characters.
std::vector<piece> pieces_of(std::string const& text, char const* separators)
{
    std::vector<piece> all;
    for (std::size_t at = 0; at < text.size();) {
        std::size_t const end = std::min(text.find_first_of(separators, at), text.size());
        if (end != at) all.push_back({at, end});
        at = end + 1;
    }
    return all;
}

using google::protobuf::FieldDescriptor;
using google::protobuf::Message;
using google::protobuf::Reflection;

struct place {
    Message* message;
    FieldDescriptor const* field;
};

/// All fields that are set, of every nested message; and some that are not.
std::vector<place> places_in(Message& root, random_source& d)
{
    std::vector<place> all;
    std::vector<Message*> messages{&root};
    for (std::size_t m = 0; m != messages.size(); ++m) { // grows during the loop
        Message& message = *messages[m];
        Reflection const& fields = *message.GetReflection();
        for (int f = 0; f != message.GetDescriptor()->field_count(); ++f) {
            FieldDescriptor const* const field = message.GetDescriptor()->field(f);
            int const size =
                field->is_repeated() ? fields.FieldSize(message, field) : fields.HasField(message, field);
            if (size != 0 || d.percent(2)) all.push_back({&message, field});
            if (field->cpp_type() != FieldDescriptor::CPPTYPE_MESSAGE) continue;
            for (int i = 0; i != size; ++i)
                messages.push_back(field->is_repeated() ? fields.MutableRepeatedMessage(&message, field, i)
                                                        : fields.MutableMessage(&message, field));
        }
    }
    return all;
}

/// A name that occurs in the graph, or an unusual one.
std::string any_name(onnx::GraphProto const& graph, random_source& d)
{
    std::vector<std::string> names{"", "Identity", "If", "alias_of_input", "writes_input", "may_inplace"};
    for (auto const& v : graph.input()) names.push_back(v.name());
    for (auto const& t : graph.initializer()) names.push_back(t.name());
    for (auto const& n : graph.node()) {
        names.insert(names.end(), n.output().begin(), n.output().end());
        names.push_back(n.op_type());
    }
    return d.one_of(names);
}

/// Changes a field that may be repeated: set(i) and add() by the type of its elements.
template <class Value>
void write(place at, int index, Value value,
           void (Reflection::*set)(Message*, FieldDescriptor const*, Value) const,
           void (Reflection::*set_one)(Message*, FieldDescriptor const*, int, Value) const,
           void (Reflection::*add)(Message*, FieldDescriptor const*, Value) const)
{
    Reflection const& fields = *at.message->GetReflection();
    if (!at.field->is_repeated()) (fields.*set)(at.message, at.field, std::move(value));
    else if (index < 0) (fields.*add)(at.message, at.field, std::move(value));
    else (fields.*set_one)(at.message, at.field, index, std::move(value));
}

void write_odd_value(place at, int index, onnx::GraphProto const& graph, random_source& d)
{
    using R = Reflection;
    std::int64_t const odd = d.percent(30) ? d.between(-8, 64) : d.one_of(odd_integers);
    double const reals[] = {0,
                            -1,
                            1e-30,
                            1e30,
                            std::numeric_limits<double>::infinity(),
                            std::numeric_limits<double>::quiet_NaN(),
                            0.5};
    double const real = d.one_of(reals);
    switch (at.field->cpp_type()) {
    case FieldDescriptor::CPPTYPE_INT32:
        return write(at, index, static_cast<std::int32_t>(odd), &R::SetInt32, &R::SetRepeatedInt32,
                     &R::AddInt32);
    case FieldDescriptor::CPPTYPE_INT64:
        return write(at, index, odd, &R::SetInt64, &R::SetRepeatedInt64, &R::AddInt64);
    case FieldDescriptor::CPPTYPE_UINT64:
        return write(at, index, static_cast<std::uint64_t>(odd), &R::SetUInt64, &R::SetRepeatedUInt64,
                     &R::AddUInt64);
    case FieldDescriptor::CPPTYPE_FLOAT:
        return write(at, index, static_cast<float>(real), &R::SetFloat, &R::SetRepeatedFloat, &R::AddFloat);
    case FieldDescriptor::CPPTYPE_DOUBLE:
        return write(at, index, real, &R::SetDouble, &R::SetRepeatedDouble, &R::AddDouble);
    case FieldDescriptor::CPPTYPE_ENUM:
        return write(at, index, d.between(0, 24), &R::SetEnumValue, &R::SetRepeatedEnumValue,
                     &R::AddEnumValue);
    case FieldDescriptor::CPPTYPE_STRING: {
        std::string text = any_name(graph, d);
        if (d.percent(20)) mutate_bytes(text, d);
        return write(at, index, std::move(text), &R::SetString, &R::SetRepeatedString, &R::AddString);
    }
    default: return;
    }
}

void mutate_field(place at, onnx::GraphProto const& graph, random_source& d)
{
    Reflection const& fields = *at.message->GetReflection();
    bool const is_message = at.field->cpp_type() == FieldDescriptor::CPPTYPE_MESSAGE;
    if (!at.field->is_repeated()) {
        if (d.percent(is_message ? 100 : 10)) return fields.ClearField(at.message, at.field);
        return write_odd_value(at, -1, graph, d);
    }
    int const size = fields.FieldSize(*at.message, at.field);
    if (size == 0) return write_odd_value(at, -1, graph, d);
    int const one = d.between(0, size - 1), other = d.between(0, size - 1);
    switch (d.between(0, is_message ? 2 : 4)) {
    case 0:
        fields.SwapElements(at.message, at.field, one, size - 1);
        return fields.RemoveLast(at.message, at.field);
    case 1: return fields.SwapElements(at.message, at.field, one, other);
    case 2:
        if (!is_message) return write_odd_value(at, -1, graph, d);
        fields.AddMessage(at.message, at.field)
            ->CopyFrom(fields.GetRepeatedMessage(*at.message, at.field, one));
        return;
    default: return write_odd_value(at, one, graph, d);
    }
}

/// Nests the graph `depth` times into a branch of a node in a graph with the same results.
void nest(onnx::GraphProto& graph, int depth)
{
    for (; depth != 0; --depth) {
        onnx::GraphProto outer;
        *outer.mutable_output() = graph.output();
        onnx::NodeProto& node = *outer.add_node();
        node.set_op_type("If");
        for (auto const& v : graph.output()) node.add_output(v.name());
        onnx::AttributeProto& branch = *node.add_attribute();
        branch.set_name("then_branch");
        branch.set_type(onnx::AttributeProto::GRAPH);
        branch.mutable_g()->Swap(&graph);
        graph.Swap(&outer);
    }
}

} // namespace

void mutate_bytes(std::string& text, random_source& d)
{
    for (int times = d.between(1, 4); times != 0; --times) {
        std::size_t const at = d.below(text.size() + 1), size = std::min(d.below(8) + 1, text.size() - at);
        switch (d.between(0, 6)) {
        case 0:
        case 1:
            if (size != 0) text[at] = static_cast<char>(text[at] ^ (1 << d.below(8)));
            break;
        case 2:
            if (size != 0) text[at] = static_cast<char>(d.number());
            break;
        case 3: text.erase(at, size); break;
        case 4: text.insert(d.below(text.size() + 1), text.substr(at, size)); break;
        case 5: text.insert(at, 1, static_cast<char>(d.number())); break;
        default:
            if (d.percent(20)) text.resize(at);
        }
    }
}

void mutate_numbers(std::string& bytes, random_source& d)
{
    for (int times = d.between(1, 4); times != 0; --times) {
        std::size_t const sizes[] = {1, 2, 4, 4, 4, 8}, size = d.one_of(sizes), numbers = bytes.size() / size;
        if (numbers == 0) continue;
        std::size_t const at = size * d.below(numbers), from = size * d.below(numbers);
        auto number_at = [&](std::size_t begin) {
            std::uint64_t number = 0;
            for (std::size_t i = size; i-- != 0;)
                number = number << 8 | static_cast<unsigned char>(bytes[begin + i]);
            return number;
        };
        std::uint64_t number = number_at(at);
        switch (d.between(0, 4)) {
        case 0: number = static_cast<std::uint64_t>(d.one_of(odd_integers)); break;
        case 1: number = d.below(8); break;
        case 2: number = number_at(from); break;
        case 3: number += static_cast<std::uint64_t>(4 * d.between(-4, 4)); break;
        default: number += static_cast<std::uint64_t>(d.between(-2, 2));
        }
        for (std::size_t i = 0; i != size; ++i) bytes[at + i] = static_cast<char>(number >> 8 * i & 0xFF);
    }
    if (d.percent(3)) bytes.resize(d.below(bytes.size() + 1));
}

void mutate_words(std::string& text, random_source& d)
{
    for (int times = d.between(1, 4); times != 0; --times) {
        auto const all = pieces_of(text, d.percent(30) ? "\n" : " \t\n,=@:-");
        if (all.empty()) {
            text += d.one_of(odd_words);
            continue;
        }
        piece const one = d.one_of(all), other = d.one_of(all);
        piece const first = one.begin < other.begin ? one : other,
                    second = one.begin < other.begin ? other : one;
        std::string const is = first.in(text), was = second.in(text);
        switch (d.between(0, 5)) {
        case 0: replace(text, one, ""); break;
        case 1: text.insert(one.end, text.substr(one.end, 1) + other.in(text)); break;
        case 2: // exchanged, the second first, because the first moves it
            replace(text, second, is);
            replace(text, first, was);
            break;
        case 3: replace(text, one, other.in(text)); break;
        case 4: replace(text, one, std::to_string(d.below(12))); break;
        default: replace(text, one, d.one_of(odd_words));
        }
    }
}

void mutate_model(onnx::ModelProto& model, random_source& d)
{
    if (d.percent(3)) return nest(*model.mutable_graph(), d.between(1, 150));
    for (int times = d.between(1, 3); times != 0; --times) {
        auto places = places_in(model, d);
        if (places.empty()) return;
        mutate_field(d.one_of(places), model.graph(), d);
    }
}

} // namespace fuzz
