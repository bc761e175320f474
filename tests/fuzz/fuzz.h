/* A fuzz target: a function over bytes that must not crash, hang or leak.
 * One target a file, tests/fuzz/NAME.c; its corpus is tests/fuzz/corpus/NAME/.
 */
#ifndef WARY_TESTS_FUZZ_FUZZ_H
#define WARY_TESTS_FUZZ_FUZZ_H

#include <stddef.h>
#include <stdint.h>

/** LLVMFuzzerTestOneInput: the name that libFuzzer calls. Returns 0. */
int LLVMFuzzerTestOneInput(const uint8_t *bytes, size_t len_bytes);

#endif
