/**
 * Which jobs can be resumed, from which size on. A resumed job keeps the layout of the earlier attempt, with any memory
 * budget.
 */
import { mkdirSync, truncateSync, writeFileSync } from 'node:fs';
import { gzipSync } from 'node:zlib';
import { beforeEach, describe, expect, it } from 'vitest';
import { UsageError } from '#src/errors.js';
import { completeTable } from '#src/formats/rows/parquet/table-output.js';
import { pageCompressionOf, type WrittenCodec } from '#src/formats/rows/parquet/table-write-spec.js';
import type { ShuffleOptions } from '#src/index.js';
import { describeJob } from '#src/job/job-description.js';
import { completeShuffle } from '#src/job/request.js';
import { chooseSite } from '#src/job/site.js';
import { TempDisks } from '#src/job/temp-disks.js';
import { isLarge, planShuffle, type ShufflePlan } from '#src/job/work-plan.js';
import type { JobManifest } from '#src/job-directory/job-manifest.js';
import { groupJob } from '#src/keep/mix.js';
import { DeviceGates } from '#src/machine/devices.js';
import type { Tuning } from '#src/plan/memory-plan.js';
import { estimateInputs } from '#src/sources/estimate.js';
import { listInputs } from '#src/sources/list-inputs.js';
import { holdsRows } from '#src/sources/source.js';
import { makePipe } from '../fixtures/make-pipe.js';
import { column, writeParquet } from '../fixtures/parquet/parquet-file.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';
import { openParts } from '../formats/rows/parquet/table-parts.js';

const directory = useTestDirectory();
const MIB = 2 ** 20;
const GIB = 2 ** 30;
const NO_CHOICE = { rowGroupBytes: undefined, rowGroupRows: undefined };

beforeEach(() => {
  mkdirSync(directory.path('out'));
  writeFileSync(directory.path('small'), 'record\n'.repeat(10_000));
});

/** A file that is as long as that, and takes no space: its one record has no end. */
function sparse(byteLength: number): string {
  const path = directory.path('sparse');
  writeFileSync(path, '');
  truncateSync(path, byteLength);
  return path;
}

interface Planned {
  readonly plan: ShufflePlan;
  readonly manifest: JobManifest;
}

async function plan(changed: Partial<ShuffleOptions>, before?: JobManifest, tuning: Tuning = {}): Promise<Planned> {
  const options = { inputs: [directory.path('small')], output: directory.path('out', 'x'), seed: 's', workers: 4 };
  const request = completeShuffle({ ...options, memoryBytes: 64 * MIB, ...changed });
  const jobInputs = await listInputs(request.inputs, () => {});
  const places = chooseSite(request, jobInputs);
  const disks = new TempDisks(places.tempDirs, new DeviceGates({}));
  const { given: weighing } = await groupJob(request.spec, jobInputs.inputs);
  const { inputs } = jobInputs;
  const planned = await planShuffle({
    request: { ...request, weighing },
    inputs,
    estimate: estimateInputs(inputs, request.spec.read.framing, 'draw'),
    disks,
    hasFiles: places.kind === 'files',
    manifest: before,
    tuning,
  });
  if (places.kind !== 'files') return { plan: planned, manifest: expect.anything() };
  return {
    plan: planned,
    manifest: await describeJob(
      { request, inputs: jobInputs.inputs, inputIds: undefined, plan: planned },
      places,
      true,
    ),
  };
}

describe('a job with weights', () => {
  const ofSparse = (factor: number) => ({ inputs: [sparse(GIB)], weights: [{ glob: 'sparse', factor }] });

  it('expects the space of all copies, and demands that of the whole ones', async () => {
    const { plan: planned } = await plan(ofSparse(40.5));
    const { least, expected } = planned.diskNeeds;
    expect(expected.outputBytes).toBe(40.5 * GIB);
    expect(expected.tempBytes).toBeGreaterThan(40.5 * GIB);
    expect(least.outputBytes).toBe(40 * GIB);
    expect(planned.isResumable).toBe(true);
    expect(planned.inputBytes).toBe(GIB);
    // What the inputs hold, as the progress of pass 1 tells it.
    expect(planned.needOf(2 * GIB).outputBytes).toBe(81 * GIB);
  });

  it('expects little of a small part, and demands nothing', async () => {
    const { plan: planned } = await plan(ofSparse(0.01));
    const { least, expected } = planned.diskNeeds;
    expect([least.outputBytes, Math.round(expected.outputBytes)]).toEqual([0, Math.round(0.01 * GIB)]);
    expect(planned.memoryNeed).toMatchObject({ mostReadBytes: GIB, exact: false });
  });

  it('reads nothing of an input of the weight 0', async () => {
    const inputs = [sparse(GIB), directory.path('small')];
    const { plan: planned } = await plan({ inputs, weights: [{ glob: 'sparse', factor: 0 }] });
    expect(planned.slices.flat().map(({ inputOrdinal }) => inputOrdinal)).toEqual([1]);
    expect(planned.inputBytes).toBeLessThan(MIB);
    expect(planned.inline).toBe(true);
  });
});

