/** Files on the Hugging Face Hub: of data sets, at the commit that their branch has when the job begins, and of buckets. */
import { readFileSync } from 'node:fs';
import { homedir } from 'node:os';
import { join } from 'node:path';
import { adviceOnPattern, parseHubAddress, requireUnfolded } from './address.js';
import { type Headers, type HttpRequest, type Reply, requestTo } from './http-messages.js';
import { type ListedObject, type SendForText, type Service, validatorOfHttp } from './service.js';

const DEFAULT_ENDPOINT = 'https://huggingface.co';
export class Hub implements Service {
  readonly #ask: SendForText;
  readonly #endpoint = (process.env['HF_ENDPOINT'] ?? DEFAULT_ENDPOINT).replace(/\/+$/, '');
  readonly #token = tokenOf(process.env);
  /** The commits by repository and revision. */
  readonly #commits = new Map<string, Promise<string>>();

  constructor(ask: SendForText) {
    this.#ask = ask;
  }

  async requestFor(path: string, validator: string | undefined): Promise<HttpRequest> {
    requireUnfolded(path);
    const { kind, repository, path: file } = parseHubAddress(path);
    if (kind === 'buckets') return this.#requestTo(`/buckets/${encodedPath(repository)}/resolve/${encodedPath(file)}`);
    const commit = validator ?? (await this.#commitOf(path));
    return this.#requestTo(`/datasets/${encodedPath(repository)}/resolve/${commit}/${encodedPath(file)}`);
  }

  /**
   * A commit never changes, so the tag of whoever serves the bytes says nothing more. That of a bucket is compared here:
   * the Hub itself does not know it.
   */
  validatorOf(headers: Headers, path: string): string | undefined {
    return parseHubAddress(path).kind === 'datasets' ? undefined : `tag ${validatorOfHttp(headers)}`;
  }

  async currentVersion(path: string): Promise<string | undefined> {
    return parseHubAddress(path).kind === 'datasets' ? this.#commitOf(path) : undefined;
  }

  advise(path: string, { status, headers }: Reply): string | undefined {
    if (headers['x-error-code'] === 'GatedRepo')
      return 'accept the conditions of the data set on its page, and set HF_TOKEN to a token of that account';
    if (status === 401 || status === 403 || headers['x-error-code'] === 'RepoNotFound')
      return this.#token === undefined
        ? 'no token was found; set HF_TOKEN, or run hf auth login'
        : 'the token of HF_TOKEN or of its file was tried; check what it may read';
    if (status === 404)
      return (
        adviceOnPattern(path) ?? 'check the name, the revision and the path; the address of a directory ends with /'
      );
    return undefined;
  }

  async list(path: string): Promise<ListedObject[]> {
    const { kind, repository, path: folder } = parseHubAddress(path);
    const commit = (await this.currentVersion(path)) ?? '';
    const prefix = folder.replace(/\/+$/, '');
    const found: ListedObject[] = [];
    let next: string | undefined =
      `/api/${kind}/${encodedPath(repository)}/tree${commit === '' ? '' : `/${commit}`}${prefix === '' ? '' : `/${encodedPath(prefix)}`}?recursive=true&limit=1000`;
    const asked = new Set<string>();
    while (next !== undefined) {
      if (asked.has(next)) throw new Error('the list of the Hub does not come to an end: its pages repeat');
      asked.add(next);
      const reply: Reply = await this.#get(path, next);
      for (const { type, path: file, size } of contentOf<readonly HubEntry[]>(reply, Array.isArray))
        if (type === 'file')
          found.push({
            place: prefix === '' ? file : file.slice(prefix.length + 1),
            byteLength: size,
            validator: commit,
          });
      const [, link] = /<([^>]+)>;\s*rel="next"/.exec(reply.headers['link'] ?? '') ?? [];
      // Only its path: a token goes to the Hub alone.
      next = link === undefined ? undefined : pathOf(new URL(link, this.#endpoint));
    }
    return found;
  }

  #commitOf(path: string): Promise<string> {
    const { repository, revision } = parseHubAddress(path);
    const name = `${repository}@${revision}`;
    const known = this.#commits.get(name);
    if (known !== undefined) return known;
    const asked = this.#get(
      path,
      `/api/datasets/${encodedPath(repository)}/revision/${encodeURIComponent(revision)}`,
    ).then((reply) => contentOf<{ readonly sha: string }>(reply, (said) => typeof said?.sha === 'string').sha);
    this.#commits.set(name, asked);
    asked.catch(() => this.#commits.delete(name));
    return asked;
  }

  #get(path: string, below: string): Promise<Reply> {
    return this.#ask(path, async () => this.#requestTo(below));
  }

  #requestTo(below: string): HttpRequest {
    const headers = this.#token === undefined ? {} : { authorization: `Bearer ${this.#token}` };
    return requestTo(new URL(this.#endpoint + below), headers);
  }
}

interface HubEntry {
  readonly type: string;
  readonly path: string;
  readonly size: number;
}

/** Fails if a reply of status 200 is not what the Hub says, such as the page of a proxy. */
function contentOf<T>({ text }: Reply, isExpected: (said: T | undefined) => boolean): T {
  let said: T | undefined;
  try {
    said = JSON.parse(text) as T;
  } catch {
    // It is told below.
  }
  if (said === undefined || !isExpected(said))
    throw new Error('the server answered with 200 and not with what the Hub says; check HF_ENDPOINT');
  return said;
}

function pathOf({ pathname, search }: URL): string {
  return `${pathname}${search}`;
}

function encodedPath(path: string): string {
  return path.split('/').map(encodeURIComponent).join('/');
}

function tokenOf({ HF_TOKEN, HF_TOKEN_PATH, HF_HOME }: NodeJS.ProcessEnv): string | undefined {
  if (HF_TOKEN !== undefined && HF_TOKEN !== '') return HF_TOKEN;
  try {
    const home = HF_HOME ?? join(homedir(), '.cache', 'huggingface');
    return readFileSync(HF_TOKEN_PATH ?? join(home, 'token'), 'utf8').trim() || undefined;
  } catch {
    return undefined;
  }
}
