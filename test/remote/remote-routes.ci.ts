/** Ways to a server: encrypted, with a certificate that only this machine trusts, and through proxies. */
import { execFileSync } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync, writeFileSync } from 'node:fs';
import { request as ask, createServer, type RequestListener, type Server } from 'node:http';
import { createServer as createSafeServer } from 'node:https';
import { type AddressInfo, connect } from 'node:net';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { runCommand } from '../fixtures/run-command.js';
import { useTestDirectory } from '../fixtures/temp-directory.js';

const directory = useTestDirectory();
const text = Array.from({ length: 9000 }, (_, i) => `{"i":${i}}\n`).join('');

/** What the proxy was asked for. */
let proxied: string[];
let servers: { readonly plain: Server; readonly safe: Server; readonly proxy: Server };
const portOf = (server: Server) => (server.address() as AddressInfo).port;

const answer: RequestListener = ({ headers }, response) => {
  const [, first = 0, last = 0] = /^bytes=(\d+)-(\d+)$/.exec(headers.range ?? '') ?? [];
  const part = text.slice(Number(first), Number(last) + 1);
  response.writeHead(206, {
    etag: '"1"',
    'content-length': part.length,
    'content-range': `bytes ${first}-${Number(first) + part.length - 1}/${text.length}`,
  });
  response.end(part);
};

/** Forwards what is plain, and opens tunnels for what is encrypted. */
function startProxy(): Server {
  const proxy = createServer(({ url = '', headers }, response) => {
    proxied.push(url);
    ask(url, { headers }, (reply) => {
      response.writeHead(reply.statusCode ?? 502, reply.headers);
      reply.pipe(response);
    }).end();
  });
  return proxy.on('connect', ({ url = '' }, client) => {
    proxied.push(`CONNECT ${url}`);
    const far = connect(Number(url.split(':')[1]), '127.0.0.1', () => {
      client.write('HTTP/1.1 200 Connection Established\r\n\r\n');
      client.pipe(far).pipe(client);
    });
    for (const end of [client, far]) end.on('error', () => far.destroy());
  });
}

beforeEach(async () => {
  const [key, certificate] = [directory.path('key.pem'), directory.path('certificate.pem')];
  const names = 'subjectAltName=DNS:localhost,IP:127.0.0.1';
  const words = `req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -subj /CN=test -addext ${names}`;
  execFileSync('openssl', [...words.split(' '), '-keyout', key, '-out', certificate], { stdio: 'ignore' });
  proxied = [];
  servers = {
    plain: createServer(answer),
    safe: createSafeServer({ key: readFileSync(key), cert: readFileSync(certificate) }, answer),
    proxy: startProxy(),
  };
  for (const server of Object.values(servers)) await once(server.listen(0, '127.0.0.1'), 'listening');
  writeFileSync(directory.path('local.jsonl'), text);
});
afterEach(() => {
  for (const server of Object.values(servers)) server.close().closeAllConnections();
});

/** By the names in small and in capital letters. */
function routes({ http = '', https = '', no = '' }: { http?: string; https?: string; no?: string }) {
  const named = { http_proxy: http, https_proxy: https, no_proxy: no };
  const capitals = Object.entries(named).map(([name, value]) => [name.toUpperCase(), value]);
  return { ...named, ...Object.fromEntries(capitals) };
}

async function shuffled(input: string, env: Record<string, string> = {}): Promise<string> {
  const argv = [input, '--seed', '1', '-q', '-T', directory.temp, '--workers', '1'];
  const { stdout, stderr, exitCode } = await runCommand(argv, { env: { ...routes({}), ...env } });
  return exitCode === 0 ? stdout.toString() : stderr;
}

const trusts = () => ({ NODE_EXTRA_CA_CERTS: directory.path('certificate.pem') });
const plain = () => `http://localhost:${portOf(servers.plain)}/a.jsonl`;
const safe = (host = 'localhost') => `https://${host}:${portOf(servers.safe)}/a.jsonl`;
const proxy = () => `http://127.0.0.1:${portOf(servers.proxy)}`;

it('an encrypted server is read if its certificate is trusted', async () => {
  const local = await shuffled(directory.path('local.jsonl'));
  expect(local).toHaveLength(text.length);
  expect(await shuffled(safe(), trusts())).toBe(local);
  expect(await shuffled(safe('127.0.0.1'), trusts())).toBe(local);
  expect(await shuffled(safe())).toMatch(/^pileshuf: cannot read https:[^\n]*certificate[^\n]*\n$/);
});

it('proxies of the environment are asked, but for the hosts of NO_PROXY', async () => {
  const local = await shuffled(directory.path('local.jsonl'));
  expect(await shuffled(plain(), routes({ http: proxy() }))).toBe(local);
  expect(new Set(proxied)).toEqual(new Set([plain()]));
  proxied = [];
  expect(await shuffled(safe(), { ...routes({ https: proxy() }), ...trusts() })).toBe(local);
  expect(new Set(proxied)).toEqual(new Set([`CONNECT localhost:${portOf(servers.safe)}`]));
  proxied = [];
  expect(await shuffled(plain(), routes({ http: proxy(), no: 'localhost' }))).toBe(local);
  expect(proxied).toEqual([]);
});
