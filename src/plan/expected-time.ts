/**
 * How long a job is expected to take, and what limits each of its passes. The model of docs/SCALE-MODEL.md, for the
 * machine and the disks of the job. Pure.
 *
 *     pass    = (cores^p + disks^p)^(1/p)
 *     cores   CPU seconds of the pass over the threads that can work, or those of its longest task
 *     disks   of each device its bytes over its speed; the slowest one counts
 */

/** What a job moves and computes. All bytes and records are expected numbers. */
export interface TimedJob {
  /** Stored bytes of the inputs. */
  readonly inputBytes: number;
  readonly readBytes: number;
  readonly readRecords: number;
  /** What is put on piles. */
  readonly pileBytes: number;
  readonly pileRecords: number;
  readonly outputBytes: number;
  readonly outputRecords: number;
  /** Of the output as written. */
  readonly writtenBytes: number;
  /** On the temp disks, of one level. */
  readonly tempBytes: number;
  readonly segments: number;
  readonly levels: number;
  /** Whether a pass of its own reads the inputs first. */
  readonly isCounted: boolean;
  /** Files that are opened, and files that are made. */
  readonly inputFiles: number;
  readonly outputFiles: number;
  /** What reads the piles once more between the passes: `measure` finds what stays of equal records, `draw` copies drawn ones. */
  readonly between: readonly ('measure' | 'draw')[];
  /** Whether records that follow each other in a pile are compared. */
  readonly isCompared: boolean;
  readonly threads: number;
  readonly tasks: number;
  /** The part of pass 1 that its longest task does. */
  readonly longestTaskShare: number;
  /** CPU seconds to decode all inputs, and to encode the output. */
  readonly decodeSeconds: number;
  readonly encodeSeconds: number;
  /** The parts of pass 1 and pass 2 that are still to do; less than 1 in a resumed job. */
  readonly shareLeft: { readonly pass1: number; readonly pass2: number };
}

/** A device, and which part of the job's bytes lies on it. */
export interface TimedDevice {
  readonly name: string;
  readonly inputShare: number;
  readonly tempShare: number;
  readonly outputShare: number;
  readonly readBytesPerSecond: number;
  readonly writeBytesPerSecond: number;
  /** Of a rotating disk, between two reads. */
  readonly seekSeconds: number;
}

export interface Circumstances {
  /** The time of a computation here, over that on the machine of the model. */
  readonly slowness: number;
  /** The parts of the bytes that need not come from a device, or reach it, because the page cache has them. */
  readonly cachedInputShare: number;
  readonly cachedTempShare: number;
}

/** What a pass waits for most: `one core` for a task that cannot be cut, `disk` for the named device. */
export type PassLimit = 'cores' | 'one core' | 'disk';

export type PassName = 'count' | 'pass 1' | 'measure' | 'draw' | 'further levels' | 'pass 2';

export interface PassTime {
  readonly name: PassName;
  readonly seconds: number;
  readonly limit: PassLimit;
  /** Name of the limiting device. */
  readonly device?: string | undefined;
}

/** As fitted there, in seconds of CPU time. */
const PASS_1 = { perByte: 0.288e-9, perRecord: 27.2e-9 };
const PASS_2 = { perByte: 0.448e-9, perRecord: 32.1e-9 };
/** Scanning alone, with the rest of reading. */
const COUNTING = { perByte: 0.079e-9, perRecord: 1.4e-9 };
/** Loading and ordering a pile without gathering it. */
const MEASURING = { perByte: 0.211e-9, perRecord: 15.4e-9 };
/** The records go to other piles without framing, and are hashed once more when written and when read. */
const RESCATTERING = { perByte: 0.261e-9, perRecord: 26.6e-9 };
/** Two records that follow each other. */
const PER_COMPARISON = 60e-9;
/** To draw a rank, to put the draws in order, and to copy the record. */
const PER_DRAW = 350e-9;
const PER_MOVED_BYTE = 0.252e-9;
const PER_SEGMENT = 8e-6;
const PER_INPUT = 60e-6;
/** To make it, to make it durable, and to give it its name. */
const PER_OUTPUT = 1e-3;
/** How well computing and waiting overlap: 1 not at all. */
const OVERLAP = 1.5;
/** Everything outside of the passes; in the first pass, until its threads work; between the tasks of any other pass. */
const START_SECONDS = 0.05;
const THREADS_SECONDS = 0.06;
const PASS_SECONDS = 0.005;

