/** The commands of docs/STORES.md that write a store, typed into a shell verbatim. */
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { runShell } from '../fixtures/run-shell.js';
import { fromCi } from '../fixtures/scale.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';
import { referenceOrder } from '../laws/reference-order.js';

const directory = useTestDirectory();
const text = readFileSync(new URL('../../docs/STORES.md', import.meta.url), 'utf8');
const script = /## Writing\n\n```sh\n([^`]+)```/.exec(text)?.[1] ?? '';

describe('the commands that write a store', () => {
  it.runIf(fromCi)('make one that gives the records in the order of its seed', async () => {
    mkdirSync(directory.path('site'));
    const names = [0, 1, 2].map((i) => `part-${i}`);
    const inputs = names.map((name) => Buffer.from(Array.from({ length: 90 }, (_, i) => `"${name} ${i}"\n`).join('')));
    for (const [i, name] of names.entries()) writeFileSync(directory.path('site', `${name}.jsonl`), inputs[i] ?? '');
    const setup =
      'set -o errexit -o pipefail; node=$1 command=$2; pileshuf() { "$node" "$command" "$@" -q; }; cd "$SITE"';
    const { exitCode, stderr } = await runShell(`${setup}\n${script}`, [], { SITE: directory.path('site') });
    expect({ exitCode, stderr }).toEqual({ exitCode: 0, stderr: '' });
    const ids = ['part-0.jsonl', 'part-1.jsonl', 'part-2'];
    const expected = Buffer.concat(referenceOrder(inputs, '42', 0x0a, ids));
    expect(readFileSync(directory.path('site', 'shuffled.jsonl')).equals(expected)).toBe(true);
  });
});
