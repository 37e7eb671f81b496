/** Outputs on other machines: parts that threads write arrive whole, nothing is replaced unasked, and nothing stays open. */
import { once } from 'node:events';
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest';
import { asJob } from '#src/floor/cleanup.js';
import { blockFor } from '#src/floor/pause.js';
import { OBJECT_INPUTS } from '#src/places/inputs/object-inputs.js';
import { beginUpload, PartWriter, serviceUploadId } from '#src/remote/part-writer.js';
import { type RemoteObjectStore, remoteObjectStore } from '#src/remote/transfer-client.js';
import { PART_BYTES, poolBytesOf } from '#src/remote/transfer-pool.js';
import { errorOf } from '../fixtures/error-of.js';
import { endObjectServers, type ObjectServer, startObjectServer } from './object-server.js';

const MIB = 1024 * 1024;
const PART = 300_000;
const RETRY_POLICY = {
  totalMilliseconds: 2000,
  firstPauseMilliseconds: 5,
  longestPauseMilliseconds: 20,
  silenceMilliseconds: 150,
};

/** One part after the other. */
const CONTENT = Buffer.alloc(3 * PART + 1000);
for (let i = 0; i < CONTENT.byteLength; i++) CONTENT[i] = (i * 7 + (i >> 8)) % 251;

let server: ObjectServer;
let outputs: RemoteObjectStore;
/** Of the test. */
let address = '';
/** Ends what uses the transfer thread, and so the thread. */
let end: () => Promise<void>;
const former = { ...process.env };
const VARIABLES = ['AWS_ENDPOINT_URL', 'AWS_ACCESS_KEY_ID', 'AWS_SECRET_ACCESS_KEY'];
const HANGS_MILLISECONDS = 60_000;
const GO_ON = () => {
  if (performance.now() > hangsAt) expect.fail('no answer comes');
};
let hangsAt = 0;
const retried: string[] = [];

function start(): void {
  const over = new AbortController();
  const job = asJob(async () => {
    outputs = remoteObjectStore({
      memoryBytes: 64 * MIB,
      workers: 2,
      retryPolicy: RETRY_POLICY,
      onRetry: (line) => retried.push(line),
    });
    await once(over.signal, 'abort');
  });
  end = () => {
    over.abort();
    return job;
  };
}

const SETTINGS = { secret: 'secret', region: 'eu-north-7', pageKeys: 2, leastPartBytes: PART };

afterAll(endObjectServers);
beforeAll(async () => {
  server = await startObjectServer({}, SETTINGS);
  process.env['AWS_ENDPOINT_URL'] = server.url;
  process.env['AWS_ACCESS_KEY_ID'] = 'tester';
  process.env['AWS_SECRET_ACCESS_KEY'] = 'secret';
  start();
});
afterAll(async () => {
  await end();
  await server.close();
  for (const name of VARIABLES) {
    if (former[name] === undefined) delete process.env[name];
    else process.env[name] = former[name];
  }
});

let testCount = 0;
beforeEach(async () => {
  const usual = { ...SETTINGS, conditions: undefined, takesBytesOfSecond: undefined, answersAfterMilliseconds: 0 };
  await server.change({ settings: usual });
  address = `s3://bucket/${++testCount}/é+ &.bin`;
  retried.length = 0;
  hangsAt = performance.now() + HANGS_MILLISECONDS;
});

/** In pieces of another size than blocks. */
function write(parts: PartWriter, number: number): void {
  const part = CONTENT.subarray((number - 1) * PART, number * PART);
  for (let done = 0; done < part.byteLength; done += 77_777) parts.write(part.subarray(done, done + 77_777), done);
  parts.put(number, part.byteLength);
}

async function contentOf(object: string): Promise<Buffer> {
  await server.change({ settings: { secret: undefined } });
  const reply = await fetch(`${server.url}/bucket/${encodeURIComponent(object.slice('s3://bucket/'.length))}`);
  await server.change({ settings: SETTINGS });
  return Buffer.from(await reply.arrayBuffer());
}

