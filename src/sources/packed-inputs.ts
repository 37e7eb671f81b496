/**
 * The list of the inputs of a job. There may be millions of small files: of each, a page holds its path, its version and
 * the number of its form, some 100 bytes. A form is all else that is known of a file, and most files have few of them.
 */
import { deserialize, serialize } from 'node:v8';
import { InputError } from '../errors.js';
import { PackedList } from '../floor/paged-list.js';
import type { FileVersion } from '../io/files.js';
import type { FileInput, Input } from './input.js';

type Form = Pick<FileInput, 'codec' | 'finding' | 'header'>;

/** The files of a page, side by side. What is not a file, or holds rows, has a form of its own and no more. */
interface Page {
  readonly forms: Uint32Array;
  /** The paths of all files, with NUL between them. */
  readonly pathText: string;
  readonly identityText: string;
  readonly byteLengths: Float64Array;
  readonly times: BigInt64Array;
}

const PAGE_LENGTH = 1024;

/** Files may have times after the year 2262, which 64 bits cannot count in nanoseconds. */
function isPackable(input: Input): input is FileInput {
  if (input.kind !== 'file' || input.rows !== undefined) return false;
  const { modifiedNanoseconds } = input.version;
  return BigInt.asIntN(64, modifiedNanoseconds) === modifiedNanoseconds;
}

/** Makes the texts of a page when somebody asks for one: most callers ask for lengths alone. */
class OpenPage {
  readonly #page: Page;
  #paths: readonly string[] | undefined;
  #identities: readonly string[] | undefined;

  constructor(page: Page) {
    this.#page = page;
  }

  get forms(): Uint32Array {
    return this.#page.forms;
  }

  pathAt(i: number): string {
    this.#paths ??= this.#page.pathText.split('\0');
    return this.#paths[i] ?? '';
  }

  versionAt(i: number): FileVersion {
    const { byteLengths, times, identityText } = this.#page;
    this.#identities ??= identityText.split('\0');
    return {
      identity: this.#identities[i] ?? '',
      byteLength: byteLengths[i] ?? 0,
      modifiedNanoseconds: times[i] ?? 0n,
    };
  }
}

class PackedFile implements FileInput {
  readonly #page: OpenPage;
  readonly #i: number;
  readonly #form: Form;

  constructor(page: OpenPage, i: number, form: Form) {
    this.#page = page;
    this.#i = i;
    this.#form = form;
  }

  get kind(): 'file' {
    return 'file';
  }

  get path(): string {
    return this.#page.pathAt(this.#i);
  }

  get version(): FileVersion {
    return this.#page.versionAt(this.#i);
  }

  get codec(): Form['codec'] {
    return this.#form.codec;
  }

  get finding(): Form['finding'] {
    return this.#form.finding;
  }

  get header(): Form['header'] {
    return this.#form.header;
  }
}

export class PackedInputs extends PackedList<Input> {
  constructor() {
    const forms: (Form | Input)[] = [];
    const numberOf = new Map<string, number>();
    const add = (form: Form | Input) => forms.push(form) - 1;
    const numberOfForm = (form: Form): number => {
      const { codec, finding, header } = form;
      if (finding instanceof InputError) return add({ codec, finding, header });
      const text = JSON.stringify([codec?.name, finding, header]);
      const number = numberOf.get(text) ?? add({ codec, finding, header });
      numberOf.set(text, number);
      return number;
    };
    super({
      pageLength: PAGE_LENGTH,
      pack(inputs) {
        const numbers: number[] = [];
        const files: FileInput[] = [];
        for (const input of inputs) {
          if (!isPackable(input)) numbers.push(add(input));
          else {
            numbers.push(numberOfForm(input));
            files.push(input);
          }
        }
        const page: Page = {
          forms: Uint32Array.from(numbers),
          pathText: files.map(({ path }) => path).join('\0'),
          identityText: files.map(({ version }) => version.identity).join('\0'),
          byteLengths: Float64Array.from(files, ({ version }) => version.byteLength),
          times: BigInt64Array.from(files, ({ version }) => version.modifiedNanoseconds),
        };
        return serialize(page);
      },
      unpack(bytes) {
        const page = new OpenPage(deserialize(bytes));
        let i = 0;
        return Array.from(page.forms, (number): Input => {
          const form = forms[number];
          if (form === undefined) throw new RangeError(`there is no form ${number} of inputs`);
          return 'path' in form ? form : new PackedFile(page, i++, form);
        });
      },
    });
  }
}
