/** Addresses on the Hugging Face Hub. */
import { UsageError } from '../errors.js';

interface Named {
  readonly repository: string;
  readonly revision: string;
  /** In the repository. */
  readonly path: string;
}

export function requireHubAddress(address: string): void {
  if (/^hf:\/\/buckets\//.test(address))
    throw new UsageError(
      `${address}: buckets of the Hub are read by their S3 interface; name it as s3://, with AWS_ENDPOINT_URL and the keys of the Hub`,
    );
  if (namedBy(address).repository === '')
    throw new UsageError(`${address} is no address of data; expected hf://datasets/OWNER/NAME/PATH`);
}

export function namedBy(address: string): Named {
  const [, repository = '', revision = 'main', path = ''] =
    /^hf:\/\/datasets\/([^/@]+\/[^/@]+)(?:@(refs\/(?:convert|pr)\/[^/]+|[^/]+))?(?:\/(.*))?$/s.exec(address) ?? [];
  return { repository, revision: decodeURIComponent(revision), path };
}
