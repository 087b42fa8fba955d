// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_EXECUTION_HPP
#define SUBLET_EXECUTION_HPP

/// The reference executor, in reading order. It needs exceptions, and is apart from the rest for that reason.
///
///     program + plan -> storage in one of three modes -> your kernel, step by step -> results

// clang-format off: in the order of reading, not of the alphabet

#if !defined(__cpp_exceptions)
#error "sublet: an executor says by exceptions what went wrong in a run; compile it with exceptions"
#else

// Where storage comes from, and what can go wrong.
#include <sublet/execution/sentence.hpp>
#include <sublet/execution/memory.hpp>
#include <sublet/execution/errors.hpp>

// The program as it is run, and the bytes of its values.
#include <sublet/execution/tape.hpp>
#include <sublet/execution/poison.hpp>
#include <sublet/execution/storage.hpp>

// Is every value still what its producer left?
#include <sublet/execution/digest.hpp>
#include <sublet/execution/byte_owners.hpp>
#include <sublet/execution/watch.hpp>

// Running it.
#include <sublet/execution/cpu_call.hpp>
#include <sublet/execution/cpu.hpp>
#include <sublet/execution/synthetic.hpp>

#endif
#endif
