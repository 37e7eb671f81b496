/** The golden pile store: how it is written, its report, and its files without random values and times. */
import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import {
  appendToStore,
  collectStore,
  expireStore,
  inspectStore,
  openPileWriter,
  openStore,
  shuffleStore,
} from '#src/index.js';
import { isSealed, seal, unseal, withDescription } from './file-formats.mjs';
import { filesOf, INPUTS, ON_DISK, sha256 } from './output-cases.mjs';

const MEMORY_BYTES = 500_000;
/** Ten segments a pile. */
const { bufferBytes, readBytes, sliceBytes, inline } = ON_DISK;
const TUNING = { bufferBytes, readBytes, sliceBytes, inline };

/**
 * Pile sets of a writer, of several files together, of compressed records of another kind; and one that another replaced.
 * @param {string} store
 */
export async function writeStore(store) {
  await writeInput(store, 'alpha', '2026-01-01', false);
  await append(store, '2026-01-02', ['lines.txt', 'more.txt', 'one.txt', 'empty.txt'], {});
  await append(store, '2026-01-03', ['table-a.csv'], { records: { by: 'csv' } });
  await append(store, '2026-01-03', ['lines.txt.zst'], {});
  await writeInput(store, 'alpha', '2026-01-04', true);
}

/** @param {string} store @param {string} inputId @param {string} generation @param {boolean} replace */
export async function writeInput(store, inputId, generation, replace) {
  const settings = replace ? {} : { seed: 'golden', piles: 4 };
  const writer = await openPileWriter(store, {
    inputId,
    generation,
    replace,
    memoryBytes: MEMORY_BYTES,
    ...settings,
  });
  for (let i = 0; i < 90; i++) writer.write(`${inputId} of ${generation}, record ${i} ${'.'.repeat(i % 50)}\n`);
  writer.write(Buffer.from([0, 255, 13]));
  return await writer.commit();
}

/**
 * @param {string} store
 * @param {string} generation
 * @param {readonly string[]} names
 * @param {Partial<import('#src/index.js').AppendOptions>} options
 */
export async function append(store, generation, names, options) {
  const inputs = names.map((name) => ({ path: join(INPUTS, name) }));
  const machine = { memoryBytes: 2 ** 28, workers: 1 };
  return await appendToStore(store, { inputs, inputIds: 'name', generation, ...machine, ...options }, TUNING);
}

/**
 * What a store gives to those that read it.
 * @param {string} store
 * @param {string} root a directory for temp data
 */
export async function readingOf(store, root) {
  const { directory: _, ...report } = await inspectStore(store, { verify: true });
  const output = join(root, 'store-output');
  const limits = { memoryBytes: 2 ** 28, workers: 1 };
  const { records, bytes, checksum } = await shuffleStore(
    store,
    { output, tempDirs: [root], force: true, ...limits },
    { inline: true },
  );
  const opened = openStore(store, { memoryBytes: 2 ** 26, workers: 1 });
  try {
    const epochs = {
      'epoch 0': await epochOf(opened.epoch(0)),
      'epoch 1': await epochOf(opened.epoch(1)),
      'epoch 2, rank 1 of 3': await epochOf(opened.epoch(2, { rank: 1, worldSize: 3, equalize: 'pad' })),
    };
    return { report, shuffled: { records, bytes, checksum, files: filesOf(output) }, epochs };
  } finally {
    await opened.close();
  }
}

/**
 * A store after it has been added to, expired and collected.
 * @param {string} store
 * @param {string} root a directory for temp data
 */
export async function upkeepOf(store, root) {
  const appended = await append(store, '2026-01-05', ['more.txt'], { inputIds: ['more once more'] });
  const written = await writeInput(store, 'beta', '2026-01-06', false);
  // The golden store was written long ago: the default would delete files here that were new then.
  const { expired } = await expireStore(
    store,
    { before: '2026-01-03' },
    { graceMilliseconds: Number.POSITIVE_INFINITY },
  );
  const collected = await collectStore(store, { graceMilliseconds: 0 });
  const { seconds: _, ...counts } = appended;
  const { report, shuffled } = await readingOf(store, root);
  const { time: __, ...numbers } = report;
  return { appended: counts, written, expired, collected, report: numbers, shuffled };
}

