/**
 * Credentials for S3, found in the order of the AWS tools: the environment, the profile, then the role of the container or
 * of the machine. SSO and roles of other credentials are left to the SDK of AWS, which is loaded only for them.
 */
import { exec } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { promisify } from 'node:util';
import { InputError } from '../errors.js';
import { reasonOf } from '../io/io-error.js';
import { shownText } from './address.js';
import type { AwsSettings } from './aws-settings.js';
import type { HttpClient } from './http.js';
import { TransientError } from './retries.js';
import { xmlText } from './service.js';

export interface AwsCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string | undefined;
  readonly expiration?: Date | undefined;
}

const SDK = '@aws-sdk/credential-providers';
/** Signatures of the last minutes may come too late. */
const BEFORE_END_MILLISECONDS = 5 * 60_000;
/** Credentials that live shorter are not asked for at each request. */
const LEAST_USE_MILLISECONDS = 10_000;
/** A machine without roles does not answer at all. */
const MACHINE_MILLISECONDS = 1000;
const CONTAINER_MILLISECONDS = 2000;
const CONTAINER_HOST = 'http://169.254.170.2';
/** Hosts that may get the token of a container without encryption. */
const CONTAINER_HOSTS = /^(?:localhost|127\.[\d.]+|\[::1\]|169\.254\.170\.(?:2|23)|\[fd00:ec2::23\])$/;

const NAMES = {
  ofProcess: ['AccessKeyId', 'SecretAccessKey', 'SessionToken', 'Expiration'],
  ofService: ['AccessKeyId', 'SecretAccessKey', 'Token', 'Expiration'],
} as const;

export class AwsCredentialChain {
  readonly #settings: AwsSettings;
  readonly #http: Pick<HttpClient, 'send'>;
  #found: Promise<AwsCredentials | undefined> | undefined;
  #renewAt = 0;
  #source = 'no credentials';

  constructor(settings: AwsSettings, http: Pick<HttpClient, 'send'>) {
    this.#settings = settings;
    this.#http = http;
  }

  /** Undefined if there are none; a public bucket may still answer. */
  find(): Promise<AwsCredentials | undefined> {
    if (Date.now() < this.#renewAt && this.#found !== undefined) return this.#found;
    this.#renewAt = Number.POSITIVE_INFINITY;
    this.#found = this.#renewed(this.#found);
    return this.#found;
  }

  async #renewed(former: Promise<AwsCredentials | undefined> | undefined): Promise<AwsCredentials | undefined> {
    try {
      const found = await this.#search();
      const end = found?.expiration?.getTime() ?? Number.POSITIVE_INFINITY;
      this.#renewAt = Math.max(end - BEFORE_END_MILLISECONDS, Date.now() + LEAST_USE_MILLISECONDS);
      return found;
    } catch (error) {
      this.#renewAt = Date.now() + LEAST_USE_MILLISECONDS;
      const usable = await former?.catch(() => undefined);
      if (usable?.expiration !== undefined && usable.expiration.getTime() > this.#renewAt) return usable;
      this.#found = undefined;
      throw error;
    }
  }

  /** Returns what to do about a refusal. */
  advice(doing: 'read' | 'write'): string {
    if (this.#settings.options.signRequests === false) return 'requests were not signed; leave out --no-sign-request';
    return this.#source === 'no credentials'
      ? 'no credentials were found in the environment, in the files of the AWS tools or on this machine, so the request was not signed; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE'
      : `the credentials of ${this.#source} were tried; check what they may ${doing}`;
  }

  async #search(): Promise<AwsCredentials | undefined> {
    const settings = this.#settings;
    if (settings.options.signRequests === false) return undefined;
    const { profile, profileName } = settings;
    const [accessKeyId, secretAccessKey] = [
      settings.variable('AWS_ACCESS_KEY_ID'),
      settings.variable('AWS_SECRET_ACCESS_KEY'),
    ];
    if (accessKeyId !== undefined) {
      this.#source = 'the environment';
      if (secretAccessKey === undefined)
        throw notFoundError('AWS_ACCESS_KEY_ID is set, and AWS_SECRET_ACCESS_KEY is not; set both');
      return { accessKeyId, secretAccessKey, sessionToken: settings.variable('AWS_SESSION_TOKEN') };
    }
    this.#source = `the profile ${profileName}`;
    if (profile.has('role_arn') && !profile.has('web_identity_token_file')) return this.#bySdk();
    const tokenPath = settings.find('AWS_WEB_IDENTITY_TOKEN_FILE', 'web_identity_token_file');
    if (tokenPath !== undefined) return this.#byWebIdentity(tokenPath);
    if (['sso_session', 'sso_start_url', 'login_session'].some((name) => profile.has(name))) return this.#bySdk();
    const [keyOfProfile, secretOfProfile] = [profile.get('aws_access_key_id'), profile.get('aws_secret_access_key')];
    if (keyOfProfile !== undefined) {
      if (secretOfProfile === undefined)
        throw notFoundError(
          `the profile ${profileName} has an aws_access_key_id and no aws_secret_access_key; give both`,
        );
      const sessionToken = profile.get('aws_session_token');
      return { accessKeyId: keyOfProfile, secretAccessKey: secretOfProfile, sessionToken };
    }
    const command = profile.get('credential_process');
    if (command !== undefined) return this.#byProcess(command);
    const address = this.#containerAddress();
    if (address !== undefined) return this.#byContainer(address);
    return this.#byMachine();
  }

  /** Runs the command in a shell, as most SDKs of AWS do. */
  async #byProcess(command: string): Promise<AwsCredentials> {
    const what = `the credential_process of the profile ${this.#settings.profileName}`;
    try {
      const { stdout } = await promisify(exec)(command);
      return credentialsIn(stdout, NAMES.ofProcess, what);
    } catch (error) {
      if (error instanceof InputError) throw error;
      const said = error instanceof Error && 'stderr' in error ? String(error.stderr).trim() : '';
      throw notFoundError(`${what} failed: ${shownText(said === '' ? reasonOf(error) : said)}`, error);
    }
  }

