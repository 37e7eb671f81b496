/**
 * BGZF: gzip of which each member says how long it is (`gzip-members.ts`). The last member of a file holds nothing, so
 * that one that was cut between two members can be told from a whole one.
 */
import type { Codec } from '../codec.js';
import { gzip } from './gzip.js';
import { isBgzfHeader, listGzipMembers } from './gzip-members.js';

/** A member of nothing, always of these bytes. */
const EMPTY_BLOCK = Buffer.from('1f8b08040000000000ff0600424302001b0003000000000000000000', 'hex');

export const bgzf: Codec = {
  ...gzip,
  name: 'bgzf',
  suffixes: ['.bgz', '.bgzf'],
  endMark: { bytes: EMPTY_BLOCK, name: 'the empty block that ends BGZF files' },
  matches: isBgzfHeader,
  listMembers: listGzipMembers,
};
