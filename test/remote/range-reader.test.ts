/** Readers of objects and texts, with a played server. */
import { createServer, type ServerResponse } from 'node:http';
import type { AddressInfo } from 'node:net';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, it } from 'vitest';
import { HttpClient } from '#src/remote/http.js';
import { type HttpRequest, type Reply, requestTo } from '#src/remote/http-messages.js';
import { RangeReader } from '#src/remote/range-reader.js';
import { RETRY_POLICY } from '#src/remote/retries.js';
import type { ObjectVersion } from '#src/remote/transfer-channel.js';
import { Web } from '#src/remote/web.js';

it('an address that a redirect gave expires under several requests', async () => {
  let leases = 0;
  let expired = 0;
  const http = new HttpClient(RETRY_POLICY, () => undefined);
  http.getRange = async ({ path }: HttpRequest, takes): Promise<Reply> => {
    await sleep(2);
    if (path === '/file') return { status: 302, headers: { location: `/lease/${++leases}` }, text: '' };
    if (Number(path.split('/')[2]) <= expired) return { status: 403, headers: {}, text: '' };
    const head = { status: 206, headers: { etag: '"1"', 'content-length': '1', 'content-range': 'bytes 0-0/9' } };
    takes(head)?.markFilled(1);
    return { ...head, text: '' };
  };
  const web = new Web();
  web.requestFor = async (path) => requestTo(new URL(path), {});
  const reader = new RangeReader(
    http,
    () => web,
    RETRY_POLICY,
    () => {},
  );
  const path = 'https://host/file';
  const read = () =>
    reader.read(
      path,
      () => ({ path, version: undefined, start: 0, end: 1 }),
      () => ({ nextBuffer: () => new Uint8Array(1), markFilled: () => {} }),
    );
  await read();
  expired = leases;
  expect(await Promise.all([read(), read(), read()])).toHaveLength(3);
  expired = 99;
  await expect(read()).rejects.toMatchObject({ code: 'ERR_INPUT_UNREADABLE' });
});

it('the tag of an object is that of its service, whatever another host says that sends its data', async () => {
  let tag = '"1"';
  let replies = 0;
  let hasExpired = false;
  const http = new HttpClient(RETRY_POLICY, () => undefined);
  http.getRange = async ({ server, method, headers }: HttpRequest, takes): Promise<Reply> => {
    if (method === 'HEAD') return { status: 200, headers: { etag: tag }, text: '' };
    if (server.host === 'host') return { status: 302, headers: { location: 'https://elsewhere/x' }, text: '' };
    expect(headers['if-match']).toBeUndefined();
    const isRefused = hasExpired;
    hasExpired = false;
    if (isRefused) return { status: 403, headers: {}, text: '' };
    const said = { etag: `"of a copy ${++replies}"`, 'content-length': '1', 'content-range': 'bytes 0-0/9' };
    takes({ status: 206, headers: said })?.markFilled(1);
    return { status: 206, headers: said, text: '' };
  };
  const service = Object.assign(new Web(), {
    headRequestFor: async (path: string): Promise<HttpRequest> => ({ ...requestTo(new URL(path), {}), method: 'HEAD' }),
  });
  const reader = new RangeReader(
    http,
    () => service,
    RETRY_POLICY,
    () => {},
  );
  const path = 'https://host/file';
  const read = (version: ObjectVersion | undefined) =>
    reader.read(
      path,
      () => ({ path, version, start: 0, end: 1 }),
      () => ({ nextBuffer: () => new Uint8Array(1), markFilled: () => {} }),
    );
  const version = await read(undefined);
  expect(version).toEqual({ byteLength: 9, validator: '"1"' });
  expect(await read(version)).toEqual(version);
  hasExpired = true;
  expect(await read(version)).toEqual(version);
  tag = '"2"';
  hasExpired = true;
  await expect(read(version)).rejects.toMatchObject({ code: 'ERR_INPUT_CHANGED' });
});

it.each(['http://host/file', 'http://elsewhere/file', 'file:///etc/passwd'])(
  'a redirect from https to %s is refused, and not followed',
  async (location) => {
    const http = new HttpClient(RETRY_POLICY, () => undefined);
    const asked: string[] = [];
    http.getRange = async ({ server }: HttpRequest): Promise<Reply> => {
      asked.push(server.protocol);
      return { status: 302, headers: { location }, text: '' };
    };
    http.send = (target) => http.getRange(target, () => undefined);
    const web = new Web();
    web.requestFor = async (path) => requestTo(new URL(path), {});
    const reader = new RangeReader(
      http,
      () => web,
      RETRY_POLICY,
      () => {},
    );
    const path = 'https://host/file';
    const range = { path, version: undefined, start: 0, end: 1 };
    const body = { nextBuffer: () => new Uint8Array(1), markFilled: () => {} };
    const reads = [
      reader.read(
        path,
        () => range,
        () => body,
      ),
      reader.readText(path, async () => requestTo(new URL(path), {})),
    ];
    for (const read of reads) {
      await expect(read).rejects.toMatchObject({
        code: 'ERR_INPUT_UNREADABLE',
        message: `cannot read ${path}: the server redirects to ${new URL(location).protocol}//, which is not safe; name another address`,
      });
    }
    expect(asked).toEqual(['https:', 'https:']);
  },
);

it('a text whose connection breaks, or brings bytes too slowly, is asked for again as an object is', async () => {
  let goesOn = (_: ServerResponse) => {};
  const server = createServer((_, response) => {
    response.writeHead(200, { 'content-length': 20_000 });
    goesOn(response);
  });
  await new Promise<void>((resolve) => {
    server.listen(0, '127.0.0.1', resolve);
  });
  const { port } = server.address() as AddressInfo;
  const read = (totalMilliseconds: number) => {
    const retryPolicy = {
      totalMilliseconds,
      silenceMilliseconds: 50,
      firstPauseMilliseconds: 1,
      longestPauseMilliseconds: 1,
    };
    const web = new Web();
    const reader = new RangeReader(
      new HttpClient(RETRY_POLICY, () => undefined),
      () => web,
      retryPolicy,
      () => {},
    );
    return reader.readText('https://host/list', async () => requestTo(new URL(`http://127.0.0.1:${port}/`), {}));
  };
  goesOn = (response) => response.write('x'.repeat(9000), () => response.destroy());
  await expect(read(2)).rejects.toThrow(/: the connection broke, 20 times; /);
  goesOn = (response) => {
    const trickle = setInterval(() => response.write('x'), 10);
    response.on('close', () => clearInterval(trickle));
  };
  await expect(read(100)).rejects.toThrow(/: fewer than 1024 bytes a second come through, \d times?; /);
  server.close();
});