  async #byWebIdentity(tokenPath: string): Promise<AwsCredentials> {
    this.#source = 'the web identity';
    const settings = this.#settings;
    const role = settings.find('AWS_ROLE_ARN', 'role_arn');
    if (role === undefined) throw notFoundError('a web identity is given without a role; set AWS_ROLE_ARN');
    const body = new URLSearchParams({
      Action: 'AssumeRoleWithWebIdentity',
      Version: '2011-06-15',
      RoleArn: role,
      RoleSessionName: settings.find('AWS_ROLE_SESSION_NAME', 'role_session_name') ?? `pileshuf-${Date.now()}`,
      WebIdentityToken: textOf(tokenPath, 'AWS_WEB_IDENTITY_TOKEN_FILE'),
    }).toString();
    const server = new URL(settings.endpointOf('sts') ?? `https://${settings.hostOf('sts', settings.region)}`);
    const { status, text } = await this.#http.send({
      server,
      path: server.pathname,
      method: 'POST',
      headers: {
        'content-type': 'application/x-www-form-urlencoded',
        'content-length': String(Buffer.byteLength(body)),
      },
      body: [Buffer.from(body)],
    });
    const found = Object.fromEntries(NAMES.ofProcess.map((name) => [name, xmlText(text, name)]));
    return answered('the web identity', status, status === 200 ? JSON.stringify(found) : text, NAMES.ofProcess);
  }

  #containerAddress(): URL | undefined {
    const relative = this.#settings.variable('AWS_CONTAINER_CREDENTIALS_RELATIVE_URI');
    const full = this.#settings.variable('AWS_CONTAINER_CREDENTIALS_FULL_URI');
    const address = relative === undefined ? full : CONTAINER_HOST + relative;
    if (address === undefined) return undefined;
    const url = URL.canParse(address) ? new URL(address) : undefined;
    if (url?.protocol === 'https:' || (url?.protocol === 'http:' && CONTAINER_HOSTS.test(url.hostname))) return url;
    throw notFoundError(
      'AWS_CONTAINER_CREDENTIALS_FULL_URI is not an address of this machine, and not encrypted; check it',
    );
  }

  async #byContainer(url: URL): Promise<AwsCredentials> {
    this.#source = 'the role of the container';
    const tokenPath = this.#settings.variable('AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE');
    const token =
      tokenPath === undefined
        ? this.#settings.variable('AWS_CONTAINER_AUTHORIZATION_TOKEN')
        : textOf(tokenPath, 'AWS_CONTAINER_AUTHORIZATION_TOKEN_FILE');
    const headers: Record<string, string> = token === undefined ? {} : { authorization: token };
    const { status, text } = await askNearby(url, { headers }, CONTAINER_MILLISECONDS).catch((error: unknown) => {
      throw new TransientError(`the role of the container did not answer: ${reasonOf(error)}`);
    });
    return answered(this.#source, status, text, NAMES.ofService);
  }

  /** Undefined if the machine has no role, as are machines outside of Amazon. */
  async #byMachine(): Promise<AwsCredentials | undefined> {
    this.#source = 'no credentials';
    const settings = this.#settings;
    if (settings.variable('AWS_EC2_METADATA_DISABLED')?.toLowerCase() === 'true') return undefined;
    const mode = settings.find('AWS_EC2_METADATA_SERVICE_ENDPOINT_MODE', 'ec2_metadata_service_endpoint_mode');
    const host = mode?.toLowerCase() === 'ipv6' ? 'http://[fd00:ec2::254]' : 'http://169.254.169.254';
    const endpoint = settings.find('AWS_EC2_METADATA_SERVICE_ENDPOINT', 'ec2_metadata_service_endpoint') ?? host;
    const ask = (below: string, options: RequestInit) =>
      askNearby(new URL(`${endpoint.replace(/\/+$/, '')}/latest/${below}`), options, MACHINE_MILLISECONDS);
    const lifetime = { 'x-aws-ec2-metadata-token-ttl-seconds': '21600' };
    const token = await ask('api/token', { method: 'PUT', headers: lifetime }).catch(() => undefined);
    if (token?.status !== 200) return undefined;
    const headers = { 'x-aws-ec2-metadata-token': token.text };
    const roles = 'meta-data/iam/security-credentials/';
    try {
      const listed = await ask(roles, { headers });
      const [role = ''] = listed.text.split('\n');
      if (listed.status === 404 || role === '') return undefined;
      this.#source = 'the role of this machine';
      const { status, text } = await ask(roles + role.trim(), { headers });
      return answered(this.#source, status, text, NAMES.ofService);
    } catch (error) {
      if (error instanceof InputError || error instanceof TransientError) throw error;
      throw new TransientError(`the role of this machine did not answer: ${reasonOf(error)}`);
    }
  }

  async #bySdk(): Promise<AwsCredentials> {
    const { profileName: profile } = this.#settings;
    const name: string = SDK;
    // It warns of versions of Node on standard error.
    process.env['AWS_SDK_JS_NODE_VERSION_SUPPORT_WARNING_DISABLED'] ??= 'true';
    const silent = () => {};
    const logger = { debug: silent, info: silent, warn: silent, error: silent };
    const sdk: { fromNodeProviderChain(options: object): () => Promise<AwsCredentials> } | undefined = await import(
      name
    ).catch(() => undefined);
    if (sdk === undefined)
      throw notFoundError(
        `the credentials of the profile ${profile} need the SDK of AWS; run npm install ${SDK} where pileshuf is installed`,
      );
    try {
      return await sdk.fromNodeProviderChain({ profile, logger })();
    } catch (error) {
      throw notFoundError(`the SDK of AWS found no credentials: ${shownText(reasonOf(error))}`, error);
    }
  }
}

