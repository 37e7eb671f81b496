/** The kinds of inputs, by the form of their names. A job loads the places that it reads from; local files need none. */
import { normalize, resolve } from 'node:path';
import { type OpenFile, openForRead } from '../../io/files.js';
import { isRemote, remoteRefusedError, shownAddress } from '../../remote/address.js';
import type { TransferRequest } from '../../remote/transfer-client.js';
import type { InputFacts, InputPlace, ReadPlan, WaitForPrefetch } from './input-place.js';

interface InputKind extends InputFacts {
  hasName(path: string): boolean;
  /** Absent until it is loaded. */
  place?: InputPlace | undefined;
  load(): Promise<InputPlace>;
}

export const STANDARD_INPUT = '-';

const LOCAL_FILE_FACTS: InputFacts = {
  isOnDisk: true,
  isRemote: false,
  changeText: 'the time of its last change differs',
  shown: (path) => path,
  fullName: (path) => (path === STANDARD_INPUT ? path : resolve(path)),
  idOf: normalize,
};

export const ADDRESS_FACTS: InputFacts = {
  isOnDisk: false,
  isRemote: true,
  changeText: 'it was written to or replaced',
  shown: (path) => path,
  fullName: (path) => path,
  idOf: (path) => path,
};

/** The first kind whose form a name has is that of the input; else it is a local file. */
export const INPUT_KINDS: InputKind[] = [
  {
    ...ADDRESS_FACTS,
    hasName: isRemote,
    shown: shownAddress,
    load: async () => (await import('./object-inputs.js')).OBJECT_INPUTS,
  },
  {
    ...ADDRESS_FACTS,
    hasName: (path) => /^numbers0?:\/\//.test(path),
    isRemote: false,
    idOf: normalize,
    load: async () => {
      const { NumberLines } = await import('./number-lines.js');
      return { open: (path) => new NumberLines(path) };
    },
  },
];

function inputKindOf(path: string): InputKind | undefined {
  return INPUT_KINDS.find(({ hasName }) => hasName(path));
}

export function inputFactsOf(path: string): InputFacts {
  return inputKindOf(path) ?? LOCAL_FILE_FACTS;
}

/** Returns the place of an input. Undefined: it is a local file, or its place is not loaded. */
export function loadedPlaceOf(path: string): InputPlace | undefined {
  return inputKindOf(path)?.place;
}

/** Loads the places of inputs, each once. Their inputs can be opened only after that. */
export async function loadInputPlaces(paths: Iterable<string>): Promise<readonly InputPlace[]> {
  const places = new Set<InputPlace>();
  for (const path of paths) {
    const kind = inputKindOf(path);
    if (kind === undefined) continue;
    kind.place ??= await kind.load();
    places.add(kind.place);
  }
  return [...places];
}

/** Opens an input for reading by position, as a file. */
export function openInput(path: string, plan?: ReadPlan): OpenFile {
  const kind = inputKindOf(path);
  if (kind === undefined) return openForRead(path, 'input');
  if (kind.place === undefined) throw remoteRefusedError(path);
  return { fd: -1, path, role: 'input', reader: kind.place.open(path, plan) };
}

/** Lets this process fetch remote inputs. @returns the bytes of the memory budget that hold fetched blocks. */
export async function startFetching(paths: readonly string[], request: TransferRequest): Promise<number> {
  const places = await loadInputPlaces(paths);
  return places.reduce((bytes, place) => bytes + (place.startFetching?.(request) ?? 0), 0);
}

/** Prefetches the versions and first bytes of remote inputs, or their last bytes. @returns a function that waits for the next input. */
export async function prefetchInputs(
  paths: readonly string[],
  ask: 'version-now' | 'last-bytes',
): Promise<WaitForPrefetch> {
  const waits = (await loadInputPlaces(paths)).map((place) => place.prefetch?.(paths, ask));
  return async (path, signal) => {
    for (const wait of waits) await wait?.(path, signal);
  };
}
