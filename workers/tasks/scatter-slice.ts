/** A task of the scatter pass: makes one pile set from one slice. */
import { thenAlwaysAsync } from '../../src/floor/cleanup.js';
import type { Header } from '../../src/formats/header.js';
import { type PileSet, PileSetWriter } from '../../src/piles/pile-set-writer.js';
import type { PileTotals } from '../../src/piles/pile-totals.js';
import type { InputPart, SliceReport } from '../../src/sources/input-part.js';
import type { RaisedDoubt } from '../../src/sources/start-findings.js';
import { HeadLimit } from '../piles/head-limit.js';
import { ScatterArena } from '../piles/scatter-arena.js';
import { readParts } from '../read/read-part.js';
import type { PileSetSettings, ScatterSettings } from '../settings.js';
import { pileStateOf, readStateOf } from '../thread-state.js';

export interface ScatterTask {
  readonly job: ScatterSettings;
  /** No other attempt may use it. */
  readonly pileSetName: string;
  readonly parts: readonly InputPart[];
}

interface SliceReading extends Pick<SliceReport, 'coverage'> {
  /** No later attempt needs the header: streams cannot be resumed. */
  readonly streamHeader?: Header | undefined;
  /** How many parts each decoder decoded; plain parts are left out. */
  readonly decoders?: Readonly<Record<string, number>>;
  readonly doubts?: readonly RaisedDoubt[];
}

export interface ScatterResult extends SliceReading, SliceReport {
  readonly totals: PileTotals;
  readonly pileSet: PileSet;
}

export async function scatterSlice({ job, pileSetName, parts }: ScatterTask): Promise<ScatterResult> {
  return makePileSet(job, pileSetName, async (target) => {
    const reports = await readParts(parts, target, readStateOf(job), job);
    const decoders: Record<string, number> = {};
    const doubts: RaisedDoubt[] = [];
    for (const { coverage, decoder, doubt } of reports) {
      if (doubt !== undefined) doubts.push({ inputOrdinal: coverage.inputOrdinal, doubt });
      if (decoder !== undefined) decoders[decoder] = (decoders[decoder] ?? 0) + 1;
    }
    const coverage = reports.map((report) => report.coverage);
    return { coverage, streamHeader: reports.at(-1)?.header, decoders, doubts };
  });
}

/** @param read puts the records of a slice on the piles. */
export async function makePileSet(
  job: PileSetSettings,
  name: string,
  read: (target: ScatterArena) => Promise<SliceReading>,
): Promise<ScatterResult> {
  const { control, arena, hasher, compressor, ramPool } = await pileStateOf(job);
  const { layout, commitsPileSets } = job;
  const sizes = { name, layout, ramPool, indexInFile: commitsPileSets };
  const writer = new PileSetWriter({ ...sizes, hasher, compressor, control });
  const target = new ScatterArena(arena, writer, {
    pileCount: layout.pileCount,
    bufferBytes: job.bufferBytes,
    windowBytes: job.readBytes,
    keyScale: job.keyScale ?? 1n,
    content: job.content,
    hasSecondKeys: layout.hasSecondKeys,
    sections: job.content?.sections,
    poolBuffers: ramPool?.liesIn(arena.kernel.bytes) ? ramPool.pileBuffers(layout.pileCount) : undefined,
    sumsKeys: ramPool?.isLinear === true,
    headLimit: job.headLimit === undefined ? undefined : new HeadLimit(job.headLimit),
  });
  const scatter = async (): Promise<ScatterResult> => {
    const reading = await read(target);
    const { longestRecordBytes, leftOut, sections } = target;
    const report: SliceReport = { coverage: reading.coverage, longestRecordBytes, leftOut, sections };
    return { ...reading, ...report, ...target.commit(commitsPileSets ? report : null) };
  };
  return thenAlwaysAsync(scatter, () => writer.close());
}
