// PLUMB_CLONES before a function compiles it for several generations of processors; the best is taken
// when the program starts. The arithmetic is the same on all of them.
#pragma once

#if defined(__x86_64__) && defined(__GNUC__) && !defined(__clang__) && !defined(__SANITIZE_ADDRESS__) && \
    !defined(__SANITIZE_THREAD__)
#define PLUMB_CLONES __attribute__((target_clones("default", "arch=x86-64-v3", "arch=x86-64-v4")))
#else
#define PLUMB_CLONES
#endif

// For what such functions call: a function, or a lambda (after its parameters).
#define PLUMB_INLINE inline __attribute__((always_inline))
#define PLUMB_LAMBDA __attribute__((always_inline))

// A loop that no element goes through, or seldom: a card's compiler would write it out, and code is what the
// bundle has most of.
#ifdef __CUDA_ARCH__
#define PLUMB_ROLLED _Pragma("unroll 1")
#else
#define PLUMB_ROLLED
#endif