const begun = () => beginUpload(address, GO_ON);
const opened = () => outputs.uploads(address);

async function complete(uploadId = begun(), onlyIfAbsent = true): Promise<void> {
  const parts = new PartWriter(address, uploadId, PART, GO_ON);
  write(parts, 1);
  await outputs.complete(address, uploadId, parts.waitForParts(), onlyIfAbsent);
}

describe('the pool', () => {
  it.each([
    [32 * MIB, 2, 16 * MIB],
    [64 * MIB, 2, 16 * MIB],
    [1024 * MIB, 2, 256 * MIB],
    [4096 * MIB, 2, 320 * MIB],
    [4096 * MIB, 48, 1024 * MIB],
  ])('of %i bytes and %i workers has %i bytes', (memoryBytes, workers, poolBytes) => {
    expect(poolBytesOf({ memoryBytes, workers, uploads: true })).toBe(poolBytes);
  });
});

describe('an upload', () => {
  it('keeps what a room holds for a reader', async () => {
    const parts = new PartWriter(address, begun(), PART, GO_ON);
    parts.write(CONTENT.subarray(0, PART), 0);
    expect(Buffer.concat([...parts.pieces(280_000)]).equals(CONTENT.subarray(0, 280_000))).toBe(true);
    parts.discard();
    expect([...parts.pieces(280_000)]).toEqual([]);
    parts.discard();
    expect(parts.waitForParts()).toEqual([]);
  });

  it('has of each number the part that came last', async () => {
    const uploadId = begun();
    const parts = new PartWriter(address, uploadId, PART, GO_ON);
    // The first one arrives slowly.
    await server.change({ settings: { takesBytesOfSecond: MIB } });
    for (const value of [1, 2]) {
      parts.write(Buffer.alloc(PART, value), 0);
      parts.put(1, PART);
      blockFor(50);
      await server.change({ settings: { takesBytesOfSecond: undefined } });
    }
    const [last] = parts.waitForParts().slice(-1);
    blockFor(300);
    await outputs.complete(address, uploadId, last === undefined ? [] : [last], true);
    expect((await contentOf(address)).equals(Buffer.alloc(PART, 2))).toBe(true);
  });

  it('waits with the room that comes next until there is one', async () => {
    const uploadId = begun();
    // One part fills the pool.
    const [one, other] = [0, 1].map(() => new PartWriter(address, uploadId, PART_BYTES, GO_ON));
    if (one === undefined || other === undefined) return expect.fail();
    expect(outputs.poolBytes).toBe(PART_BYTES);
    for (const number of [1, 3]) {
      one.write(CONTENT, PART_BYTES - CONTENT.byteLength);
      one.put(number, PART_BYTES);
      other.write(CONTENT, 0);
      other.put(number + 1, CONTENT.byteLength);
    }
    const numbers = [...one.waitForParts(), ...other.waitForParts()].map(({ number }) => number);
    expect(numbers).toEqual([1, 3, 2, 4]);
    expect((await outputs.parts(address, uploadId))?.map(({ byteLength }) => byteLength)).toEqual([
      PART_BYTES,
      CONTENT.byteLength,
      PART_BYTES,
      CONTENT.byteLength,
    ]);
  });

  it('shares its room with inputs', async () => {
    const input = address.replace('é+ &.bin', 'input');
    await outputs.putText(input, CONTENT.toString('latin1'), true);
    const object = OBJECT_INPUTS.open(input);
    const bytes = Buffer.alloc(object.version.byteLength);
    const read = (from: number, end: number) => object.readAt(bytes, from, end - from, from);
    read(0, 100_000);
    const parts = new PartWriter(address, begun(), PART_BYTES, GO_ON);
    for (const number of [1, 2]) {
      // It takes all blocks.
      parts.write(Buffer.alloc(PART_BYTES, number), 0);
      parts.put(number, PART_BYTES);
    }
    read(100_000, 700_000);
    parts.write(CONTENT, 0);
    parts.discard();
    read(700_000, bytes.byteLength);
    object.close();
    expect(bytes.toString()).toBe(CONTENT.toString('latin1'));
    expect(parts.waitForParts().length).toBe(2);
  });
});

