#!/bin/sh
# Builds libzstd.wasm.br, and needs clang, lld, wasi-libc and brotli: on Debian 12, clang-19, lld-19, wasi-libc,
# libclang-rt-19-dev-wasm32 and brotli give the bytes that lie here. The argument is the `lib` folder of zstd 1.5.7.
set -eu
to=$(dirname "$0")/libzstd.wasm
exported=$(sed -n 's/^  \(malloc\|free\|ZSTD_[A-Za-z0-9_]*\)(.*/-Wl,--export=\1/p' "$(dirname "$0")/libzstd.ts")
# shellcheck disable=SC2086 # one word for each function
"${CC:-clang-19}" --target=wasm32-wasi -Os -mbulk-memory -msign-ext -mnontrapping-fptoint -DNDEBUG \
  -nostartfiles -Wl,--no-entry -Wl,--strip-all -Wl,-z,stack-size=131072 $exported \
  "$1"/common/entropy_common.c "$1"/common/error_private.c "$1"/common/fse_decompress.c "$1"/common/xxhash.c \
  "$1"/common/zstd_common.c "$1"/compress/*.c "$1"/decompress/*.c -o "$to"
brotli --best --force --rm "$to" -o "$to.br"
