// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXAMPLES_PLAN_MODEL_TFLITE_BUILDER_HPP
#define SUBLET_EXAMPLES_PLAN_MODEL_TFLITE_BUILDER_HPP

/// Makes small TensorFlow Lite files for tests, valid and wrong ones, field by field.

#include <flatbuffers/flatbuffer_builder.h>

#include <cstddef>
#include <cstdint>
#include <string>
#include <utility>
#include <vector>

namespace plan_model {

using tensor_numbers = std::vector<std::int32_t>;

struct made_buffer {
    std::size_t bytes = 0;
    std::uint64_t offset = 0, size = 0; ///< of contents behind the tables
};

struct made_tensor {
    std::string name;
    tensor_numbers shape = {4};
    std::uint8_t type = 0; ///< FLOAT32
    std::uint32_t buffer = 0;
    bool is_variable = false;
    tensor_numbers signature = {};
    bool has_rank = false, is_sparse = false;
    std::size_t times = 1; ///< so many tensors share this table
};

struct made_code {
    std::int8_t short_code = 0;
    std::int32_t long_code = 0;
    std::string custom = {};
};

struct made_operator {
    std::uint32_t code = 0;
    tensor_numbers inputs, outputs;
    std::vector<std::uint8_t> mutating = {};
    std::uint8_t options_type = 0; ///< 0: none
    tensor_numbers options = {};   ///< fields of 32 bits
    std::size_t times = 1;         ///< so many operators share this table
};

struct made_subgraph {
    std::vector<made_tensor> tensors = {};
    tensor_numbers inputs = {}, outputs = {};
    std::vector<made_operator> operators = {};
};

struct made_model {
    std::uint32_t version = 3;
    std::vector<made_code> codes = {};
    std::vector<made_subgraph> subgraphs = {made_subgraph()};
    std::vector<made_buffer> buffers = {made_buffer()}; ///< the first is always empty

    made_subgraph& main() { return subgraphs.front(); }

    /// A tensor of the first subgraph; returns its number.
    std::int32_t tensor(made_tensor made)
    {
        main().tensors.push_back(std::move(made));
        return static_cast<std::int32_t>(main().tensors.size()) - 1;
    }
    /// An operator of the first subgraph, with a code of its own.
    made_operator& op(std::int32_t code, tensor_numbers inputs, tensor_numbers outputs)
    {
        constexpr std::int32_t first_long = 127;
        codes.push_back({static_cast<std::int8_t>(code < first_long ? code : first_long), code});
        main().operators.push_back(
            {static_cast<std::uint32_t>(codes.size() - 1), std::move(inputs), std::move(outputs)});
        return main().operators.back();
    }
    std::uint32_t buffer(std::size_t bytes)
    {
        buffers.push_back({bytes});
        return static_cast<std::uint32_t>(buffers.size() - 1);
    }
    std::string bytes() const;
};

/// Writes tables from the inside outwards.
class tflite_writer {
public:
    std::string write(made_model const& model)
    {
        place const codes = list(model.codes, [this](auto const& c) { return code(c); }),
                    subgraphs = list(model.subgraphs, [this](auto const& g) { return subgraph(g); }),
                    buffers = list(model.buffers, [this](auto const& b) { return buffer(b); });
        begin();
        add(0, model.version);
        add(1, codes);
        add(2, subgraphs);
        add(4, buffers);
        to_.Finish(end(), "TFL3");
        return {reinterpret_cast<char const*>(to_.GetBufferPointer()), to_.GetSize()};
    }

private:
    using place = flatbuffers::Offset<void>; ///< of what is written; null: nothing

    void begin() { start_ = to_.StartTable(); }
    place end() { return place(to_.EndTable(start_)); }
    static flatbuffers::voffset_t entry(int field)
    {
        return static_cast<flatbuffers::voffset_t>(4 + 2 * field);
    }
    void add(int field, place what) { to_.AddOffset(entry(field), what); }
    template <class Number>
    void add(int field, Number number)
    {
        to_.AddElement<Number>(entry(field), number);
    }

    template <class Number>
    place list(std::vector<Number> const& numbers)
    {
        return place(to_.CreateVector(numbers).o);
    }
    template <class Made, class Write>
    place list(std::vector<Made> const& all, Write write_one)
    {
        std::vector<place> written;
        for (Made const& one : all) {
            written.push_back(write_one(one));
            if constexpr (requires { one.times; })
                written.insert(written.end(), one.times - 1, written.back());
        }
        return place(to_.CreateVector(written).o);
    }
    place text(std::string const& of) { return of.empty() ? place() : place(to_.CreateString(of).o); }

    place code(made_code const& c)
    {
        place const custom = text(c.custom);
        begin();
        add(0, c.short_code);
        add(1, custom);
        add(3, c.long_code);
        return end();
    }
    place buffer(made_buffer const& b)
    {
        place const data = b.bytes == 0 ? place() : list(std::vector<std::uint8_t>(b.bytes));
        begin();
        add(0, data);
        if (b.offset != 0) add(1, b.offset);
        if (b.size != 0) add(2, b.size);
        return end();
    }
    place tensor(made_tensor const& t)
    {
        place const shape = list(t.shape), name = text(t.name),
                    signature = t.signature.empty() ? place() : list(t.signature);
        begin();
        place const sparsity = end();
        begin();
        add(0, shape);
        add(1, t.type);
        add(2, t.buffer);
        add(3, name);
        add(5, static_cast<std::uint8_t>(t.is_variable));
        if (t.is_sparse) add(6, sparsity);
        add(7, signature);
        add(8, static_cast<std::uint8_t>(t.has_rank));
        return end();
    }
    place operation(made_operator const& op)
    {
        place const inputs = list(op.inputs), outputs = list(op.outputs),
                    mutating = op.mutating.empty() ? place() : list(op.mutating);
        begin();
        for (std::size_t i = 0; i != op.options.size(); ++i) add(static_cast<int>(i), op.options[i]);
        place const options = end();
        begin();
        add(0, op.code);
        add(1, inputs);
        add(2, outputs);
        if (op.options_type != 0) {
            add(3, op.options_type);
            add(4, options);
        }
        add(7, mutating);
        return end();
    }
    place subgraph(made_subgraph const& g)
    {
        place const tensors = list(g.tensors, [this](auto const& t) { return tensor(t); }),
                    operators = list(g.operators, [this](auto const& op) { return operation(op); }),
                    inputs = list(g.inputs), outputs = list(g.outputs);
        begin();
        add(0, tensors);
        add(1, inputs);
        add(2, outputs);
        add(3, operators);
        return end();
    }

    flatbuffers::FlatBufferBuilder to_;
    flatbuffers::uoffset_t start_ = 0;
};

inline std::string made_model::bytes() const { return tflite_writer().write(*this); }

} // namespace plan_model

#endif