describe('a list', () => {
  it('has all pages of parts, and none of an upload that is gone', async () => {
    const uploadId = begun();
    const parts = new PartWriter(address, uploadId, PART, GO_ON);
    for (const number of [1, 2, 3]) write(parts, number);
    const put = parts.waitForParts();
    expect(await outputs.parts(address, uploadId)).toEqual(
      put.map(({ number, tag }) => ({ number, tag, byteLength: PART })),
    );
    await outputs.abort(address, uploadId);
    await outputs.abort(address, uploadId);
    expect(await outputs.parts(address, uploadId)).toBeUndefined();
  });

  it('has all pages of uploads below an address', async () => {
    const addresses = ['a/1', 'b/é 1', 'b/2', 'b/2', 'c'].map((name) => `${address}/${name}`);
    const ids = addresses.map((each) => serviceUploadId(beginUpload(each, GO_ON)));
    expect((await opened()).map(({ uploadId }) => uploadId).toSorted()).toEqual(ids.toSorted());
    const below = await outputs.uploads(`${address}/b/`);
    expect(below.map((each) => each.address).toSorted()).toEqual(addresses.slice(1, 4).toSorted());
    expect(below[0]?.initiated).toEqual(new Date('2026-01-02T03:04:05Z'));
    for (const each of await opened()) await outputs.abort(each.address, each.uploadId);
    expect(await opened()).toEqual([]);
  });
});

describe('an object', () => {
  it.each([undefined, 'ignored', 'unknown'] as const)(
    'is replaced only on demand: conditions are %s',
    async (conditions) => {
      await server.change({ settings: { conditions } });
      await complete();
      const uploadId = begun();
      const { code, message } = await errorOf(complete(uploadId));
      expect({ code, message }).toEqual({
        code: 'ERR_OUTPUT_EXISTS',
        message: `the output ${address} appeared during the job and was left alone; give \`force\` to replace it`,
      });
      await complete(uploadId, false);
      expect(await opened()).toEqual([]);
      const marker = address.replace('é+ &.bin', '_SUCCESS');
      await outputs.putText(marker, 'one', true);
      expect((await errorOf(outputs.putText(marker, 'two', true))).code).toBe('ERR_OUTPUT_EXISTS');
      await outputs.putText(marker, 'three', false);
      expect(String(await contentOf(marker))).toBe('three');
      const listed = await outputs.list(marker.replace('_SUCCESS', ''));
      expect(listed.map(({ place }) => place)).toEqual(['_SUCCESS', 'é+ &.bin']);
      await outputs.remove(address);
      await outputs.remove(address);
      expect(await outputs.head(address)).toBeUndefined();
    },
  );

  it('is made where the service learns of no condition, also while others are made', async () => {
    await end();
    start();
    await server.change({ settings: { conditions: 'unknown', answersAfterMilliseconds: 20 } });
    // The region is known before.
    expect(await outputs.head(address)).toBeUndefined();
    const places = Array.from({ length: 6 }, (_, i) => `${address} ${i}`);
    await Promise.all(places.map((place) => outputs.putText(place, 'text', true)));
    expect(await outputs.list(address)).toHaveLength(6);
  });

  it('is found to be made when it is completed again, whatever became of the answer', async () => {
    const uploadId = begun();
    await complete(uploadId);
    const parts = [{ number: 1, tag: '"any"', content: undefined }];
    await outputs.complete(address, uploadId, parts, true);
    await outputs.complete(address, uploadId, parts, false);
    const other = await errorOf(outputs.complete(address, `${serviceUploadId(uploadId)} other`, parts, false));
    expect(other.message).toBe(
      `cannot write the output ${address}: its upload is gone, or was completed by somebody else; start again`,
    );
  });
});

