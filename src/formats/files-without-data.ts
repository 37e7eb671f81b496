/** Files that hold no data: pointers to data elsewhere, and compressed files of nothing. */

export interface Pointer {
  readonly what: string;
  readonly command: string;
}

const POINTERS: readonly (Pointer & { readonly pattern: RegExp })[] = [
  {
    what: 'a Git LFS pointer',
    command: 'git lfs pull',
    pattern: /^version https:\/\/(?:git-lfs|hawser)\.github\.com\/spec\/v1\r?\n/,
  },
  { what: 'a git-annex pointer', command: 'git annex get', pattern: /^\/annex\/objects\/[^\n]+\n/ },
];

const LINE_BYTES = 512;

export function pointerIn(head: Buffer): Pointer | undefined {
  const text = head.toString('latin1', 0, LINE_BYTES);
  return POINTERS.find(({ pattern }) => pattern.test(text));
}

/** Whole files, in hex. Each pattern fits a header alone: no content, however short, may fit in it. */
const WITHOUT_CONTENT = new RegExp(
  `^(?:${[
    // gzip, without and with the name of a file, and BGZF.
    '1f8b08(?:00.{12}|08.{12}(?:(?!00)..)+00)(?:0300|010000ffff)0{16}',
    '1f8b08040000000000ff0600424302001b0003000000000000000000',
    // bzip2, xz, and zstd with and without the size of its content.
    '425a683[1-9]17724538509000000000',
    'fd377a585a00.{52}',
    '28b52ffd(?:0[04]..|2[04]00|8[04]..0{8}|a[04]0{8}|c[04]..0{16}|e[04]0{16})010000(?:99e9d851)?',
    // lz4
    '04224d18.{6}0{8}(?:055dcc02)?',
  ].join('|')})$`,
);
/** gzip writes the name of a file to its header. */
const MOST_BYTES = 300;

export function holdsNothing(file: Buffer): boolean {
  return file.byteLength === 0 || (file.byteLength <= MOST_BYTES && WITHOUT_CONTENT.test(file.toString('hex')));
}
