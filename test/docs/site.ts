/** The files that the commands of the pages name, in one directory. */
import { chmodSync, mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { gzipSync } from 'node:zlib';
import { writeNumbers } from '../fixtures/hdf5-files.js';
import { writeTable } from '../fixtures/tables.js';
import { npyHeaderOf } from '../formats/any-headers.js';
import { bgzfOf } from '../formats/codecs/bgzf-file.js';
import { prefixed, tfrecordOf } from '../formats/plain-framings.js';
import { tarOf } from '../formats/plain-tar.js';

const root = fileURLToPath(new URL('../..', import.meta.url));
const each = (count: number, make: (i: number) => string | Buffer) =>
  Buffer.concat(Array.from({ length: count }, (_, i) => Buffer.from(make(i) as string)));

const documents = (name: string, count: number) =>
  each(count, (i) => {
    const site = `s${i % 50}`;
    const record = { id: i, url: `${name}${i % 900}`, site, metadata: { site }, source: name, n_tokens: 5 + (i % 7) };
    return `${JSON.stringify({ ...record, seconds: 1.5, region: site, text: `text ${i}` })}\n`;
  });
const reads = (mate: number) => each(30, (i) => `@r${i}/${mate}\nACGT\n+\nIIII\n`);
const rows = Buffer.concat([npyHeaderOf('<f8', 30, []), each(240, (i) => Buffer.of(i))]);
const words = (name: string, count: number) => each(count, (i) => `"${name} ${i}"\n`);
const lines = words('line', 90);
const table = Buffer.concat([Buffer.from('id,site,url\n'), each(40, (i) => `${i},s${i % 9},"a\n${i % 30}"\n`)]);
const shuffledTable = Buffer.concat([table, table.subarray('id,site,url\n'.length)]);
const tabs = Buffer.concat([Buffer.from('id\tsite\n'), each(40, (i) => `${i}\ts${i % 9}\n`)]);
const samples = (from: number, count: number) =>
  tarOf(Array.from({ length: count }, (_, i) => ({ name: `p${from + i}.txt`, data: Buffer.from(`${i}\n`) })));

const FILES: Readonly<Record<string, Buffer>> = {
  'corpus/wiki.jsonl': documents('wiki', 400),
  'corpus/crawl.jsonl.gz': gzipSync(documents('crawl', 2600)),
  'corpus/2026-11-20/crawl-c.jsonl': documents('c', 100),
  'crawl/0.jsonl.gz': gzipSync(documents('crawl-0', 1700)),
  'crawl/1.jsonl.gz': gzipSync(documents('crawl-1', 1500)),
  'wiki/w.jsonl': documents('wiki', 1500),
  'incoming/new.jsonl': documents('new', 10),
  'day/a.jsonl': documents('day', 90),
  'day-20/a.jsonl': documents('day', 90),
  'day-21/a.jsonl': documents('day', 91),
  'scored.jsonl': each(90, (i) => `{"id":${i},"score":${(i % 50) / 8}}\n`),
  'scores/scored.txt': each(90, (i) => `${(i % 50) / 8}\n`),
  'chats/day.jsonl': each(900, (i) => `{"conversation":"c${(i * 7) % 250}","turn":${i}}\n`),
  'talks.jsonl': documents('talks', 90),
  'calls.jsonl': documents('calls', 90),
  'crawl-0.jsonl': documents('crawl', 90),
  'crawl-0.tsv': each(90, (i) => `${i}\tu${i % 30}\n`),
  'images-0.tar': samples(0, 20),
  'images.tar': samples(0, 90),
  'samples.tar': samples(0, 40),
  'validation.jsonl': words('validation', 5000),
  'part-0.jsonl': words('part 0', 90),
  'part-1.jsonl': words('part 1', 90),
  'part-2.jsonl': words('part 2', 90),
  'part-7.jsonl': words('part 7', 90),
  'part-0.jsonl.gz': gzipSync(words('part 0', 90)),
  'shard-0.jsonl.gz': gzipSync(documents('s', 900)),
  'shard-0.jsonl': documents('s', 900),
  'part-07.raw': lines,
  'a.jsonl': lines,
  'b.jsonl.gz': gzipSync(lines),
  'huge.txt': lines,
  'big.txt': lines,
  'huge.gz': gzipSync(lines),
  'old.gz': gzipSync(lines),
  'log.txt': lines,
  'texts/1.txt': lines,
  'access.log': each(90, (i) => `s${i % 9} - GET /${i}\n`),
  'words.txt': words('word', 9),
  'names.txt': each(9, (i) => `name ${i}\n`),
  'names.nul': each(90, (i) => `a\nname ${i}\0`),
  'dos.txt': each(90, (i) => `line\n${i}\r\n`),
  'records.rs': each(90, (i) => `{\n"id": ${i}}\x1e`),
  'questions.txt': each(90, (i) => `${i}?\nYes.\n`),
  'poems.txt': each(90, (i) => `poem ${i}\nof two lines\n\n`),
  'genes.fasta': each(90, (i) => `>gene${i}\nACGT\nAC\n`),
  'tokens.bin': each(30, (i) => Buffer.alloc(4096, i)),
  'secret.bin': Buffer.alloc(4096, 7),
  'vectors.bin': Buffer.alloc(16 + 8 * 30),
  'messages.bin': each(90, (i) => prefixed(Buffer.from(`message ${i}`), 'u32le')),
  'train.tfrecord': each(90, (i) => tfrecordOf(Buffer.from(`example ${i}`))),
  'variants.vcf': Buffer.from(`##fileformat=VCFv4.2\n#CHROM\tPOS\n${each(90, (i) => `1\t${i}\n`)}`),
  'scores.tsv': tabs,
  'table.csv': table,
  'a.csv': table,
  'b.csv': table,
  'shuffled.csv': shuffledTable,
  'table-shuffled.csv': table,
  'orders.csv': table,
  'orders-1.csv': table,
  'events.jsonl.gz': gzipSync(lines),
  'variants.txt.bgz': bgzfOf(lines, [400]),
  'en.txt': words('en', 30),
  'fr.txt': words('fr', 30),
  ...Object.fromEntries(['embeddings', 'features', 'labels', 'lengths', 'scores'].map((name) => [`${name}.npy`, rows])),
  ...Object.fromEntries(
    [1, 2].flatMap((mate) => [
      ...[`reads_R${mate}.fastq`, `a_R${mate}.fq`, `b_R${mate}.fq`].map((name) => [name, reads(mate)]),
      ...[`R${mate}.fq.gz`, `reads_R${mate}.fq.gz`, `reads_R${mate}.fastq.gz`].map((name) => [
        name,
        gzipSync(reads(mate)),
      ]),
    ]),
  ),
  'reads.fastq': reads(1),
};

/** Compressed by their programs, where these are. */
export const MADE_BY = {
  'sentences.txt.bz2': 'bzip2 -c',
  'archive.jsonl.xz': 'xz -c',
  'clicks.txt.lz4': 'lz4 -qc',
} as const;

const DIRECTORIES = ['disk1/tmp', 'disk2/tmp', 'disk3', 'nvme1/tmp', 'nvme2/tmp', 'nvme3/tmp', 'nvme4/tmp', 'train'];
const OF_SHELLS = ['.config/fish/completions', '.local/share/bash-completion/completions', '.zfunc'];

/** Programs that the pages leave to the reader, or that start pileshuf elsewhere. */
const PROGRAMS = {
  pileshuf: `exec "$NODE" ${root}/dist/bundle/main.cjs "$@"`,
  npx: 'exec "$@"',
  npm: `echo "$SITE/node_modules"`,
  docker: 'while [ "$1" != node:22 ]; do shift; done; shift; exec "$@"',
  train: 'cat > /dev/null',
  preprocess: 'cat -- "$1"',
  // A Slurm that has done each job when it answers.
  sbatch: `last=0
for word; do
  case $word in
    --test-only) cat > /dev/null; exit 0;;
    --array=0-*) last=\${word#--array=0-};;
  esac
done
script=$(cat)
for i in $(seq 0 "$last"); do SLURM_ARRAY_TASK_ID=$i SLURM_JOB_ID=7 bash -c "$script" > /dev/null || exit; done
echo 7`,
  scontrol: 'echo "MaxArraySize = 1001"',
  squeue: '',
  sacct: '',
  sinfo: '',
};

/** @param site is replaced. */
export function makeSite(site: string): void {
  rmSync(site, { recursive: true, force: true });
  for (const name of [...DIRECTORIES, ...OF_SHELLS, 'bin', 'node_modules'])
    mkdirSync(join(site, name), { recursive: true });
  for (const [name, bytes] of Object.entries(FILES)) {
    mkdirSync(dirname(join(site, name)), { recursive: true });
    writeFileSync(join(site, name), bytes);
  }
  const rowsOfTable = Array.from({ length: 300 }, (_, i) => ({ text: `text ${i}`, number: i % 7 }));
  mkdirSync(join(site, 'table'), { recursive: true });
  for (const part of [0, 1]) writeTable(join(site, 'table', `part-${part}.parquet`), rowsOfTable);
  mkdirSync(join(site, 'in'), { recursive: true });
  for (const part of [0, 1]) {
    const rows = Array.from({ length: 90 }, (_, i) => [i, part, i % 2] as const);
    writeNumbers(join(site, 'in', `part-${part}.h5`), rows, 7, { numbers: 'X', tag: 'y' });
  }
  for (const [name, text] of Object.entries(PROGRAMS)) {
    writeFileSync(join(site, 'bin', name), `#!/bin/bash\n${text}\n`);
    chmodSync(join(site, 'bin', name), 0o755);
  }
  symlinkSync(root, join(site, 'node_modules/pileshuf'));
  symlinkSync(`${root}/examples`, join(site, 'examples'));
}
