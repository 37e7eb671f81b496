/** Starts the server of objects, and tells what it was asked. */
import { once } from 'node:events';
import { Worker } from 'node:worker_threads';

interface ServerSettings {
  /** Keys on a page of a list. */
  readonly pageKeys?: number;
  /** What lists do that should not: they are of the first version; a page leads to itself; there is none, but this text. */
  readonly lists?: 'first version' | 'repeat' | { readonly text: string } | undefined;
  /** Whether a range of an empty object is refused without its size. */
  readonly refusesEmpty?: boolean;
  readonly region?: string;
  /**
   * The path before the bucket, of a service as the gateway of the Hub is: data comes from the second port with another tag,
   * no words about objects are kept, and If-None-Match holds for whole objects alone.
   */
  readonly gateway?: string | undefined;
  readonly ranges?: boolean;
  /** Of the key `tester`; undefined: nobody signs. */
  readonly secret?: string | undefined;
  readonly token?: string;
  readonly commit?: string;
  /** Whether the Hub's repository `owner/former` is called `owner/name` now. */
  readonly isRenamed?: boolean;
  /** Whether each reply has another ETag, and the checksum of the object. */
  readonly mirrors?: boolean;
  /** Before each range is sent. */
  readonly delayMilliseconds?: number;
  /** How many requests an address of the Hub's storage answers. */
  readonly leaseUses?: number;
  /** Of a part that is not the last one. */
  readonly leastPartBytes?: number;
  /** Of uploads. */
  readonly answersAfterMilliseconds?: number;
  readonly takesBytesOfSecond?: number | undefined;
  /** What becomes of If-None-Match; undefined: it holds. */
  readonly conditions?: 'ignored' | 'unknown' | undefined;
  /** What becomes of checksums; undefined: they are compared, and said of the whole object. */
  readonly checksums?: 'ignored' | 'unknown' | 'of parts' | undefined;
  /** Byte length of the parts of which the checksums of objects are said; absent: none is said. */
  readonly sums?: number;
  /** Which checksums these are; absent: CRC-32. */
  readonly sumKind?: 'crc32' | 'crc32c' | 'crc64nvme';
  /** Where a bit of what was sent is flipped: in one part, or in each object. */
  readonly flips?: 'part' | 'object' | undefined;
}

export interface AskedRequest {
  readonly port: 'main' | 'storage';
  readonly method: string;
  readonly path: string;
  readonly range?: string;
  readonly authorization?: string;
  readonly encoding?: string;
  /** How many ranges were asked for before, and not sent yet. */
  readonly beside?: number;
  /** CRC-32 of what was sent. */
  readonly crc?: string;
  /** Who pays for it. */
  readonly payer?: string;
}

export interface Fault {
  /** The number of a request, from 1. */
  readonly at?: number | 'all';
  readonly from?: number;
  /** Method and address of a request begin so; others are not counted. Without a number, all of these fail. */
  readonly of?: string;
  readonly kind: string | number;
}

interface Change {
  /** Null: no more. */
  readonly fault?: Fault | null;
  readonly settings?: ServerSettings;
}

export interface ObjectServer {
  readonly url: string;
  /** What it was asked since the last call. */
  change(change?: Change, objects?: Readonly<Record<string, string | Uint8Array>>): Promise<readonly AskedRequest[]>;
  close(): Promise<void>;
}

/** Threads of servers that were closed: the next test takes one over, which costs less than another thread. */
const idle: { readonly thread: Worker; readonly port: number }[] = [];

/** Call it when the tests of a file are over: threads have open files, which other tests count. */
export async function endObjectServers(): Promise<void> {
  await Promise.all(idle.splice(0).map(({ thread }) => thread.terminate()));
}

async function startThread(workerData: object) {
  const thread = new Worker(new URL('object-server.mjs', import.meta.url), { workerData });
  thread.unref();
  const [{ port }] = (await once(thread, 'message')) as [{ readonly port: number }];
  return { thread, port };
}

export async function startObjectServer(
  objects: Readonly<Record<string, string | Uint8Array>>,
  settings: ServerSettings = {},
): Promise<ObjectServer> {
  const begin = { objects, settings };
  const known = idle.pop();
  const { thread, port } = known ?? (await startThread(begin));
  const ask = async (question: object) => {
    thread.postMessage(question);
    const [{ asked }] = (await once(thread, 'message')) as [{ readonly asked: readonly AskedRequest[] }];
    return asked;
  };
  if (known !== undefined) await ask({ begin });
  return {
    url: `http://127.0.0.1:${port}`,
    change: (change = {}, changed = {}) => ask({ change, objects: changed }),
    close: async () => {
      idle.push({ thread, port });
    },
  };
}
