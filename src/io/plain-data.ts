/** Plain data as JSON, with what JSON lacks: whole numbers of 64 bits, infinity, bytes, and typed lists of numbers. */

/** The fields that stand for what JSON lacks. No sealed value has a field of such a name. */
const [WHOLE, INFINITE, BYTES, NUMBERS, WHOLES] = ['#whole', '#infinite', '#bytes', '#numbers', '#wholes'] as const;

export function jsonOf(value: object): string {
  return JSON.stringify(value, (_, field: unknown) => encodedField(field));
}

export function parseJson(text: string): unknown {
  return text.includes('"#') ? JSON.parse(text, (_, field: unknown) => decodedField(field)) : JSON.parse(text);
}

function encodedField(value: unknown): unknown {
  if (typeof value === 'bigint') return { [WHOLE]: String(value) };
  if (value === Number.POSITIVE_INFINITY) return { [INFINITE]: true };
  if (value instanceof Uint8Array) return { [BYTES]: Buffer.from(value).toString('base64') };
  if (value instanceof Float64Array) return { [NUMBERS]: Array.from(value) };
  if (value instanceof BigUint64Array) return { [WHOLES]: Array.from(value, String) };
  if (typeof value === 'function' || typeof value === 'symbol')
    throw new TypeError(`${typeof value} is not plain data`);
  return value;
}

function decodedField(value: unknown): unknown {
  if (typeof value !== 'object' || value === null) return value;
  const [entry, ...others] = Object.entries(value);
  if (entry === undefined || others.length > 0) return value;
  const [name, field]: [string, unknown] = entry;
  switch (name) {
    case WHOLE:
      return BigInt(String(field));
    case INFINITE:
      return Number.POSITIVE_INFINITY;
    case BYTES:
      return new Uint8Array(Buffer.from(String(field), 'base64'));
    case NUMBERS:
      return Float64Array.from(Array.isArray(field) ? field : [], Number);
    case WHOLES:
      return BigUint64Array.from(Array.isArray(field) ? field : [], (each) => BigInt(String(each)));
    default:
      return value;
  }
}