describe('a job that ends early', () => {
  const stopAfter = (looks: number) => () => {
    if (looks-- <= 0) throw new Error('stopped');
  };

  it('does not wait for parts under way, which an abort cancels', async () => {
    const uploadId = begun();
    await server.change({ settings: { takesBytesOfSecond: 1 } });
    const parts = new PartWriter(address, uploadId, PART_BYTES, stopAfter(2));
    parts.write(CONTENT, 0);
    parts.put(1, PART_BYTES);
    expect(() => parts.waitForParts()).toThrow('stopped');
    await outputs.abort(address, uploadId);
    await server.change({ settings: { takesBytesOfSecond: undefined } });
    expect(await opened()).toEqual([]);
    // Its room is free again.
    await complete();
    expect(retried).toEqual([]);
  });

  it('leaves no upload whose id came too late', async () => {
    await server.change({ settings: { answersAfterMilliseconds: 100 } });
    expect(() => beginUpload(address, stopAfter(0))).toThrow('stopped');
    // It is answered after the upload has begun.
    await outputs.head(address);
    await end();
    await server.change({ settings: { answersAfterMilliseconds: 0 } });
    start();
    expect(await outputs.uploads(address)).toEqual([]);
  });

  it('takes what came in the last moment', async () => {
    await server.change({ settings: { answersAfterMilliseconds: 100 } });
    const uploadId = beginUpload(address, () => {
      blockFor(300);
      throw new Error('stopped');
    });
    expect((await opened()).map((each) => each.uploadId)).toEqual([serviceUploadId(uploadId)]);
  });

  it('gives back a room that came too late', async () => {
    const uploadId = begun();
    const [holder, waiting] = [GO_ON, stopAfter(1)].map(
      (check) => new PartWriter(address, uploadId, PART_BYTES, check),
    );
    holder?.write(CONTENT, 0);
    expect(() => waiting?.write(CONTENT, 0)).toThrow('stopped');
    waiting?.discard();
    holder?.discard();
    await complete(uploadId);
  });
});

describe('one clear line', () => {
  const messageOf = async (variables: Record<string, string>) => {
    await end();
    const before = { ...process.env };
    Object.assign(process.env, variables);
    start();
    const { code, message } = await errorOf((async () => complete())());
    Object.assign(process.env, before);
    await end();
    start();
    return `${code} ${message}`;
  };

  it('for credentials that may not write', async () => {
    expect(await messageOf({ AWS_SECRET_ACCESS_KEY: 'wrong' })).toBe(
      `ERR_IO cannot write the output ${address}: the server answered 403 (AccessDenied: said by the test); the credentials of the environment were tried; check what they may write`,
    );
  });

  it('for a server that is gone', async () => {
    expect(await messageOf({ AWS_ENDPOINT_URL: 'http://127.0.0.1:9' })).toBe(
      `ERR_IO cannot write the output ${address}: no server listens there, 3 times; look whether the server and the network work, and start again`,
    );
  });

  it('for a part that fails for good: the next one of its thread is refused', async () => {
    const parts = new PartWriter(address, 'none', PART, GO_ON);
    write(parts, 1);
    expect(() => parts.waitForParts()).toThrow('its upload is gone');
    parts.write(CONTENT.subarray(0, PART), 0);
    await expect
      .poll(() => {
        try {
          write(parts, 2);
          return '';
        } catch (error) {
          return String(error);
        }
      })
      .toContain('its upload is gone');
    await outputs.abort(address, 'none');
  });

  it('for parts that the memory has no room for', async () => {
    const parts = new PartWriter(address, begun(), 20 * MIB, GO_ON);
    expect(() => parts.write(CONTENT, 0)).toThrow(
      'parts of uploads have 20 MiB, and the memory has room for 16; raise `memoryBytes`',
    );
  });
});