/** The passes of the job, in order. */
export function expectPasses(
  job: TimedJob,
  devices: readonly TimedDevice[],
  { slowness, cachedInputShare, cachedTempShare }: Circumstances,
): readonly PassTime[] {
  const { threads, tasks, levels, shareLeft } = job;
  const inputs = job.inputBytes * (1 - cachedInputShare);
  const temp = job.tempBytes * (1 - cachedTempShare);
  const segments = (job.segments * PER_SEGMENT) / 2;
  const compute = ({ perByte, perRecord }: typeof PASS_1, bytes: number, records: number, movedBytes: number) =>
    slowness * (bytes * perByte + records * perRecord + movedBytes * PER_MOVED_BYTE);
  // A thread decodes beside the one that computes.
  const decoding = slowness * job.decodeSeconds;
  const atOnce = Math.min(threads, job.decodeSeconds > 0 ? 2 * tasks : tasks);
  const reading = (name: PassName, cpuSeconds: number, device: TimedDeviceLoad): PassTime => {
    const spread = (cpuSeconds + decoding) / atOnce;
    const longest = job.longestTaskShare * Math.max(cpuSeconds, decoding);
    return passOf(name, Math.max(spread, longest), longest > spread * 1.2, slowestOf(devices, device));
  };
  const segmentBytes = job.tempBytes / Math.max(1, job.segments);
  const readCounts = compute(COUNTING, job.readBytes, job.readRecords, job.inputBytes);
  // Scanning is a part of pass 1; the rest of it is for records that are put on piles.
  const scattered = compute(
    { perByte: PASS_1.perByte - COUNTING.perByte, perRecord: PASS_1.perRecord - COUNTING.perRecord },
    job.pileBytes,
    job.pileRecords,
    job.tempBytes,
  );
  const compared = job.isCompared ? slowness * job.pileRecords * PER_COMPARISON : 0;
  const ordered = compute(MEASURING, job.pileBytes, job.pileRecords, job.tempBytes) + compared;
  const gathered = compute(
    { perByte: PASS_2.perByte - MEASURING.perByte, perRecord: PASS_2.perRecord - MEASURING.perRecord },
    job.outputBytes,
    job.outputRecords,
    job.writtenBytes,
  );
  const rescattered = compute(RESCATTERING, job.pileBytes, job.pileRecords, 2 * job.tempBytes) + 4 * segments;
  const writing = (name: PassName, cpuSeconds: number, device: TimedDeviceLoad) =>
    passOf(name, cpuSeconds / threads, false, slowestOf(devices, device));
  const between = (name: 'measure' | 'draw') => {
    const drawn = name === 'draw' ? slowness * job.outputRecords * PER_DRAW : 0;
    return writing(name, ordered + segments + drawn, { tempReads: temp, segmentBytes });
  };
  const begins = (name: PassName) =>
    slowness * (name === 'count' || name === 'pass 1' ? THREADS_SECONDS : PASS_SECONDS);
  const passes = [
    ...(job.isCounted ? [reading('count', readCounts, { inputs })] : []),
    scaled(
      reading('pass 1', readCounts + scattered + segments + slowness * job.inputFiles * PER_INPUT, {
        inputs,
        tempWrites: temp,
      }),
      shareLeft.pass1,
    ),
    ...job.between.map(between),
    ...(levels > 1
      ? [
          scaled(
            writing('further levels', (levels - 1) * rescattered, {
              tempReads: (levels - 1) * temp,
              tempWrites: (levels - 1) * temp,
              segmentBytes,
            }),
            shareLeft.pass2,
          ),
        ]
      : []),
    scaled(
      writing('pass 2', ordered + gathered + slowness * (job.encodeSeconds + job.outputFiles * PER_OUTPUT) + segments, {
        tempReads: temp,
        outputs: job.writtenBytes,
        segmentBytes,
      }),
      shareLeft.pass2,
    ),
  ];
  return passes.map((pass) => ({ ...pass, seconds: pass.seconds + begins(pass.name) }));
}

/** Of the start and the end of a job. */
export function startSeconds({ slowness }: Pick<Circumstances, 'slowness'>): number {
  return START_SECONDS * slowness;
}

interface TimedDeviceLoad {
  readonly inputs?: number;
  readonly tempReads?: number;
  readonly tempWrites?: number;
  readonly outputs?: number;
  /** Of what is read back. */
  readonly segmentBytes?: number;
}

interface DeviceTime {
  readonly seconds: number;
  readonly name: string | undefined;
}

function slowestOf(devices: readonly TimedDevice[], load: TimedDeviceLoad): DeviceTime {
  const { inputs = 0, tempReads = 0, tempWrites = 0, outputs = 0, segmentBytes = 1 } = load;
  let slowest: DeviceTime = { seconds: 0, name: undefined };
  for (const device of devices) {
    const { readBytesPerSecond, writeBytesPerSecond, seekSeconds, inputShare, tempShare, outputShare } = device;
    const seeks = seekSeconds * ((tempReads * tempShare) / Math.max(1, segmentBytes));
    const readBytes = inputs * inputShare + tempReads * tempShare;
    const writtenBytes = tempWrites * tempShare + outputs * outputShare;
    const seconds = readBytes / readBytesPerSecond + writtenBytes / writeBytesPerSecond + seeks;
    if (seconds > slowest.seconds) slowest = { seconds, name: device.name };
  }
  return slowest;
}

function passOf(name: PassName, coresSeconds: number, isLongTask: boolean, slowest: DeviceTime): PassTime {
  const seconds = (coresSeconds ** OVERLAP + slowest.seconds ** OVERLAP) ** (1 / OVERLAP);
  if (slowest.seconds > coresSeconds) return { name, seconds, limit: 'disk', device: slowest.name };
  return { name, seconds, limit: isLongTask ? 'one core' : 'cores' };
}

function scaled(pass: PassTime, share: number): PassTime {
  return { ...pass, seconds: pass.seconds * share };
}
