/** Questions to S3, as they are sent. */
import { expect, it } from 'vitest';
import { AwsSettings } from '#src/remote/aws-settings.js';
import { HttpClient } from '#src/remote/http.js';
import { S3 } from '#src/remote/s3.js';
import { validatorOfHttp } from '#src/remote/service.js';

const http = new HttpClient({ silenceMilliseconds: 1000 }, () => undefined);
const s3At = (endpoint: string | undefined) =>
  new S3(new AwsSettings({}, { endpoint, requesterPays: false, signRequests: false }), http);

const KEYS = [
  ['a/../b/./c', '/a/../b/./c'],
  ['/a//b/', '//a//b/'],
  ['%2e%2e/x', '/%252e%252e/x'],
  ["?#+ é\n\\*!'()", '/%3F%23%2B%20%C3%A9%0A%5C%2A%21%27%28%29'],
];

it.each(KEYS)('the key %j is the path %s', async (key, path) => {
  const ofHost = await s3At(undefined).signed({ bucket: 'bucket', key }, {});
  expect([ofHost.server.host, ofHost.path]).toEqual(['bucket.s3.us-east-1.amazonaws.com', path]);
  const there = s3At('http://host:1/below/');
  expect((await there.signed({ bucket: 'b:1#', key }, {})).path).toBe(`/below/b%3A1%23${path}`);
});

it.each(['../x', 'a/../../b/x', 'a//../../x', './../x'])(
  'the key %s, which leads out of its bucket, is refused',
  async (key) => {
    const s3 = s3At('http://host');
    await expect(s3.signed({ bucket: 'bucket', key }, {})).rejects.toMatchObject({ code: 'ERR_INPUT_UNREADABLE' });
  },
);

it.each<[Readonly<Record<string, string>>, string | undefined]>([
  [{ etag: '"a"' }, 'AAAAAA=='],
  [{ etag: '"a-2"' }, undefined],
  [{ etag: '"a-2"', 'x-amz-checksum-type': 'FULL_OBJECT' }, 'AAAAAA=='],
  [{ etag: '"a"', 'x-amz-checksum-type': 'COMPOSITE' }, undefined],
])('a checksum beside %j is that of the whole object: %s', async (more, text) => {
  const headers = { 'content-length': '9', 'x-amz-checksum-crc32': 'AAAAAA==', ...more };
  const version = { byteLength: 9, validator: validatorOfHttp(headers) ?? '' };
  const s3 = s3At('http://host');
  expect((await s3.checksumOf('s3://bucket/key', version, async () => headers))?.text).toBe(text);
  expect(s3.checksumIn(headers, 9)).toEqual(text === undefined ? undefined : expect.objectContaining({ text }));
  // Beside a range, only the type tells.
  const isSaid = more['x-amz-checksum-type'] === 'FULL_OBJECT';
  const beside = s3.checksumIn({ ...headers, 'content-range': 'bytes 0-8/9' }, 9);
  expect(beside).toEqual(isSaid ? expect.objectContaining({ text }) : undefined);
  expect(s3.checksumIn({ 'content-length': '9' }, 9)).toBe('none');
});

it('each question that was under way is signed anew when the first answer has told the region', async () => {
  const s3 = s3At('http://host');
  const [one, other, third] = await Promise.all(['a', 'b', 'c'].map((key) => s3.signed({ bucket: 'bucket', key }, {})));
  const reply = { status: 400, headers: { 'x-amz-bucket-region': 'eu-north-7' }, text: '' };
  for (const asked of [one, other]) expect(s3.advise('s3://bucket/a', reply, asked ?? expect.fail())).toBe('again');
  expect(s3.learnsRegion('s3://bucket/c', reply, third ?? expect.fail())).toBe(true);
  const again = await s3.signed({ bucket: 'bucket', key: 'a' }, {});
  expect(s3.advise('s3://bucket/a', reply, again)).toBeUndefined();
});