describe('a job of rows', () => {
  it('expects an output as large as the columns that it reads, and pages that wait on the temp disks', async () => {
    const path = writeParquet(directory.path('rows'), { rows: 1, columns: [column('n', 'INT32', (i) => i)] });
    const { inputs, read } = await openParts([path]);
    const table = { rows: 2 ** 20, rowBytes: 4 * GIB, storedBytes: GIB };
    const tables = inputs.filter(holdsRows).map((input) => ({ ...input, table: { ...input.table, ...table } }));
    const needOf = async (memoryBytes: number, codec: WrittenCodec) => {
      const asked = { inputs: [path], output: directory.path('out', 'x'), workers: 2, memoryBytes, seed: 's' };
      const { spec, ...request } = completeShuffle(asked);
      const write = {
        ...spec.write,
        table: completeTable({ ...NO_CHOICE, compression: pageCompressionOf(codec) }, codec),
      };
      const { diskNeeds } = await planShuffle({
        request: { ...request, spec: { ...spec, read, write } },
        inputs: tables,
        estimate: estimateInputs(tables, undefined, 'draw'),
        disks: { count: 1, rotate: false },
        hasFiles: true,
        manifest: undefined,
        tuning: {},
      });
      return diskNeeds;
    };
    const { least, expected } = await needOf(256 * MIB, 'UNCOMPRESSED');
    expect(expected.outputBytes).toBe(GIB);
    expect(least).toMatchObject({ outputBytes: 0, waitingBytes: 0 });
    expect(least.tempBytes).toBeLessThan(expected.tempBytes);
    // A row group of each thread, and more, less what spare memory takes.
    expect(expected.waitingBytes).toBeGreaterThan(32 * MIB);
    expect(expected.waitingBytes).toBeLessThan(GIB / 2);
    expect((await needOf(256 * MIB, 'ZSTD')).expected.outputBytes).toBe(GIB);
    expect((await needOf(8 * GIB, 'UNCOMPRESSED')).expected.waitingBytes).toBe(0);
  });
});

describe('a job that can be resumed', () => {
  it('is one that was asked for, however small', async () => {
    const named = directory.path('named');
    for (const changed of [{ resume: true }, { jobDir: named }, { keepTemp: true }]) {
      expect((await plan(changed)).plan.isResumable, JSON.stringify(changed)).toBe(true);
    }
    for (const changed of [{}, { resume: false }, { keepTemp: false }, { force: true }]) {
      expect((await plan(changed)).plan.isResumable, JSON.stringify(changed)).toBe(false);
    }
  });

  it('has 32 GiB of temp data or more', async () => {
    // Sparse bytes look like records of 64 KiB, which take 12 bytes more each.
    for (const [byteLength, isResumable] of [
      [32 * GIB, true],
      [32 * GIB - 5 * MIB, true],
      [32 * GIB - 7 * MIB, false],
      [64 * GIB, true],
      [GIB, false],
    ] as const) {
      const { plan: planned } = await plan({ inputs: [sparse(byteLength)] });
      expect(planned.diskNeeds.expected.tempBytes >= 32 * GIB, `${byteLength}`).toBe(isResumable);
      expect(planned.isResumable).toBe(isResumable);
      expect(isLarge(planned)).toBe(isResumable);
      expect(planned.layout === undefined).toBe(!isResumable);
    }
  });

  it('is not one that stays in memory, however large', async () => {
    const { plan: planned } = await plan({ inputs: [sparse(GIB)] }, undefined, { keepInRam: true });
    expect(planned.isResumable).toBe(false);
    const small = await plan({ resume: true });
    expect(small.plan).toMatchObject({ isResumable: true, layout: undefined });
    expect(small.plan.memory.ramPoolBytes).toBeGreaterThan(0);
    expect(small.manifest.layout).toBeNull();
  });

  it('begins on disk when its inputs are compressed, and others in memory', async () => {
    const path = directory.path('compressed');
    writeFileSync(path, gzipSync('record\n'.repeat(10_000)));
    const inputs = [path];
    expect((await plan({ inputs })).plan.memory.ramPoolBytes).toBeGreaterThan(0);
    const { plan: planned } = await plan({ inputs, resume: true });
    expect(planned.memory).toMatchObject({ ramPoolBytes: 0, maySpill: true });
    expect(planned.layout).toMatchObject({ pileCount: planned.memory.pileCount });
  });

  it('neither reads nor writes a stream', async () => {
    const large = sparse(64 * GIB);
    for (const changed of [
      { inputs: [large], output: '-' },
      { inputs: [large], output: makePipe(directory.path('out', 'pipe')) },
      { inputs: [large, makePipe(directory.path('in'))] },
    ]) {
      const { plan: planned } = await plan(changed);
      expect(planned).toMatchObject({ isResumable: false, layout: undefined });
      expect(isLarge(planned)).toBe(true);
    }
  });
});

