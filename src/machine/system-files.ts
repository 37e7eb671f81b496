/**
 * The small text files in which Linux publishes what it knows (/proc, /sys and the cgroup trees).
 *
 * Everything that reads them takes a `ReadText`, so that tests give a literal tree. A file that is missing or
 * unreadable is `undefined`, never an error: other systems have none of these files, and containers hide some of them.
 */
import { readFileSync, readlinkSync } from 'node:fs';

export type ReadText = (path: string) => string | undefined;

export const readSystemText: ReadText = (path) => {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return undefined;
  }
};

export function readSystemLink(path: string): string | undefined {
  try {
    return readlinkSync(path);
  } catch {
    return undefined;
  }
}

/** The fields are unescaped. */
export interface Mount {
  /** `MAJOR:MINOR` of the superblock; files may show another st_dev (btrfs subvolumes, overlay). */
  readonly deviceNumber: string;
  /** The directory within the file system that is seen at `mountPoint`. */
  readonly root: string;
  readonly mountPoint: string;
  readonly fileSystemType: string;
  /** A device's path, `server:/export`, or any word that the mounting program chose. */
  readonly source: string;
  readonly superOptions: readonly string[];
}

/**
 * The mounted file systems as /proc/self/mountinfo lists them (proc(5)), in the order of the text: a later one hides an
 * earlier one at the same place. Leaves out a line that does not fit.
 *
 *     36 35 98:0 /root /mount/point rw,noatime shared:1 master:2 - ext4 /dev/sda1 rw,errors=continue
 *      id parent dev root mountPoint  options   (0 or more tags)   - type  source    superOptions
 */
export function parseMounts(mountinfo: string): readonly Mount[] {
  return mountinfo.split('\n').flatMap((line) => {
    const fields = line.split(' ');
    const dash = fields.indexOf('-', 6);
    const [, , deviceNumber, root, mountPoint] = fields;
    const [fileSystemType, source, superOptions] = fields.slice(dash + 1);
    if (dash < 0 || deviceNumber === undefined || root === undefined || mountPoint === undefined) return [];
    if (fileSystemType === undefined || source === undefined) return [];
    return [
      {
        deviceNumber,
        root: unescapeOctal(root),
        mountPoint: unescapeOctal(mountPoint),
        fileSystemType,
        source: unescapeOctal(source),
        // A comma inside a value is escaped too, so cutting comes first.
        superOptions: (superOptions ?? '').split(',').map(unescapeOctal),
      },
    ];
  });
}

/** Returns whether a path is a directory or lies below it. Both are absolute and normalized. */
export function isWithin(path: string, directory: string): boolean {
  return directory === '/' || path === directory || path.startsWith(`${directory}/`);
}

/** The kernel writes a space as \040, a backslash as \134. */
function unescapeOctal(field: string): string {
  return field.replace(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)));
}
