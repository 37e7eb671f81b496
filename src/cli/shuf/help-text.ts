/** The help of shuf. */

/** @param program what a user types to call it. */
export function helpText(program: string): string {
  return `Usage: ${program} [OPTION]... [FILE]
  or:  ${program} -e [OPTION]... [ARG]...
  or:  ${program} -i LO-HI [OPTION]...
Writes the lines of FILE in random order. Without FILE, or if FILE is -, reads
standard input. Options and messages are those of shuf of GNU coreutils.

  -e, --echo                 shuffle the words ARG, each as a line
  -i, --input-range=LO-HI    shuffle the whole numbers from LO to HI
  -n, --head-count=COUNT     write at most COUNT lines
  -o, --output=FILE          write to FILE, which may be the input
      --random-source=FILE   derive the order from the first 1,024 bytes of FILE
  -r, --repeat               draw each line anew, so that lines come repeatedly
  -z, --zero-terminated      lines end in NUL instead of newline
      --help                 print this help
      --version              print the version

Exit status: 0 if all lines were written, else 1. docs/SHUF.md lists what differs
from GNU shuf. pileshuf --help: many inputs, compressed files, shards, resuming.
`;
}