/** @param {import('#src/index.js').Loader} loader */
async function epochOf(loader) {
  const portions = [];
  let records = 0;
  for await (const portion of loader.portions()) {
    portions.push(Buffer.from(portion.bytes));
    records += portion.length;
  }
  return `${records} records, ${sha256(Buffer.concat(portions))}`;
}

/** The state of a loader in the midst of an epoch. @param {string} store */
export async function stateOf(store) {
  const opened = openStore(store, { memoryBytes: 2 ** 26, workers: 1 });
  try {
    const loader = opened.epoch(1, { rank: 0, worldSize: 2 });
    for await (const _ of loader.batches(37)) break;
    return loader.state();
  } finally {
    await opened.close();
  }
}

/**
 * The rest of the epoch of a loader that has this state.
 * @param {string} store
 * @param {import('#src/index.js').LoaderState} state
 */
export async function restOf(store, state) {
  const opened = openStore(store, { memoryBytes: 2 ** 26, workers: 1 });
  try {
    return await epochOf(opened.resume(state));
  } finally {
    await opened.close();
  }
}

/**
 * The files of a store by name, with numbers in place of what is random: the store's id and the names of commits and
 * attempts; and no times of states. The times of generations follow from their names.
 * @param {string} store
 * @returns {Record<string, Buffer>}
 */
export function comparableStore(store) {
  const names = readdirSync(store, { recursive: true }).map(String);
  const files = names
    .filter((name) => !readdirSync(store).includes(name) || name === 'store')
    .sort()
    .map((name) => ({ name, bytes: readFileSync(join(store, name)) }));
  const numbers = new Map([[unsealNamed(files, 'store').id, numberText(0)]]);
  const states = files.filter(({ name }) => name.startsWith('manifests/')).map(({ bytes }) => unseal(bytes).value);
  for (const random of states.flatMap(({ commits }) => commits.flatMap(randomTextsOf))) {
    if (!numbers.has(random)) numbers.set(random, numberText(numbers.size));
  }
  /** @param {string} text */
  const numbered = (text) => text.replaceAll(/[0-9a-f]{16}/g, (found) => numbers.get(found) ?? found);
  return Object.fromEntries(
    files.map(({ name, bytes }) => [numbered(name), comparableFile(name, bytes, numbered)]).sort(byName),
  );
}

/** @param {string} name @param {Buffer} bytes @param {(text: string) => string} numbered */
function comparableFile(name, bytes, numbered) {
  if (name.endsWith('.index')) return withDescription(bytes, numbered);
  if (!isSealed(bytes)) return bytes;
  const sealed = unseal(bytes);
  const value = JSON.parse(numbered(JSON.stringify(sealed.value)));
  if (value.time !== undefined) value.time = 0;
  for (const removal of value.removed ?? []) removal.time = 0;
  return seal({ ...sealed, value });
}

/** @param {readonly { name: string, bytes: Buffer }[]} files @param {string} name */
function unsealNamed(files, name) {
  return unseal(files.find((file) => file.name === name)?.bytes ?? Buffer.alloc(0)).value;
}

/** @param {{ name: string, pileSets: readonly { name: string }[] }} commit */
function randomTextsOf({ name, pileSets }) {
  return [name, ...pileSets.flatMap((pileSet) => /[0-9a-f]{16}$/.exec(pileSet.name) ?? [])];
}

/** @param {number} number */
function numberText(number) {
  return String(number).padStart(16, '0');
}

/** @param {any[]} a @param {any[]} b */
function byName([a], [b]) {
  return a < b ? -1 : 1;
}
