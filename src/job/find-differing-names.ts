/** Finds the first names that differ in two aligned files whose sums of names differ: reads both once more. */

import { InputError } from '../errors.js';
import { thenAlwaysAsync } from '../floor/cleanup.js';
import { yieldAndCheckAbort } from '../floor/pause.js';
import { LINES_OF_READ } from '../formats/framings/fastq.js';
import { readHeader } from '../formats/header.js';
import { headerRuleOf, type RecordFormat } from '../formats/record-format.js';
import { closeFile } from '../io/files.js';
import { openInput } from '../places/inputs/input-kinds.js';
import { decodedPieces, storedPieces } from '../sources/decoded-pieces.js';
import type { FileInput } from '../sources/input.js';

export interface NamedReads {
  readonly input: FileInput;
  readonly format: RecordFormat;
}

interface ReadName {
  readonly name: string;
  readonly position: number;
}

export async function findDifferingNames(
  one: NamedReads,
  other: NamedReads,
  signal: AbortSignal | undefined,
): Promise<InputError> {
  const [names, others] = [namesOf(one, signal), namesOf(other, signal)];
  const find = async (): Promise<InputError> => {
    for (let ordinal = 1; ; ordinal++) {
      const [{ value: first }, { value: second }] = [await names.next(), await others.next()];
      if (!first || !second)
        return new InputError(
          'ERR_INPUT_CHANGED',
          `${one.input.path} or ${other.input.path}: the input changed during the job; start again when nothing writes to it`,
        );
      if (keyOf(first.name) !== keyOf(second.name)) return differingNamesError(ordinal, [one, first], [other, second]);
    }
  };
  return thenAlwaysAsync(find, async () => {
    await names.return(undefined);
    await others.return(undefined);
  });
}

function differingNamesError(ordinal: number, ...pair: [NamedReads, ReadName][]): InputError {
  const reads = pair.map(
    ([{ input }, { name, position }]) =>
      `read ${ordinal} of ${input.path} (byte ${position}) is ${JSON.stringify(name)}`,
  );
  return new InputError(
    'ERR_NAMES_DIFFER',
    `${reads.join(', and ')}; expected the same name but for /1 and /2 at its end: put the mates in one order, as repair.sh of BBTools does, or give \`records.linesPerRecord\` ${LINES_OF_READ}, which compares no names`,
  );
}

/** The name that both mates have, as `sumOfNames` of the kernel takes it. */
function keyOf(name: string): string {
  return name.replace(/^([SED]RR\d+\.\d+)\.[12]$|\/[12]$/, '$1');
}

async function* namesOf(
  { input, format }: NamedReads,
  signal: AbortSignal | undefined,
): AsyncGenerator<ReadName, undefined> {
  const file = openInput(input.path);
  const memory = { reserve: () => true, budgetFor: String };
  const pieces = decodedPieces(storedPieces(file), input.codec, memory);
  try {
    let position = 0;
    let rest: Uint8Array = new Uint8Array();
    if (format.header !== undefined) {
      const read = await readHeader(pieces, headerRuleOf(format.header), input.path);
      position = read.header.byteLength;
      rest = read.rest;
    }
    for (let line = 0; ; ) {
      let start = 0;
      for (let end = rest.indexOf(0x0a); end >= 0; end = rest.indexOf(0x0a, start)) {
        if (line % LINES_OF_READ === 0) yield { name: nameIn(rest.subarray(start, end)), position: position + start };
        line += 1;
        start = end + 1;
      }
      const { done, value } = await pieces.next();
      if (done === true) return undefined;
      rest = Buffer.concat([rest.subarray(start), value]);
      position += start;
      await yieldAndCheckAbort(signal);
    }
  } finally {
    await pieces.return();
    closeFile(file);
  }
}

function nameIn(line: Uint8Array): string {
  return /^@([^\0- ]*)/.exec(Buffer.from(line).toString('latin1'))?.[1] ?? '';
}
