/**
 * Appending from a program: which calls are refused before any file is made, and how a stopped call leaves the store.
 */
import { existsSync, readdirSync, writeFileSync } from 'node:fs';
import { beforeEach, describe, expect, it } from 'vitest';
import { AbortError, type AppendOptions, appendToStore, shuffleStore, UsageError } from '#src/index.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';

const directory = useMemoryDirectory();
const store = () => directory.path('store');
const LINES = 4000;

beforeEach(() => {
  writeFileSync(directory.path('few'), 'a\nb\nc\n');
  writeFileSync(directory.path('many'), Array.from({ length: LINES }, (_, i) => `${i * 7919}\n`).join(''));
});

const append = (options: Partial<AppendOptions> = {}) =>
  appendToStore(store(), { inputs: [directory.path('few')], ...options }, { inline: true, sliceBytes: 500 });

const recordsInStore = async () =>
  (await shuffleStore(store(), { output: directory.path('out'), force: true }, { inline: true })).records;

describe('appendToStore', () => {
  it.each<[string, Partial<AppendOptions>, RegExp]>([
    ['no piles', { piles: 0 }, /^`piles` is 0; expected a whole number from 1 to 65536$/],
    ['too many piles', { piles: 65537 }, /^`piles` is 65537; /],
    ['half a pile', { piles: 1.5 }, /^`piles` is 1\.5; /],
    ['nothing expected', { expectedBytes: 0 }, /^`expectedBytes` is 0; /],
    ['an id that is empty', { inputIds: [''] }, /^`inputIds`: expected 'ordinal', /],
    ['an id of half a pair', { inputIds: ['\ud800'] }, /^`inputIds`: expected 'ordinal', /],
    ['too little memory', { memoryBytes: 1000 }, /memory budget/],
  ])('refuses %s, and makes no store', async (_, options, message) => {
    await expect(append(options)).rejects.toThrow(UsageError);
    await expect(append(options)).rejects.toThrow(message);
    expect(existsSync(store())).toBe(false);
  });

  it('reports what the store has now', async () => {
    expect(await append({ seed: 's', expectedBytes: 2 ** 30, generation: 'g' })).toMatchObject({
      records: 3,
      bytes: 6,
      inputCount: 1,
      seed: 's',
      piles: 16,
      generation: 'g',
      state: 2,
      workers: 1,
      storedBytes: 6 + 3 * 12,
    });
    const second = await append({ inputIds: ['other'] });
    expect(second).toMatchObject({
      seed: 's',
      piles: 16,
      generation: expect.stringMatching(/^\d{4}-\d\d-\d\d$/),
      state: 3,
    });
  });

  it('takes ordinals for ids when asked to', async () => {
    await append({ inputIds: 'ordinal' });
    await expect(append({ inputIds: ['0'] })).rejects.toMatchObject({ code: 'ERR_INPUT_ID_TAKEN' });
  });

  it('loses nothing, and takes no id twice, when several append at the same time', async () => {
    await append();
    const ids = ['a', 'b', 'c', 'a', 'b', 'c', 'a', 'd'];
    const outcomes = await Promise.allSettled(ids.map((id) => append({ inputIds: [id] })));
    const refused = outcomes.flatMap((outcome) => (outcome.status === 'rejected' ? outcome.reason.code : []));
    expect(refused).toEqual(Array(4).fill('ERR_INPUT_ID_TAKEN'));
    expect(await recordsInStore()).toBe(5 * 3);
    expect(readdirSync(`${store()}/pile-sets`)).toHaveLength(5 * 2);
  });

  it('leaves the store as it was when it is stopped, however far it has come', async () => {
    await append();
    const files = readdirSync(store(), { recursive: true }).toSorted();
    await expect(append({ inputIds: ['x'], signal: AbortSignal.abort() })).rejects.toThrow(AbortError);
    const controller = new AbortController();
    const stopped = append({
      inputs: [directory.path('many')],
      signal: controller.signal,
      onProgress: () => controller.abort('enough'),
    });
    await expect(stopped).rejects.toMatchObject({ name: 'AbortError', cause: 'enough' });
    expect(readdirSync(store(), { recursive: true }).toSorted()).toEqual(files);
    expect(await recordsInStore()).toBe(3);
  });

  it('tells how far it is, and hears a function of the caller that fails', async () => {
    const phases = new Set<string>();
    await append({ inputs: [directory.path('many')], onProgress: ({ phase }) => phases.add(phase) });
    expect([...phases]).toEqual(['scatter', 'commit']);
    const fail = () => {
      throw new RangeError('of the caller');
    };
    await expect(append({ onProgress: fail })).rejects.toThrow(RangeError);
    expect(await recordsInStore()).toBe(LINES);
  });
});
