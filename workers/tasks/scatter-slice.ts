/**
 * A task of the scatter pass: makes one pile set from one slice. It reads the parts of the slice one after the other,
 * and the kernel puts each record on its pile.
 */

import { thenAlwaysAsync } from '../../src/cleanup.js';
import { framingOf } from '../../src/formats/framing-table.js';
import type { Header } from '../../src/formats/header.js';
import type { Coverage, InputPart, SliceReport } from '../../src/inputs/input-part.js';
import { KeySample } from '../../src/inputs/key-sample.js';
import { type PileSet, PileSetWriter } from '../../src/pile-sets/pile-set-writer.js';
import type { PileTotals } from '../../src/pile-sets/pile-totals.js';
import { ScatterArena } from '../piles/scatter-arena.js';
import { readPart } from '../read/read-part.js';
import type { ScatterSettings } from '../settings.js';
import { pileStateOf, readStateOf } from '../thread-state.js';

export interface ScatterTask {
  readonly job: ScatterSettings;
  /** The name of the pile set; no other attempt may use it. */
  readonly pileSetName: string;
  readonly parts: readonly InputPart[];
}

export interface ScatterResult extends SliceReport {
  /** The header of the stream, if the slice is a stream. No later attempt needs it: streams cannot be resumed. */
  readonly streamHeader: Header | undefined;
  /** What decoded the parts, and how many parts; plain ones are left out. */
  readonly decoders: Readonly<Record<string, number>>;
  readonly pileSet: PileSet;
  readonly totals: PileTotals;
}

export async function scatterSlice(task: ScatterTask): Promise<ScatterResult> {
  const { job } = task;
  const thread = readStateOf(job);
  const { control, arena, hasher } = thread;
  const { ramPool, compressor } = pileStateOf(job);
  const parts = { name: task.pileSetName, layout: job.layout, ramPool: await ramPool, indexInFile: job.keepsPileSets };
  const writer = new PileSetWriter({ ...parts, hasher, compressor, control });
  const scatter = async (): Promise<ScatterResult> => {
    const scatterArena = new ScatterArena(arena, writer, {
      pileCount: job.layout.pileCount,
      bufferBytes: job.bufferBytes,
      windowBytes: job.readBytes,
      maxRecordBytes: job.maxRecordBytes,
      keyScale: 1n,
    });
    const framing = job.framing === undefined ? undefined : framingOf(job.framing);
    const coverage: Coverage[] = [];
    const sample = framing?.sampleKeys === undefined ? undefined : new KeySample();
    const decoders: Record<string, number> = {};
    let streamHeader: Header | undefined;
    for (const part of task.parts) {
      const onKey = (key: string) => sample?.add(key, part.inputOrdinal);
      const scattered = await readPart(part, framing, scatterArena, thread, job, onKey);
      coverage.push(scattered.coverage);
      streamHeader = scattered.header;
      const { decoder } = scattered;
      if (decoder !== undefined) decoders[decoder] = (decoders[decoder] ?? 0) + 1;
    }
    const longestRecordBytes = arena.kernel.wasm.longestRecord() >>> 0;
    const report: SliceReport = { coverage, longestRecordBytes, keys: sample?.keys() };
    const { pileSet, totals } = scatterArena.commit(job.keepsPileSets ? report : null);
    return { ...report, streamHeader, decoders, pileSet, totals };
  };
  return thenAlwaysAsync(scatter, () => writer.close());
}
