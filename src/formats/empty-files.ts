/** Files without content, as codecs write them: some bytes, and nothing in them. */

/** Of whole files, in hexadecimal: gzip and BGZF, bzip2, xz, zstd, lz4. */
const WITHOUT_CONTENT =
  /^(?:1f8b08(?:..)+?(?:0300|010000ffff)0{16}|425a683[1-9]17724538509000000000|fd377a585a00.{52}|28b52ffd.{4,20}010000(?:99e9d851)?|04224d18.{6}0{8}(?:055dcc02)?)$/;
/** With the name of a file, which gzip writes. */
const MOST_BYTES = 300;

/** @param file a whole file, plain or compressed. */
export function holdsNothing(file: Buffer): boolean {
  return file.byteLength === 0 || (file.byteLength <= MOST_BYTES && WITHOUT_CONTENT.test(file.toString('hex')));
}
