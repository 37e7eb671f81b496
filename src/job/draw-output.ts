/** The output of a job that draws with replacement: each place takes the record of a random rank. */
import { openEncoder } from '../formats/encoder-table.js';
import { mostRecords } from '../keep/head.js';
import { requireRecords } from '../keep/repeat.js';
import { deriveDrawKey } from '../keys.js';
import { totalsOf } from '../piles/pile-totals.js';
import { planShardCuts } from '../plan/shard-cuts.js';
import { storedEnds } from '../sinks/output-layout.js';
import { foundEnds, ONE_OUTPUT } from '../stages/between-passes.js';
import { orderInMemory, writeAllDraws } from '../stages/draw-pass.js';
import type { PilesWork } from '../stages/shuffle-work.js';
import type { Threads } from '../stages/threads.js';
import type { ShuffledOutput } from './open-staging.js';
import type { Pass1, RunningShuffle } from './pass1.js';

/** Draws from piles in memory. Without a number of records, it ends with a ClosedPipeError when the reader leaves. */
export async function drawOutput(
  { staging, prepared, releases }: RunningShuffle,
  { found }: Pass1,
  work: PilesWork,
  threads: Threads,
): Promise<ShuffledOutput> {
  const { request, plan } = prepared;
  const { spec, signal } = request;
  const { compression } = spec.write;
  const { piles } = work;
  const places = mostRecords(spec.keep);
  requireRecords(piles.records, places);
  const meanRecordBytes = piles.bytes / Math.max(1, piles.records);
  const cuts = planShardCuts(spec.cut.shards ?? ONE_OUTPUT, {
    records: places,
    bytes: 0,
    longestRecordBytes: 0,
    bytesAround: 0,
  });
  if ('roomBytes' in cuts) throw new RangeError('draws are not cut by bytes');
  const encoder = compression === undefined ? undefined : openEncoder(compression);
  const layout = {
    cuts,
    ends: storedEnds(foundEnds(spec.read, found), encoder),
    // A header that tells how many bytes follow is that of records of one length.
    recordBytes: places === Number.POSITIVE_INFINITY ? 0 : Math.round(places * meanRecordBytes),
    compression,
    kind: 'appended' as const,
  };
  const ordered = await orderInMemory(work, threads, plan.inline, releases);
  const { outputBytes } = plan.memory;
  const target = await staging.begin(layout, threads.control);
  const { jobName, control } = threads;
  const job = { ...work.settings, jobName, control: control.buffer, outputBytes };
  const placesOfTask = Math.max(1, Math.floor(outputBytes / Math.max(1, meanRecordBytes)));
  const draws = { job, ordered, key: deriveDrawKey(spec.key.seed), places, placesOfTask, target, signal };
  const { regions, ...written } = await writeAllDraws(draws, threads);
  const totals = totalsOf([written]);
  return { layout: { ...layout, recordBytes: written.bytes }, regions, written, totals };
}
