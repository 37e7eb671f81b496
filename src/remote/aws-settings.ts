/**
 * Settings of the AWS tools: variables of the environment, then the profile in their two files. An empty variable is unset.
 */
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { InputError, UsageError } from '../errors.js';
import { ifPossible } from '../floor/cleanup.js';
import { errnoOf, reasonOf } from '../io/io-error.js';
import { requireEndpoint, type S3ServiceOptions } from './address.js';

export type Environment = Readonly<Record<string, string | undefined>>;
/** Settings by name; those of one service have its name before theirs: `s3.endpoint_url`. */
type Section = ReadonlyMap<string, string>;

/** The end of host names by the beginning of a region. */
const DOMAINS = [
  ['cn-', 'amazonaws.com.cn'],
  ['eusc-', 'amazonaws.eu'],
  ['us-iso-', 'c2s.ic.gov'],
  ['us-isob-', 'sc2s.sgov.gov'],
  ['eu-isoe-', 'cloud.adc-e.uk'],
  ['us-isof-', 'csp.hci.ic.gov'],
] as const;

export class AwsSettings {
  readonly options: S3ServiceOptions;
  readonly #environment: Environment;
  #config: ReadonlyMap<string, Section> | undefined;
  #profile: Section | undefined;

  constructor(environment: Environment, choice: S3ServiceOptions) {
    this.#environment = environment;
    this.options = choice;
  }

  /** Undefined if the variable is not set, or empty. */
  variable(name: string): string | undefined {
    return this.#environment[name] || undefined;
  }

  /** Value of a variable, else of a setting of the profile. */
  find(variable: string, setting: string): string | undefined {
    return this.variable(variable) ?? this.profile.get(setting);
  }

  isOn(variable: string, setting: string): boolean {
    return this.find(variable, setting)?.toLowerCase() === 'true';
  }

  get profileName(): string {
    return this.#namedProfile ?? 'default';
  }