function notFoundError(problem: string, cause?: unknown): InputError {
  return new InputError('ERR_INPUT_UNREADABLE', problem, { cause });
}

function textOf(path: string, variable: string): string {
  try {
    return readFileSync(path, 'utf8').trim();
  } catch (error) {
    throw notFoundError(`cannot read ${path}: ${reasonOf(error)}; check ${variable}`, error);
  }
}

/** Asks without a proxy: the answer comes from this machine or its host. */
async function askNearby(
  url: URL,
  options: RequestInit,
  milliseconds: number,
): Promise<{ readonly status: number; readonly text: string }> {
  const reply = await fetch(url, { ...options, redirect: 'error', signal: AbortSignal.timeout(milliseconds) });
  return { status: reply.status, text: await reply.text() };
}

function answered(what: string, status: number, text: string, names: readonly string[]): AwsCredentials {
  if (status === 200) return credentialsIn(text, names, what);
  const problem = `${what} gave no credentials: status ${status} (${shownText(xmlText(text, 'Message') ?? text)})`;
  throw status === 429 || status >= 500 ? new TransientError(problem) : notFoundError(`${problem}; check the role`);
}

/** @param names of the key, its secret, the token and the end. */
function credentialsIn(json: string, names: readonly string[], what: string): AwsCredentials {
  let found: Readonly<Record<string, unknown>> = {};
  try {
    found = JSON.parse(json) as typeof found;
  } catch {
    // It has no key.
  }
  const [accessKeyId, secretAccessKey, sessionToken, end] = names.map((name) => found[name]);
  if (typeof accessKeyId !== 'string' || typeof secretAccessKey !== 'string')
    throw notFoundError(`${what} gave no credentials; expected JSON with ${names.slice(0, 2).join(' and ')}`);
  return {
    accessKeyId,
    secretAccessKey,
    sessionToken: typeof sessionToken === 'string' ? sessionToken : undefined,
    expiration: typeof end === 'string' ? new Date(end) : undefined,
  };
}
