/** Programs are found as the operating system finds them, and all that they write arrives. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { ChildProgram, isProgram } from '#src/machine/child-program.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';

const directory = useTestDirectory();

describe('isProgram', () => {
  it('finds an executable file in the directories of PATH, in each of them', () => {
    mkdirSync(directory.path('a'));
    mkdirSync(directory.path('b', 'tool-directory'), { recursive: true });
    writeFileSync(directory.path('b', 'tool'), '', { mode: 0o755 });
    writeFileSync(directory.path('b', 'text'), '', { mode: 0o644 });
    const searchPath = `${directory.path('missing')}:${directory.path('a')}:${directory.path('b')}`;
    expect(isProgram('tool', searchPath)).toBe(true);
    for (const name of ['text', 'tool-directory', 'other', '']) expect(isProgram(name, searchPath), name).toBe(false);
    expect(isProgram('tool', directory.path('a'))).toBe(false);
    expect(isProgram('tool', '')).toBe(false);
  });

  it('takes a name with a slash for a path', () => {
    writeFileSync(directory.path('tool'), '', { mode: 0o755 });
    expect(isProgram(directory.path('tool'), '')).toBe(true);
    expect(isProgram('./tool', directory.path())).toBe(false);
  });

  it('finds a shell here', () => {
    expect(isProgram('sh')).toBe(true);
  });
});

describe('ChildProgram', () => {
  it.skipIf(process.platform !== 'linux').each([
    ['in large writes', 'head -c 3000000 /dev/zero'],
    ['in small writes', 'dd if=/dev/zero bs=1000 count=3000 2>/dev/null'],
  ])('hands over what a program writes %s in pieces of about 1 MiB', async (_how, script) => {
    const program = await ChildProgram.start(['sh', '-c', script]);
    const lengths: number[] = [];
    for await (const piece of program.output) lengths.push(piece.byteLength);
    await program.stop();
    expect(lengths.reduce((sum, byteLength) => sum + byteLength, 0)).toBe(3_000_000);
    for (const byteLength of lengths.slice(0, -1)) expect(byteLength).toBeGreaterThan(500_000);
  });

  it('hands over what a program wrote before a pause', async () => {
    const script = 'for i in 1 2 3 4; do printf $i; head -c 400000 /dev/zero; sleep 0.15; done; sleep 20';
    const program = await ChildProgram.start(['sh', '-c', script]);
    const pieces: Buffer[] = [];
    for await (const piece of program.output) {
      pieces.push(Buffer.from(piece));
      if (Buffer.concat(pieces).byteLength === 1_600_004) break;
    }
    await program.stop();
    const part = (i: number) => Buffer.concat([Buffer.from(`${i}`), Buffer.alloc(400_000)]);
    expect(Buffer.concat(pieces).equals(Buffer.concat([1, 2, 3, 4].map(part)))).toBe(true);
  });

  it('hands over what a program wrote before it was killed', async () => {
    const program = await ChildProgram.start(['sh', '-c', 'printf written; kill -9 $$']);
    const pieces: string[] = [];
    for await (const piece of program.output) pieces.push(Buffer.from(piece).toString());
    expect(pieces.join('')).toBe('written');
    expect(await program.ended).toEqual({ exitCode: null, signal: 'SIGKILL' });
    await program.stop();
  });
});
