/** Programs are found as the operating system finds them. */
import { mkdirSync, writeFileSync } from 'node:fs';
import { describe, expect, it } from 'vitest';
import { isProgram } from '#src/machine/child-program.js';
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
