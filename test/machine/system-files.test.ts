/** The mount table: every field at its place in proc(5), escapes undone, malformed lines skipped. */
import { describe, expect, it } from 'vitest';
import { isWithin, parseMounts } from '#src/machine/system-files.js';

describe('parseMounts', () => {
  it('reads the fields, however many tags there are', () => {
    const tags = ['', 'shared:1 ', 'shared:1 master:2 propagate_from:3 '];
    for (const tag of tags) {
      const line = `36 35 98:0 /mnt1 /mnt2 rw,noatime ${tag}- ext3 /dev/root rw,errors=continue`;
      expect(parseMounts(line)).toEqual([
        {
          deviceNumber: '98:0',
          root: '/mnt1',
          mountPoint: '/mnt2',
          fileSystemType: 'ext3',
          source: '/dev/root',
          superOptions: ['rw', 'errors=continue'],
        },
      ]);
    }
  });

  it('undoes escapes in paths, source and options, and cuts the options before that', () => {
    const line = String.raw`1 2 0:5 /a\040b /c\011d\134040 rw - overlay over\040lay rw,upperdir=/x\054y,lowerdir=/z\012`;
    expect(parseMounts(line)).toEqual([
      {
        deviceNumber: '0:5',
        root: '/a b',
        mountPoint: '/c\td\\040',
        fileSystemType: 'overlay',
        source: 'over lay',
        superOptions: ['rw', 'upperdir=/x,y', 'lowerdir=/z\n'],
      },
    ]);
  });

  it('takes no dash for the separator before the tags can begin', () => {
    const [mount] = parseMounts('1 2 0:5 - - rw - tmpfs none rw');
    expect(mount).toMatchObject({ root: '-', mountPoint: '-', fileSystemType: 'tmpfs', source: 'none' });
  });

  it('keeps the order, and leaves out lines that do not fit', () => {
    const text = ['', '1 2 0:5 / /a rw - tmpfs a rw', 'nonsense', '1 2 0:6 / /b rw', '1 2 0:7 / /c rw - ext4', ''];
    expect(parseMounts([...text, '3 2 0:8 / /d rw - proc d'].join('\n')).map((mount) => mount.mountPoint)).toEqual([
      '/a',
      '/d',
    ]);
    expect(parseMounts('')).toEqual([]);
  });
});

describe('isWithin', () => {
  it.each([
    ['/a/b', '/a', true],
    ['/a', '/a', true],
    ['/a', '/', true],
    ['/', '/', true],
    ['/ab', '/a', false],
    ['/', '/a', false],
    ['/b/a', '/a', false],
  ])('%s in %s: %s', (path, directory, expected) => {
    expect(isWithin(path, directory)).toBe(expected);
  });
});
