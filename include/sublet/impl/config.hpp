// SPDX-License-Identifier: BSL-1.0
#ifndef SUBLET_IMPL_CONFIG_HPP
#define SUBLET_IMPL_CONFIG_HPP

/// How the definitions in impl/*.ipp are compiled.
///
///     nothing defined                    each header includes its definitions, which are inline
///     SUBLET_SEPARATE_COMPILATION        headers only declare; one source file of a program, or the CMake
///                                        target sublet::compiled, includes sublet/src.hpp
///
/// Use one form per program. If both meet by mistake, the linker keeps one of two equal functions
/// (Microsoft's refuses them), which is harmless if both were compiled with the same flags.

#if defined(SUBLET_SEPARATE_COMPILATION)
#define SUBLET_DECL
#else
#define SUBLET_DECL inline
#endif

#endif
