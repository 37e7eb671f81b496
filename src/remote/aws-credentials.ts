/**
 * Who asks for objects of S3: by the variables of the environment, then by the files of the AWS tools. All other ways,
 * such as SSO and the roles of machines, are those of the SDK of AWS, which is loaded only then.
 */
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { InputError } from '../errors.js';
import { requireEndpoint, type S3Choice } from './address.js';

export interface AwsCredentials {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
  readonly sessionToken?: string;
  readonly expiration?: Date;
}

interface AwsSettings {
  readonly region: string;
  /** Undefined: Amazon's own. */
  readonly endpoint: string | undefined;
  readonly requesterPays: boolean;
}

type Environment = Readonly<Record<string, string | undefined>>;
type Profile = ReadonlyMap<string, string>;

const SDK = '@aws-sdk/credential-providers';
/** Signatures of the last minutes may come too late. */
const BEFORE_END_MILLISECONDS = 5 * 60_000;

/** Settings that only the SDK understands. */
const LEFT_TO_SDK = ['sso_session', 'sso_start_url', 'role_arn', 'credential_process', 'web_identity_token_file'];
const LEFT_TO_SDK_IN_ENVIRONMENT = [
  'AWS_WEB_IDENTITY_TOKEN_FILE',
  'AWS_CONTAINER_CREDENTIALS_RELATIVE_URI',
  'AWS_CONTAINER_CREDENTIALS_FULL_URI',
];

export class CredentialsOfAws {
  readonly #environment: Environment;
  readonly #choice: S3Choice;
  #found: Promise<AwsCredentials | undefined> | undefined;
  #source = 'no credentials';
  #profile: Profile | undefined;

  constructor(environment: Environment, choice: S3Choice) {
    this.#environment = environment;
    this.#choice = choice;
  }

  async settings(): Promise<AwsSettings> {
    const { AWS_REGION, AWS_DEFAULT_REGION, AWS_ENDPOINT_URL_S3, AWS_ENDPOINT_URL, AWS_REQUEST_PAYER } =
      this.#environment;
    const profile = this.#readProfile();
    const { endpoint: chosen, requesterPays = AWS_REQUEST_PAYER === 'requester' } = this.#choice;
    const endpoint = chosen ?? AWS_ENDPOINT_URL_S3 ?? AWS_ENDPOINT_URL ?? profile.get('endpoint_url') ?? '';
    if (endpoint !== '') requireEndpoint(endpoint, 'the endpoint');
    return {
      region: AWS_REGION ?? AWS_DEFAULT_REGION ?? profile.get('region') ?? 'us-east-1',
      endpoint: endpoint === '' ? undefined : endpoint,
      requesterPays,
    };
  }

  /** Undefined: nobody; then a public bucket may still answer. */
  async find(): Promise<AwsCredentials | undefined> {
    this.#found ??= this.#look();
    const found = await this.#found;
    if (found?.expiration === undefined || found.expiration.getTime() - Date.now() > BEFORE_END_MILLISECONDS)
      return found;
    this.#found = this.#look();
    return this.#found;
  }

  /** What to do about a refusal. */
  advice(doing: 'read' | 'write'): string {
    return this.#found === undefined || this.#source === 'no credentials'
      ? `no credentials were found in the environment or in the files of the AWS tools, so nobody was named; set AWS_ACCESS_KEY_ID and AWS_SECRET_ACCESS_KEY, or AWS_PROFILE, or install ${SDK} for roles of machines`
      : `the credentials of ${this.#source} were tried; check what they may ${doing}`;
  }

  async #look(): Promise<AwsCredentials | undefined> {
    const { AWS_ACCESS_KEY_ID, AWS_SECRET_ACCESS_KEY, AWS_SESSION_TOKEN } = this.#environment;
    if (AWS_ACCESS_KEY_ID !== undefined && AWS_SECRET_ACCESS_KEY !== undefined) {
      this.#source = 'the environment';
      const keys = { accessKeyId: AWS_ACCESS_KEY_ID, secretAccessKey: AWS_SECRET_ACCESS_KEY };
      return withToken(keys, AWS_SESSION_TOKEN);
    }
    const profile = this.#readProfile();
    const [accessKeyId, secretAccessKey] = [profile.get('aws_access_key_id'), profile.get('aws_secret_access_key')];
    const needsSdk =
      LEFT_TO_SDK.some((name) => profile.has(name)) ||
      LEFT_TO_SDK_IN_ENVIRONMENT.some((name) => this.#environment[name] !== undefined);
    if (!needsSdk && accessKeyId !== undefined && secretAccessKey !== undefined) {
      this.#source = `the profile ${this.#profileName}`;
      return withToken({ accessKeyId, secretAccessKey }, profile.get('aws_session_token'));
    }
    return this.#bySdk(needsSdk);
  }

  async #bySdk(isNeeded: boolean): Promise<AwsCredentials | undefined> {
    const name: string = SDK;
    const sdk: { fromNodeProviderChain(): () => Promise<AwsCredentials> } | undefined = await import(name).catch(
      () => undefined,
    );
    if (sdk === undefined) {
      if (!isNeeded) return undefined;
      throw new InputError(
        'ERR_INPUT_UNREADABLE',
        `the credentials of the profile ${this.#profileName} or of this machine need the SDK of AWS; run npm install ${SDK} where pileshuf is installed`,
      );
    }
    try {
      const found = await sdk.fromNodeProviderChain()();
      this.#source = 'the SDK of AWS';
      return found;
    } catch (error) {
      if (!isNeeded) return undefined;
      const reason = error instanceof Error ? error.message.replaceAll(/\s+/g, ' ') : String(error);
      throw new InputError('ERR_INPUT_UNREADABLE', `the SDK of AWS found no credentials: ${reason}`, { cause: error });
    }
  }

  get #profileName(): string {
    return this.#environment['AWS_PROFILE'] ?? 'default';
  }

  #readProfile(): Profile {
    if (this.#profile !== undefined) return this.#profile;
    const { AWS_CONFIG_FILE, AWS_SHARED_CREDENTIALS_FILE } = this.#environment;
    const folder = join(this.#environment['HOME'] ?? homedir(), '.aws');
    const name = this.#profileName;
    this.#profile = new Map([
      ...sectionOf(AWS_CONFIG_FILE ?? join(folder, 'config'), name === 'default' ? name : `profile ${name}`),
      ...sectionOf(AWS_SHARED_CREDENTIALS_FILE ?? join(folder, 'credentials'), name),
    ]);
    return this.#profile;
  }
}

function withToken(keys: AwsCredentials, sessionToken: string | undefined): AwsCredentials {
  return sessionToken === undefined ? keys : { ...keys, sessionToken };
}

/** Empty: there is no such file or section. Settings of services, which are indented, are left out. */
function sectionOf(path: string, section: string): Map<string, string> {
  let text = '';
  try {
    text = readFileSync(path, 'utf8');
  } catch {
    // The file is optional.
  }
  const found = new Map<string, string>();
  let isInside = false;
  for (const line of text.split(/\r?\n/)) {
    const [, title] = /^\[\s*([^\]]*?)\s*\]/.exec(line) ?? [];
    if (title !== undefined) isInside = title === section;
    const [, name, value] = /^([\w.]+)\s*=\s*(.*?)\s*$/.exec(line) ?? [];
    if (isInside && name !== undefined && value !== undefined) found.set(name, value);
  }
  return found;
}
