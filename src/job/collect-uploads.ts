/** Aborts the uploads that killed jobs left in object storage: nobody sees them, and they cost money. */
import { UsageError } from '../errors.js';
import { forEachConcurrently } from '../floor/for-each-concurrently.js';
import { yieldAndCheckAbort } from '../floor/pause.js';
import { pick } from '../options/option.js';
import { SHUFFLE_OPTIONS, type ShuffleOptions } from '../options/shuffle-options.js';
import { GARBAGE_OPTIONS, type GarbageOptions } from '../options/store-options.js';
import { openOutputPlaces } from '../places/outputs/output-kinds.js';
import { isReplaceableName } from '../places/outputs/shard-names.js';
import { requireAddress } from '../remote/address.js';
import { DEFAULT_GRACE_MILLISECONDS } from '../store/collect-garbage.js';
import { requireKnownOptions } from '../values/known-options.js';
import { runJob } from './job.js';
import { graceOf } from './store-upkeep.js';

type UploadsOptions = GarbageOptions & Pick<ShuffleOptions, 'endpoint'>;

/** Counts of uploads. */
export interface CollectedUploads {
  readonly aborted: number;
  /** Their jobs may still run, or be resumed. */
  readonly young: number;
  /** Not named as shards, so other programs may have begun them. */
  readonly others: number;
}

/** The memory of a thread that only asks. */
const MEMORY_BYTES = 64 * 1024 * 1024;

/**
 * Aborts unfinished uploads of shards below an address, or of the object that it names, which began before
 * `graceMilliseconds`. A job that resumes needs its uploads: its parts are gone then.
 * @throws UsageError ERR_OPTION; SystemError; AbortError
 */
export async function collectUploads(address: string, options: UploadsOptions = {}): Promise<CollectedUploads> {
  requireKnownOptions('collectUploads()', options, { ...GARBAGE_OPTIONS, ...pick(SHUFFLE_OPTIONS, 'endpoint') });
  const grace = graceOf(options) ?? DEFAULT_GRACE_MILLISECONDS;
  requireAddress(address);
  if (!address.startsWith('s3://'))
    throw new UsageError(`${address} is not an address of object storage; expected s3://BUCKET/KEY`);
  const { value } = await runJob(options, async () => {
    const service = { endpoint: options.endpoint, requesterPays: undefined };
    const places = await openOutputPlaces(address, { memoryBytes: MEMORY_BYTES, workers: 1, service });
    const all = await places.findStrayUploads(address, options.signal);
    const own = all.filter(
      (leftover) => leftover.address === address || isReplaceableName(leftover.address.replace(/.*\//s, '')),
    );
    const old = own.filter(({ begunAt }) => begunAt.getTime() <= Date.now() - grace);
    await forEachConcurrently(old, async (leftover) => {
      await yieldAndCheckAbort(options.signal);
      await leftover.remove();
    });
    return { aborted: old.length, young: own.length - old.length, others: all.length - own.length };
  });
  return value;
}
