import { createRequire } from 'node:module';

let version: string | undefined;

/** The version of pileshuf, as its package says it. */
export function ownVersion(): string {
  if (version === undefined) {
    const description: { version: string } = createRequire(import.meta.url)('pileshuf/package.json');
    version = description.version;
  }
  return version;
}
