/** What cannot be renamed, as the table of mounts tells it. `cli/bad-places.ci.ts` has real mounts. */
import { mkdirSync, realpathSync, writeFileSync } from 'node:fs';
import { expect, it } from 'vitest';
import { areOnOneMount, renameObstacles } from '#src/machine/renames.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';

const directory = useTestDirectory();

function mountedAt(...places: string[]) {
  const lines = ['/', ...places].map((place, i) => `${i + 20} 1 8:1 / ${place} rw - ext4 /dev/sda1 rw`);
  return () => lines.join('\n');
}

it('is a file that is a mount point', () => {
  const [file, other] = ['file', 'other'].map((name) => {
    writeFileSync(directory.path(name), '');
    return realpathSync(directory.path(name));
  });
  const obstacleOf = renameObstacles(mountedAt(file ?? ''));
  expect(obstacleOf(file ?? '')).toMatch(/^it is a mount point/);
  expect(obstacleOf(other ?? '')).toBeUndefined();
});

it('leads from one mount to another, though both are of one file system', () => {
  const [out, inside] = [directory.path('out'), directory.path('out', 'inside')];
  mkdirSync(inside, { recursive: true });
  const real = realpathSync(out);
  expect(areOnOneMount(out, directory.path(), mountedAt())).toBe(true);
  expect(areOnOneMount(out, directory.path(), mountedAt(real))).toBe(false);
  expect(areOnOneMount(out, inside, mountedAt(real))).toBe(true);
  expect(areOnOneMount(out, directory.path(), mountedAt(`${real}side`))).toBe(true);
});