  get #namedProfile(): string | undefined {
    return this.variable('AWS_DEFAULT_PROFILE') ?? this.variable('AWS_PROFILE');
  }

  get region(): string {
    return this.variable('AWS_REGION') ?? this.find('AWS_DEFAULT_REGION', 'region') ?? 'us-east-1';
  }

  get requesterPays(): boolean {
    return this.options.requesterPays ?? this.variable('AWS_REQUEST_PAYER') === 'requester';
  }

  /** Undefined if the service is that of Amazon. @param service `s3`, `sts` */
  endpointOf(service: string): string | undefined {
    const isIgnored = this.isOn('AWS_IGNORE_CONFIGURED_ENDPOINT_URLS', 'ignore_configured_endpoint_urls');
    const configured = isIgnored ? undefined : this.#configuredEndpoint(service);
    const endpoint = (service === 's3' ? this.options.endpoint : undefined) ?? configured;
    if (endpoint === undefined) return undefined;
    requireEndpoint(endpoint, 'the endpoint');
    if (service === 's3' && (this.#isDualStack || this.#isFips))
      throw new UsageError(
        `the endpoint ${endpoint} cannot be combined with ${this.#isFips ? 'FIPS' : 'dual-stack'} endpoints, which the environment or the profile ${this.profileName} asks for; leave out one of the two`,
      );
    return endpoint;
  }

  #configuredEndpoint(service: string): string | undefined {
    const services = this.profile.get('services');
    const ofService = services === undefined ? undefined : this.#configured.get(`services ${services}`);
    if (services !== undefined && ofService === undefined)
      throw new InputError(
        'ERR_INPUT_UNREADABLE',
        `the profile ${this.profileName} names the services ${services}, which ${this.#configPath} does not have; add [services ${services}] to it`,
      );
    return (
      this.variable(`AWS_ENDPOINT_URL_${service.toUpperCase()}`) ??
      this.variable('AWS_ENDPOINT_URL') ??
      ofService?.get(`${service}.endpoint_url`) ??
      this.profile.get('endpoint_url')
    );
  }

  /** Host name of a service of Amazon in a region. */
  hostOf(service: string, region: string): string {
    const [, domain = 'amazonaws.com'] = DOMAINS.find(([begin]) => region.startsWith(begin)) ?? [];
    const dualStack = this.#isDualStack && service === 's3' ? '.dualstack' : '';
    return `${service}${this.#isFips ? '-fips' : ''}${dualStack}.${region}.${domain}`;
  }

  /** Certificates that are believed beside those that Node believes, in PEM. */
  get certificates(): string | undefined {
    // Other services than Amazon's need no profile.
    const path = this.variable('AWS_CA_BUNDLE') ?? ifPossible(() => this.profile)?.get('ca_bundle');
    if (path === undefined) return undefined;
    try {
      return readFileSync(this.#expanded(path), 'utf8');
    } catch (error) {
      throw unreadableFileError(path, 'AWS_CA_BUNDLE', error);
    }
  }

  get #isDualStack(): boolean {
    const name = 'use_dualstack_endpoint';
    return this.isOn('AWS_USE_DUALSTACK_ENDPOINT', name) || this.profile.get(`s3.${name}`)?.toLowerCase() === 'true';
  }

  get #isFips(): boolean {
    return this.isOn('AWS_USE_FIPS_ENDPOINT', 'use_fips_endpoint');
  }

  get profile(): Section {
    this.#profile ??= this.#readProfile();
    return this.#profile;
  }

  #readProfile(): Section {
    const name = this.profileName;
    const credentialsPath = this.#pathOf('AWS_SHARED_CREDENTIALS_FILE', 'credentials');
    const found = [
      this.#configured.get(`profile ${name}`) ?? (name === 'default' ? this.#configured.get(name) : undefined),
      sectionsIn(credentialsPath).get(name),
    ].filter((section) => section !== undefined);
    if (found.length === 0 && this.#namedProfile !== undefined)
      throw new InputError(
        'ERR_INPUT_UNREADABLE',
        `the profile ${name} is neither in ${this.#configPath} nor in ${credentialsPath}; check AWS_PROFILE, or run aws configure --profile ${name}`,
      );
    return new Map(found.flatMap((section) => [...section]));
  }

  get #configured(): ReadonlyMap<string, Section> {
    this.#config ??= sectionsIn(this.#configPath);
    return this.#config;
  }

  get #configPath(): string {
    return this.#pathOf('AWS_CONFIG_FILE', 'config');
  }

  #pathOf(variable: string, name: string): string {
    return this.#expanded(this.variable(variable) ?? `~/.aws/${name}`);
  }

  #expanded(path: string): string {
    return path.startsWith('~/') ? join(this.variable('HOME') ?? ownHome(), path.slice(2)) : path;
  }
}

/** A user without an entry in the system's list has no home, and no files there. */
function ownHome(): string {
  try {
    return homedir();
  } catch {
    return '/';
  }
}

/** Sections of a file of the AWS tools by their titles. Empty if there is no file. */
function sectionsIn(path: string): ReadonlyMap<string, Section> {
  const sections = new Map<string, Map<string, string>>();
  let section: Map<string, string> | undefined;
  let service = '';
  for (const line of textOf(path).split(/\r?\n/)) {
    if (/^\s*(?:[#;]|$)/.test(line)) continue;
    const [, title] = /^\[\s*(.*?)\s*\]/.exec(line) ?? [];
    if (title !== undefined) {
      const name = title.replace(/^(\S+)\s+(["']?)(.*?)\2$/, '$1 $3');
      section = sections.get(name) ?? new Map();
      sections.set(name, section);
      continue;
    }
    const [, indent, name, value = ''] = /^(\s*)([^\s=:][^=:]*?)\s*[=:]\s*(.*?)\s*$/.exec(line) ?? [];
    if (name === undefined) continue;
    if (indent === '') service = value === '' ? name : '';
    if (value !== '') section?.set(indent === '' ? name.toLowerCase() : `${service}.${name}`.toLowerCase(), value);
  }
  return sections;
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (error) {
    if (/^(?:ENOENT|ENOTDIR)$/.test(errnoOf(error))) return '';
    throw unreadableFileError(path, 'HOME', error);
  }
}

function unreadableFileError(path: string, variable: string, error: unknown): InputError {
  return new InputError(
    'ERR_INPUT_UNREADABLE',
    `cannot read ${path}, a file of the AWS tools: ${reasonOf(error)}; check ${variable} and the permissions of the file`,
    { cause: error },
  );
}
