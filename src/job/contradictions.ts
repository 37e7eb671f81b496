/** Options of a shuffle that do not go together, and why. Each is said here alone; a command names them by its flags. */
import { UsageError } from '../errors.js';
import type { ShuffleOptions } from './options.js';

type Contradiction = readonly [isGiven: (options: Partial<ShuffleOptions>) => unknown, message: string];

const isByOrdinal = ({ keys }: Partial<ShuffleOptions>) => keys === 'ordinal';
const isOfTar = ({ records }: Partial<ShuffleOptions>) => records?.by === 'webdataset';
/** The options that make copies. */
const COPIES = ['weights', 'mix'] as const;
const hasCopies = ({ weights = [], mix }: Partial<ShuffleOptions>, option: 'weights' | 'mix') =>
  option === 'mix' ? mix !== undefined : weights.length > 0;
const hasIds = ({ inputIds = 'ordinal' }: Partial<ShuffleOptions>) => inputIds !== 'ordinal';

const CONTRADICTIONS: readonly Contradiction[] = [
  [
    (options) => isByOrdinal(options) && options.skipBlank,
    '`skipBlank` does not go with `keys` from ordinals: those keep files aligned, of which none leaves a record out',
  ],
  ...COPIES.map(
    (option): Contradiction => [
      (options) => isByOrdinal(options) && hasCopies(options, option),
      `\`${option}\` does not go with \`keys\` from ordinals: those keep files aligned in which each record comes once`,
    ],
  ),
  [({ weights, mix }) => weights && mix, '`weights` and `mix` contradict each other; give one of them'],

  [
    ({ repeat, resume, jobDir, keepTemp }) => repeat && (resume || jobDir !== undefined || keepTemp),
    'a job with `repeat` cannot be resumed: leave out `resume`, `jobDir` and `keepTemp`',
  ],
  [
    ({ repeat, splits }) => repeat && splits,
    '`repeat` does not go with `splits`: copies of one record would be in several of them',
  ],
  [
    (options) => options.repeat && isOfTar(options),
    '`repeat` does not go with samples of tar files: readers join copies that are neighbours',
  ],
  [
    ({ repeat, headCount, records }) => repeat && headCount === undefined && records?.by === 'npy',
    'an output of npy has an end: give `headCount` beside `repeat`',
  ],
  [
    ({ repeat, shards }) => repeat && shards?.by === 'bytes',
    '`repeat` does not go with `shards.maxShardBytes`: give a number of shards, or of records in each',
  ],

  [
    ({ unique, uniqueBy }) => unique && uniqueBy !== undefined,
    '`unique` compares whole records and `uniqueBy` a value of each: give one of the two',
  ],
  [
    ({ uniqueBy, splitBy }) => uniqueBy !== undefined && splitBy !== undefined,
    '`splitBy` does not go with `uniqueBy`: equal records could be in different splits; keep one of them first, and split that output',
  ],
  ...contradictionsOf('unique', 'the content of records'),
  ...contradictionsOf('uniqueBy', 'the values of records'),
  [
    (options) => options.unique && isOfTar(options),
    '`unique` does not go with samples of tar files, whose bytes tell when a file was packed: give `uniqueBy` a value of them, such as "key"',
  ],

  [
    ({ splits, shardPrefix }) => splits && shardPrefix !== undefined,
    'the names of `splits` are the first parts of their shards; leave out `shardPrefix`',
  ],
  [
    ({ splitBy, splits }) => splitBy !== undefined && splits === undefined,
    '`splitBy` chooses between splits: give `splits`',
  ],
  [
    ({ splitBy, headCount }) => splitBy !== undefined && headCount !== undefined,
    '`splitBy` does not go with `headCount`: the first records belong to the first split',
  ],
  [
    ({ missing, splitBy, uniqueBy }) => missing !== undefined && (splitBy ?? uniqueBy) === undefined,
    '`missing` is about the values of `splitBy` or `uniqueBy`: give one of them',
  ],
];

/** @param source what the order follows from. */
function contradictionsOf(option: 'unique' | 'uniqueBy', source: string): readonly Contradiction[] {
  return [
    [
      (options) => options[option] && hasIds(options),
      `\`inputIds\` does not go with \`${option}\`: the order then follows from ${source}, wherever they come from`,
    ],
    [
      (options) => options[option] && isByOrdinal(options),
      `\`keys\` from ordinals do not go with \`${option}\`: then the order follows from ${source}`,
    ],
    ...COPIES.map(
      (copies): Contradiction => [
        (options) => options[option] && hasCopies(options, copies),
        `\`${copies}\` does not go with \`${option}\`: of the copies that it makes, one would be kept`,
      ],
    ),
  ];
}

export function refuseContradictions(options: Partial<ShuffleOptions>): void {
  const found = CONTRADICTIONS.find(([isGiven]) => Boolean(isGiven(options)));
  if (found !== undefined) throw new UsageError(found[1]);
}
