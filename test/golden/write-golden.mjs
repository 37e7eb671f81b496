/**
 * Writes the golden files anew, with the tree that was built last:
 *
 *     npm run build:ts && node test/golden/write-golden.mjs PART...
 *
 * PART is outputs, store, indexes or jobs. Only when a format changes on purpose: once there are releases, what a former version
 * wrote has to be read by later ones, or be refused in one line. Job directories go to a directory named by the number of
 * their format.
 */
import { cpSync, mkdirSync, mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { INDEX_CASES, indexOf, recordsOf } from './indexes.mjs';
import { catchJob, formatOf, JOB_CASES, keepJob, restoreJob, runJob } from './jobs.mjs';
import { IN_MEMORY, OUTPUT_CASES, resultOf } from './output-cases.mjs';
import { readingOf, restOf, stateOf, upkeepOf, writeStore } from './stores.mjs';

const FILES = fileURLToPath(new URL('files/', import.meta.url));

/** @param {string} name @param {unknown} value */
function writeJson(name, value) {
  writeFileSync(join(FILES, name), `${JSON.stringify(value, null, 2)}\n`);
}

/** @param {string} root */
async function writeOutputs(root) {
  /** @type {Record<string, unknown>} */
  const outputs = {};
  for (const [name, outputCase] of Object.entries(OUTPUT_CASES)) {
    outputs[name] = await resultOf(outputCase, root, IN_MEMORY);
  }
  writeJson('outputs.json', outputs);
}

/** @param {string} root */
async function writeStoreFiles(root) {
  const store = join(root, 'store');
  await writeStore(store);
  rmSync(join(FILES, 'store'), { recursive: true, force: true });
  cpSync(store, join(FILES, 'store'), { recursive: true });
  const state = await stateOf(store);
  const reading = await readingOf(store, root);
  const rest = await restOf(store, state);
  writeJson('store-readings.json', { ...reading, state, rest, afterUpkeep: await upkeepOf(store, root) });
}

/** @param {string} root */
async function writeIndexes(root) {
  mkdirSync(join(FILES, 'indexes'), { recursive: true });
  /** @type {Record<string, unknown>} */
  const records = {};
  for (const name of Object.keys(INDEX_CASES)) {
    writeFileSync(join(FILES, 'indexes', name), await indexOf(name, root));
    records[name] = await recordsOf(join(root, name));
  }
  writeJson('indexed-records.json', records);
}

/** @param {string} root */
async function writeJobs(root) {
  for (const [name, jobCase] of Object.entries(JOB_CASES)) {
    const caught = join(root, 'caught');
    const whole = await catchJob(join(root, name), jobCase, (places) => keepJob(places, jobCase, caught));
    const golden = join(FILES, 'jobs', String(formatOf(join(caught, 'job'))), name);
    rmSync(golden, { recursive: true, force: true });
    cpSync(caught, golden, { recursive: true });
    rmSync(caught, { recursive: true });

    const root2 = join(root, `${name} once more`);
    restoreJob(golden, root2, jobCase);
    const { report, files } = await runJob(root2, jobCase);
    if (JSON.stringify(files) !== JSON.stringify(whole.files)) throw new Error(`${name}: another output`);
    const { records, bytes, checksum, resumed } = report;
    writeFileSync(
      join(golden, 'outcome.json'),
      `${JSON.stringify({ records, bytes, checksum, resumed, files }, null, 2)}\n`,
    );
  }
}

/** @type {Readonly<Record<string, (root: string) => Promise<void>>>} */
const PARTS = { outputs: writeOutputs, store: writeStoreFiles, indexes: writeIndexes, jobs: writeJobs };

for (const part of process.argv.slice(2)) {
  const write = PARTS[part];
  if (write === undefined) throw new Error(`${part}: expected ${Object.keys(PARTS).join(', ')}`);
  const root = mkdtempSync(join(tmpdir(), 'pileshuf-golden-'));
  try {
    await write(root);
  } finally {
    rmSync(root, { recursive: true });
  }
}