describe('the disk space of a compressed output', () => {
  it('is not demanded, since nobody knows how small it gets, and expected to be a fourth', async () => {
    const inputs = [directory.path('small')];
    const compress = { codec: 'gzip' } as const;
    const { least, expected } = (await plan({ inputs, compress })).plan.diskNeeds;
    expect(least.outputBytes).toBe(0);
    expect(expected.outputBytes).toBe(70_000 / 4);
    expect((await plan({ inputs })).plan.diskNeeds.least.outputBytes).toBe(70_000);
  });

  it('is expected to be that of the inputs where these are compressed', async () => {
    const packed = gzipSync('record\n'.repeat(10_000));
    writeFileSync(directory.path('packed'), packed);
    const { least, expected } = (await plan({ inputs: [directory.path('packed')], compress: { codec: 'zstd' } })).plan
      .diskNeeds;
    expect({ least: least.outputBytes, expected: expected.outputBytes }).toEqual({
      least: 0,
      expected: packed.byteLength,
    });
  });
});

describe('a resumed job', () => {
  const tuned: Tuning = { keepInRam: false, inline: false };

  it('has the layout of the one before, with less memory and with more, other workers and other tuning', async () => {
    const inputs = [sparse(40 * GIB)];
    const { plan: first, manifest } = await plan({ inputs, workers: 4, memoryBytes: GIB });
    const { layout } = first;
    expect(manifest.layout).toEqual(layout);
    for (const changed of [
      { memoryBytes: 16 * MIB },
      { memoryBytes: 32 * GIB },
      { workers: 1 },
      { workers: 64, memoryBytes: GIB },
    ]) {
      const { plan: again } = await plan({ inputs, resume: true, ...changed }, manifest, { sliceBytes: 12_345 });
      expect(again, JSON.stringify(changed)).toMatchObject({ isResumable: true, layout });
      expect(again.slices).toEqual(first.slices);
      expect(again.memory).toMatchObject({ pileCount: layout?.pileCount, stripeCount: layout?.stripeCount });
      expect(again.memory.ramPoolBytes).toBe(0);
    }
  });

  it('is resumable, since the one before was, whatever is said now', async () => {
    const { manifest } = await plan({ resume: true }, undefined, tuned);
    expect((await plan({}, manifest, tuned)).plan).toMatchObject({ isResumable: true, layout: manifest.layout });
  });

  it('stays on disk where all would fit into memory', async () => {
    const { manifest } = await plan({ resume: true }, undefined, tuned);
    const { plan: again } = await plan({ resume: true, memoryBytes: GIB }, manifest);
    expect(again.memory.ramPoolBytes).toBe(0);
    expect(again.layout).toEqual(manifest.layout);
  });

  it('says when it has too little memory for the piles that there are', async () => {
    const { manifest } = await plan({ resume: true }, undefined, { ...tuned, pileCount: 60_000 });
    const again = plan({ resume: true, memoryBytes: 32 * MIB }, manifest);
    await expect(again).rejects.toThrow(UsageError);
    await expect(again).rejects.toMatchObject({ code: 'ERR_MEMORY_BUDGET' });
    await expect(again).rejects.toThrow(/too small for the 60000 existing piles: expected at least 2\d\dM/);
  });

  it('is refused when it would be cut otherwise', async () => {
    const { manifest } = await plan({ resume: true }, undefined, tuned);
    const { layout } = manifest;
    if (layout === null) return expect.fail('the job lies on disk');
    const cut = plan({ resume: true }, { ...manifest, layout: { ...layout, slicesDigest: 'other' } }, tuned);
    await expect(cut).rejects.toMatchObject({
      code: 'ERR_JOB_VERSION',
      message: expect.stringMatching(/^another version of pileshuf cut the unfinished job into slices; finish /),
    });
  });

  it('is refused before more slices are made than it had, whatever their size is said to be', async () => {
    const inputs = [sparse(4096 * GIB)];
    const { manifest } = await plan({ inputs, resume: true });
    const { layout } = manifest;
    if (layout === null) return expect.fail('the job lies on disk');
    const began = performance.now();
    const cut = plan({ inputs, resume: true }, { ...manifest, layout: { ...layout, sliceBytes: 1 } });
    await expect(cut).rejects.toMatchObject({ code: 'ERR_JOB_VERSION' });
    expect(performance.now() - began).toBeLessThan(10_000);
  });
});
