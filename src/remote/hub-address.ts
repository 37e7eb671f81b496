/** Addresses on the Hugging Face Hub. */
import { UsageError } from '../errors.js';

interface Named {
  /** Buckets have no revisions. */
  readonly kind: 'datasets' | 'buckets';
  readonly repository: string;
  readonly revision: string;
  /** In the repository. */
  readonly path: string;
}

export function requireHubAddress(address: string): void {
  if (namedBy(address).repository === '')
    throw new UsageError(
      `${address} is no address of data; expected hf://datasets/OWNER/NAME/PATH or hf://buckets/OWNER/NAME/PATH`,
    );
}

export function namedBy(address: string): Named {
  const [, ofBucket, pathInBucket = ''] = /^hf:\/\/buckets\/([^/]+\/[^/]+)(?:\/(.*))?$/s.exec(address) ?? [];
  if (ofBucket !== undefined) return { kind: 'buckets', repository: ofBucket, revision: '', path: pathInBucket };
  const [, repository = '', revision = 'main', path = ''] =
    /^hf:\/\/datasets\/([^/@]+\/[^/@]+)(?:@(refs\/(?:convert|pr)\/[^/]+|[^/]+))?(?:\/(.*))?$/s.exec(address) ?? [];
  return { kind: 'datasets', repository, revision: decodeURIComponent(revision), path };
}
