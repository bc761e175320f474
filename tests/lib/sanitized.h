/* SANITIZED: 1 where this program runs with AddressSanitizer. */
#ifndef WARY_TESTS_LIB_SANITIZED_H
#define WARY_TESTS_LIB_SANITIZED_H

#if defined(__SANITIZE_ADDRESS__)
#define SANITIZED 1
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define SANITIZED 1
#endif
#endif
#ifndef SANITIZED
#define SANITIZED 0
#endif

#endif
