/**
 * What the phases of a job are expected to cost: the sizes that the plan knows, and then those that pass 1 found.
 */
import type { Input } from '../inputs/list-inputs.js';
import {
  costsOfScatter,
  costsOfShuffle,
  costsOfStoreShuffle,
  type PhaseCost,
  type ShuffleSizes,
} from '../plan/phase-costs.js';
import type { OutputRequest } from './request.js';
import type { ScatterPlan, WorkPlan } from './work-plan.js';

type InputSizes = Pick<ShuffleSizes, 'storedBytes' | 'recordBytes' | 'decodedBytes'>;

/** The output of a job whose costs are asked for. */
interface CostlyOutput {
  readonly request: Pick<OutputRequest, 'compression'>;
  readonly site: { readonly kind: 'files' | 'stream' };
  /** Whether its inputs are counted first. */
  readonly isCounted?: boolean;
}

interface CostlyShuffle extends CostlyOutput {
  readonly inputs: readonly Input[];
  /** Undefined: not made yet. */
  readonly plan?: Pick<ScatterPlan, 'memory'>;
}

/** Of a shuffle whose plan knows the size of records by samples alone. */
export function expectShuffle(job: CostlyShuffle & { readonly plan: ScatterPlan }): readonly PhaseCost[] {
  return costsAt(job, expectedSizes(job.inputs, job.plan));
}

/** The same for sizes that are known, or from samples without a plan. */
export function expectOfSizes(job: CostlyShuffle, storedBytes: number, recordBytes: number): readonly PhaseCost[] {
  return costsAt(job, { storedBytes, recordBytes, decodedBytes: decodedPartOf(recordBytes, job.inputs) });
}

/** Adding to a store: pass 1 and a commit. */
export function expectAppend(inputs: readonly Input[], plan: ScatterPlan): readonly PhaseCost[] {
  const sizes = expectedSizes(inputs, plan);
  return costsOfScatter(sizes, sizes.recordBytes);
}

/** Reading a store: pass 2 and a commit. */
export function expectStoreShuffle(job: CostlyOutput & { readonly plan: WorkPlan }): readonly PhaseCost[] {
  const { request, site, plan } = job;
  const { recordBytes } = plan.memoryNeed;
  return costsOfStoreShuffle({ recordBytes, codec: request.compression?.codec, isDurable: site.kind === 'files' });
}

function costsAt({ request, site, plan, isCounted }: CostlyShuffle, sizes: InputSizes): readonly PhaseCost[] {
  const isHeld = plan?.memory.hold !== undefined;
  return costsOfShuffle({
    ...sizes,
    isCounted,
    isHeld,
    codec: request.compression?.codec,
    isDurable: site.kind === 'files',
  });
}

function expectedSizes(inputs: readonly Input[], { inputBytes, memoryNeed }: ScatterPlan): InputSizes {
  if (inputBytes === undefined) return { storedBytes: undefined, recordBytes: undefined, decodedBytes: undefined };
  const { recordBytes, mostReadBytes = recordBytes } = memoryNeed;
  return { storedBytes: inputBytes, recordBytes, decodedBytes: decodedPartOf(mostReadBytes, inputs) };
}

/** The part of the records that comes from compressed files. */
function decodedPartOf(recordBytes: number, inputs: readonly Input[]): number {
  const files = inputs.filter((input) => input.kind === 'file');
  if (files.every(({ codec }) => codec === undefined)) return 0;
  const plain = files.filter(({ codec }) => codec === undefined);
  return Math.max(0, recordBytes - plain.reduce((sum, { version }) => sum + version.byteLength, 0));
}
