/**
 * The commands and what each does. `shuffle` is the main command, without a name of its own. All others follow
 * `pileshuf` as its first word, or its first two: an input of such a name is written as `./NAME`.
 */
export const commandSummaries = {
  shuffle: 'Puts the records of many files into one uniformly random order.',
  append: 'Adds inputs to a pile store, all of them or none.',
  completion: 'Prints the script for completion in bash, zsh or fish.',
  'check-shuffled': 'Looks whether the records of files are in random order.',
  'cluster plan': 'Plans a shuffle as tasks for several machines.',
  'cluster slurm': 'Runs a shuffle as tasks on Slurm.',
  'cluster status': 'Shows which tasks of a planned shuffle are done, run or failed.',
  'cluster task': 'Does one task of a planned shuffle on this machine.',
  expire: 'Removes old generations from a pile store.',
  gc: 'Deletes files that a pile store no longer needs.',
  index: 'Writes an index, to read the records of a file in any order.',
  inspect: 'Shows the contents of a pile store and checks its files.',
  pile: 'Adds inputs to a pile store, each under a given id.',
  plan: 'Says what a shuffle will need, and writes no output.',
  shuf: 'Does what shuf of GNU coreutils does, with the same options.',
  'shuffle-store': 'Writes the records of a pile store in uniformly random order.',
  stream: 'Writes a pile store in random order, epoch after epoch.',
  verify: 'Checks that outputs have exactly the records of inputs.',
} as const;

export type CommandName = keyof typeof commandSummaries;

export const CLUSTER = 'cluster';

export function typedName(name: CommandName): string {
  return name === 'shuffle' ? 'pileshuf' : `pileshuf ${name}`;
}
