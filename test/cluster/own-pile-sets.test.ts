/** Two attempts at a task found the same records only if all that is known of these is the same. */
import { describe, expect, it } from 'vitest';
import { isSameContent, type NamedPileSets } from '#src/cluster/own-pile-sets.js';

const FIRST: NamedPileSets = {
  pileSets: ['set-a'],
  records: 3,
  bytes: 30,
  checksum: '0000000000000001',
  longestRecordBytes: 12,
};

describe('what two attempts found', () => {
  it('is the same whatever their files are called', () => {
    expect(isSameContent(FIRST, { ...FIRST, pileSets: ['set-b', 'set-c'] })).toBe(true);
    expect(isSameContent(undefined, undefined)).toBe(true);
  });

  it.each<Partial<NamedPileSets>>([{ records: 4 }, { bytes: 31 }, { checksum: '0000000000000002' }])(
    'differs by %o',
    (other) => {
      expect(isSameContent(FIRST, { ...FIRST, ...other })).toBe(false);
      expect(isSameContent(undefined, { ...FIRST, ...other })).toBe(false);
    },
  );
});
