/** What is asked of S3, and by whom, for the variables and files that the AWS tools read. */
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { createServer, type IncomingMessage, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest';
import { requireAddress, requireObjectHeaders, requireWithoutSecrets, shownText } from '#src/remote/address.js';
import { AwsCredentialChain } from '#src/remote/aws-credentials.js';
import { AwsSettings, type Environment } from '#src/remote/aws-settings.js';
import { HttpClient } from '#src/remote/http.js';
import { S3 } from '#src/remote/s3.js';
import { useMemoryDirectory } from '../fixtures/temp-directory.js';

const directory = useMemoryDirectory();
const KEYS = { AWS_ACCESS_KEY_ID: 'id', AWS_SECRET_ACCESS_KEY: 'secret' };

const CONFIG = `
# comment
[default]
region = eu-west-1
[profile far]
Region: ap-south-1
services = mine
endpoint_url = http://of-profile
s3 =
    use_dualstack_endpoint = false
[profile 'two words']
region=sa-east-1
[services mine]
dynamodb =
  endpoint_url = http://other
s3 =
  endpoint_url = http://of-services
[profile lost]
services = nobody
[profile process]
credential_process = sh -c 'echo "$0 failed: secret=abc" >&2; exit 3' 'get keys'
[profile chain]
role_arn = arn:aws:iam::1:role/x
source_profile = default
[profile dual]
s3 =
  use_dualstack_endpoint = true
`;

beforeEach(() => writeFileSync(directory.path('config'), CONFIG));

const files = () => ({
  HOME: directory.path('home'),
  AWS_CONFIG_FILE: directory.path('config'),
  AWS_SHARED_CREDENTIALS_FILE: directory.path('credentials'),
});
const http = new HttpClient({ silenceMilliseconds: 2000 }, () => undefined);

async function addressFor(environment: Environment, bucket = 'b'): Promise<string> {
  const settings = new AwsSettings(
    { ...files(), ...KEYS, ...environment },
    { endpoint: undefined, requesterPays: undefined },
  );
  const { server, path, headers } = await new S3(settings, http).signed({ bucket, key: 'k' }, {});
  const [, region] = /Credential=id\/\d+\/([^/]*)/.exec(headers['Authorization'] ?? '') ?? [];
  return `${server.origin}${path} ${region}`;
}

describe('the address of an object', () => {
  it.each<[Environment, string]>([
    [{}, 'https://b.s3.eu-west-1.amazonaws.com/k eu-west-1'],
    [{ AWS_REGION: 'us-west-2', AWS_DEFAULT_REGION: 'x' }, 'https://b.s3.us-west-2.amazonaws.com/k us-west-2'],
    [
      { AWS_REGION: '', AWS_DEFAULT_REGION: 'us-west-1', AWS_PROFILE: '' },
      'https://b.s3.us-west-1.amazonaws.com/k us-west-1',
    ],
    [{ AWS_REGION: 'cn-north-1' }, 'https://b.s3.cn-north-1.amazonaws.com.cn/k cn-north-1'],
    [{ AWS_USE_DUALSTACK_ENDPOINT: 'true' }, 'https://b.s3.dualstack.eu-west-1.amazonaws.com/k eu-west-1'],
    [{ AWS_PROFILE: 'dual' }, 'https://b.s3.dualstack.us-east-1.amazonaws.com/k us-east-1'],
    [{ AWS_USE_FIPS_ENDPOINT: 'TRUE' }, 'https://b.s3-fips.eu-west-1.amazonaws.com/k eu-west-1'],
    [{ AWS_PROFILE: 'far' }, 'http://of-services/b/k ap-south-1'],
    [{ AWS_DEFAULT_PROFILE: 'far', AWS_ENDPOINT_URL: 'http://of-variable/' }, 'http://of-variable/b/k ap-south-1'],
    [
      { AWS_PROFILE: 'far', AWS_ENDPOINT_URL: 'http://x', AWS_ENDPOINT_URL_S3: 'http://s3' },
      'http://s3/b/k ap-south-1',
    ],
    [
      { AWS_PROFILE: 'far', AWS_IGNORE_CONFIGURED_ENDPOINT_URLS: 'true' },
      'https://b.s3.ap-south-1.amazonaws.com/k ap-south-1',
    ],
    [{ AWS_PROFILE: 'two words' }, 'https://b.s3.sa-east-1.amazonaws.com/k sa-east-1'],
  ])('%j', async (environment, address) => {
    expect(await addressFor(environment)).toBe(address);
  });

  it('that has a dot in its bucket stands in the path', async () => {
    expect(await addressFor({}, 'a.b')).toMatch(/^https:\/\/s3.eu-west-1.amazonaws.com\/a.b\/k /);
  });

  it.each<[Environment, RegExp]>([
    [{ AWS_PROFILE: 'missing' }, /the profile missing is neither in .*config nor in .*credentials; check AWS_PROFILE/],
    [{ AWS_PROFILE: 'lost' }, /names the services nobody, which .*config does not have/],
    [{ AWS_ENDPOINT_URL: 'http://x', AWS_USE_FIPS_ENDPOINT: 'true' }, /cannot be combined with FIPS endpoints/],
    [{ AWS_SECRET_ACCESS_KEY: '' }, /AWS_ACCESS_KEY_ID is set, and AWS_SECRET_ACCESS_KEY is not/],
    [{ AWS_CONFIG_FILE: '/' }, /cannot read \/, a file of the AWS tools: it is a directory/],
    [
      { ...noKeys(), AWS_PROFILE: 'process' },
      /credential_process of the profile process failed: get keys failed: secret=\.\.\.$/,
    ],
    [{ ...noKeys(), AWS_PROFILE: 'chain' }, /profile chain need the SDK of AWS; run npm install/],
    [
      { ...noKeys(), AWS_CONTAINER_CREDENTIALS_FULL_URI: 'http://example.org/' },
      /is not an address of this machine, and not encrypted/,
    ],
  ])('is refused for %j', async (environment, message) => {
    await expect(addressFor(environment)).rejects.toThrow(message);
  });
});

function noKeys() {
  return { AWS_ACCESS_KEY_ID: '', AWS_SECRET_ACCESS_KEY: '' };
}

describe('credentials', () => {
  let service: Server;
  let url: string;
  let asked: string[];
  /** Replies in turn, by what is asked; the last one stays. */
  let replies: Record<string, (string | number)[]>;
  const later = (milliseconds: number) => new Date(Date.now() + milliseconds).toISOString();
  const given = (key: string, milliseconds = 3_600_000) =>
    JSON.stringify({
      Code: 'Success',
      AccessKeyId: key,
      SecretAccessKey: 's',
      Token: 't',
      Expiration: later(milliseconds),
    });

  beforeEach(async () => {
    asked = [];
    service = createServer(async (request: IncomingMessage, response) => {
      let body = '';
      for await (const piece of request) body += piece;
      const { method, url: path = '', headers } = request;
      const proof = headers.authorization ?? headers['x-aws-ec2-metadata-token'] ?? '';
      asked.push(`${method} ${path} ${proof}${body}`.trim());
      const queue = replies[path] ?? [404];
      const reply = (queue.length > 1 ? queue.shift() : queue[0]) ?? 404;
      response.writeHead(typeof reply === 'number' ? reply : 200);
      response.end(typeof reply === 'number' ? '<Error><Message>said</Message></Error>' : reply);
    });
    service.listen(0, '127.0.0.1');
    await once(service, 'listening');
    url = `http://127.0.0.1:${(service.address() as AddressInfo).port}`;
  });
  afterEach(() => {
    vi.useRealTimers();
    service.closeAllConnections();
    service.close();
  });

  const credentialsFor = (environment: Environment, signRequests?: false) =>
    new AwsCredentialChain(
      new AwsSettings({ ...files(), ...environment }, { endpoint: undefined, requesterPays: undefined, signRequests }),
      http,
    );

  it('come from a program, until they end', async () => {
    const path = directory.path('count');
    writeFileSync(path, '');
    const answer = `{"Version": 1, "AccessKeyId": "p", "SecretAccessKey": "s", "Expiration": "${later(1000)}"}`;
    writeFileSync(
      directory.path('credentials'),
      `[default]\ncredential_process = sh -c 'echo >> "$0"; echo "$1"' ${path} ${JSON.stringify(answer)}\n`,
    );
    const credentials = credentialsFor({});
    expect(await credentials.find()).toMatchObject({ accessKeyId: 'p', sessionToken: undefined });
    await credentials.find();
    expect(readFileSync(path, 'utf8')).toBe('\n');
  });

  it('come from a web identity', async () => {
    writeFileSync(directory.path('token'), 'jwt\n');
    replies = {
      '/': ['<C><AccessKeyId>w</AccessKeyId><SecretAccessKey>s</SecretAccessKey><SessionToken>a+b</SessionToken></C>'],
    };
    const identity = {
      AWS_WEB_IDENTITY_TOKEN_FILE: directory.path('token'),
      AWS_ROLE_ARN: 'arn:x',
      AWS_ROLE_SESSION_NAME: 'n',
    };
    const found = await credentialsFor({ ...identity, AWS_ENDPOINT_URL_STS: url }).find();
    expect(found).toMatchObject({ accessKeyId: 'w', sessionToken: 'a+b' });
    expect(asked).toEqual([
      'POST / Action=AssumeRoleWithWebIdentity&Version=2011-06-15&RoleArn=arn%3Ax&RoleSessionName=n&WebIdentityToken=jwt',
    ]);
  });

  it('come from the role of the container', async () => {
    writeFileSync(directory.path('token'), 'of the pod\n');
    replies = { '/creds': [given('c')] };
    const pod = {
      AWS_CONTAINER_CREDENTIALS_FULL_URI: `${url}/creds`,
      AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE: directory.path('token'),
    };
    expect(await credentialsFor(pod).find()).toMatchObject({ accessKeyId: 'c', sessionToken: 't' });
    expect(asked).toEqual(['GET /creds of the pod']);
  });

  it('come from the role of the machine, and are renewed before they end', async () => {
    const roles = '/latest/meta-data/iam/security-credentials/';
    replies = {
      '/latest/api/token': ['token'],
      [roles]: ['role'],
      [`${roles}role`]: [500, given('m', 1000), given('n')],
    };
    const credentials = credentialsFor({ AWS_EC2_METADATA_SERVICE_ENDPOINT: url });
    await expect(credentials.find()).rejects.toThrow('the role of this machine gave no credentials: status 500 (said)');
    const all = await Promise.all([credentials.find(), credentials.find()]);
    expect(all.map((each) => each?.accessKeyId)).toEqual(['m', 'm']);
    expect(asked.filter((line) => line === `GET ${roles}role token`)).toHaveLength(2);
    vi.useFakeTimers({ toFake: ['Date'], now: Date.now() + 10_000 });
    expect((await credentials.find())?.accessKeyId).toBe('n');
  });

  it('are none where no role answers, and where nobody is to be named', async () => {
    replies = {};
    const credentials = credentialsFor({ AWS_EC2_METADATA_SERVICE_ENDPOINT: url });
    expect(await credentials.find()).toBeUndefined();
    expect(credentials.advice('read')).toContain('no credentials were found in the environment, in the files');
    const nobody = credentialsFor(KEYS, false);
    expect(await nobody.find()).toBeUndefined();
    expect(nobody.advice('read')).toBe('requests were not signed; leave out --no-sign-request');
  });
});

describe('what is refused, with what to do', () => {
  it.each([
    ['gs://b/k', /--endpoint https:\/\/storage.googleapis.com/],
    [
      'abfss://c@account.dfs.core.windows.net/k',
      /^abfss:\/\/account.*shared access signature, and upload outputs from a disk \(azcopy copy\)$/,
    ],
    ['azure://c/k', /^azure:\/\/c\/k is not an address/],
    ['s3a://b/k', /write it as s3:\/\/BUCKET\/KEY/],
    ['s3://arn:aws:s3:us-east-1:1:accesspoint/x/k', /the alias of the access point/],
    ['arn:aws:s3:us-east-1:1:accesspoint/x', /the alias of the access point/],
    ['s3://b--usw2-az1--x-s3/k', /a general purpose bucket/],
  ])('%s', (address, advice) => {
    expect(() => requireAddress(address)).toThrow(advice);
  });

  it('an address of a plan with what is secret', () => {
    expect(() => requireWithoutSecrets('https://h/a?sig=abc')).toThrow(/^https:\/\/h\/a was given with .* signature/);
    expect(() => requireWithoutSecrets('https://n:p@h/a')).toThrow(/^https:\/\/h\/a was given/);
    for (const address of ['https://h/a?b=c#d', 's3://b/k', 'x?sig=a']) requireWithoutSecrets(address);
  });

  it('a header that is none of uploads', () => {
    requireObjectHeaders({ 'x-amz-acl': 'private', 'x-amz-tagging': 'a=b&c=d', 'x-amz-grant-read': 'id="1"' }, 'x');
    for (const name of [
      'x-amz-server-side-encryption-customer-key',
      'x-amz-meta-pileshuf',
      'host',
      '__proto__',
      'X-Amz-Acl',
    ])
      expect(() => requireObjectHeaders(Object.fromEntries([[name, 'a']]), 'x')).toThrow(/is not a header of uploads/);
    for (const value of ['', ' a', 'a\nb', 'é'])
      expect(() => requireObjectHeaders({ 'x-amz-acl': value }, 'x')).toThrow(/printable ASCII/);
  });
});

it('shownText shortens, and leaves out what is secret', () => {
  const secrets =
    'Signature=abc, "token": "def" AKIAABCDEFGHIJKLMNOP at https://n:pw@h/k?X-Amz-Signature=abc\n\u001b[1m';
  expect(shownText(secrets)).toBe('Signature=..., "token": "..." ... at https://h/k [1m');
  expect(shownText('x'.repeat(1e6))).toHaveLength(203);
});
