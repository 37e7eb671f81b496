/** The kinds of input places, by the form of names. A job loads those that it reads from; files need none. */
import { normalize, resolve } from 'node:path';
import { type OpenFile, openForRead } from '../../io/files.js';
import { isRemote, notFetched, shownAddress } from '../../remote/address.js';
import type { RemoteRequest } from '../../remote/remote-inputs.js';
import type { InputFacts, InputPlace, Look, ReadingPlan } from './input-place.js';

interface KindOfInputs extends InputFacts {
  hasName(path: string): boolean;
  /** Absent until it is loaded. */
  place?: InputPlace | undefined;
  load(): Promise<InputPlace>;
}

export const STANDARD_INPUT = '-';

const ON_DISKS: InputFacts = {
  isOnDisk: true,
  isFar: false,
  otherVersion: 'the time of its last change differs',
  shown: (path) => path,
  fullName: (path) => (path === STANDARD_INPUT ? path : resolve(path)),
  idOf: normalize,
};

export const BY_ADDRESS: InputFacts = {
  isOnDisk: false,
  isFar: true,
  otherVersion: 'it was written to or replaced',
  shown: (path) => path,
  fullName: (path) => path,
  idOf: (path) => path,
};

/** The first that has the name of an input; else it lies on disks. */
export const KINDS_OF_INPUTS: KindOfInputs[] = [
  {
    ...BY_ADDRESS,
    hasName: isRemote,
    shown: shownAddress,
    load: async () => (await import('./object-inputs.js')).OBJECTS,
  },
  {
    ...BY_ADDRESS,
    hasName: (path) => /^numbers0?:\/\//.test(path),
    isFar: false,
    idOf: normalize,
    load: async () => {
      const { NumberLines } = await import('./number-lines.js');
      return { open: (path) => new NumberLines(path) };
    },
  },
];

function kindOf(path: string): KindOfInputs | undefined {
  return KINDS_OF_INPUTS.find(({ hasName }) => hasName(path));
}

export function factsOf(path: string): InputFacts {
  return kindOf(path) ?? ON_DISKS;
}

/** Returns the place of an input. Undefined: it lies on disks, or its kind is not loaded. */
export function loadedPlaceOf(path: string): InputPlace | undefined {
  return kindOf(path)?.place;
}

/** Loads the kinds of inputs, each once. Before, none of them can be opened. */
export async function loadPlaces(paths: Iterable<string>): Promise<readonly InputPlace[]> {
  const places = new Set<InputPlace>();
  for (const path of paths) {
    const kind = kindOf(path);
    if (kind === undefined) continue;
    kind.place ??= await kind.load();
    places.add(kind.place);
  }
  return [...places];
}

/** Opens an input for reading by position, as a file. */
export function openInput(path: string, plan?: ReadingPlan): OpenFile {
  const kind = kindOf(path);
  if (kind === undefined) return openForRead(path, 'input');
  if (kind.place === undefined) throw notFetched(path);
  return { fd: -1, path, role: 'input', reader: kind.place.open(path, plan) };
}

/** Lets this process fetch inputs that are far. @returns the part of the memory budget that holds fetched bytes. */
export async function beginFetching(paths: readonly string[], request: RemoteRequest): Promise<number> {
  const places = await loadPlaces(paths);
  return places.reduce((bytes, place) => bytes + (place.begin?.(request) ?? 0), 0);
}

/** Lets the first bytes of far inputs come, or their last ones. @returns waits for those of the next input. */
export async function lookAhead(paths: readonly string[], ask: 'look' | 'end'): Promise<Look> {
  const looks = (await loadPlaces(paths)).map((place) => place.lookAhead?.(paths, ask));
  return async (path, signal) => {
    for (const look of looks) await look?.(path, signal);
  };
}
