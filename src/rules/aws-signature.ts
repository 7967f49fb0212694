import aws4 from 'aws4';
import { isoMillis, type Instant } from '#kernel/time.ts';
import { canonicalPairs } from './outgoing-call.ts';

export interface AwsKeys {
  readonly accessKeyId: string;
  readonly secretAccessKey: string;
}

export interface AwsRequest {
  readonly method: string;
  readonly url: URL;
  readonly service: string;
  readonly region: string;
  /** All signed headers with lower-case names, `host` and `x-amz-date` included. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: string | Uint8Array;
}

/** A time as `x-amz-date` has it: `20150830T123600Z`. */
export const awsTime = (now: Instant): string =>
  `${isoMillis(now).slice(0, 19).replace(/[:-]/g, '')}Z`;

/** Value of `Authorization` (AWS Signature Version 4). */
export function awsAuthorization(
  { method, url, service, region, headers, body }: AwsRequest,
  keys: AwsKeys,
): string {
  const signer = new aws4.RequestSigner(
    {
      method,
      path: awsPath(url, service),
      headers: { ...headers },
      body: typeof body === 'string' ? body : Buffer.from(body),
      service,
      region,
      doNotModifyHeaders: true,
      doNotEncodePath: true,
    },
    keys,
  );
  // Otherwise that of a `date` header or of the clock.
  signer.datetime = headers['x-amz-date'] ?? '';
  return String(signer.sign().headers?.['Authorization']);
}

/**
 * Path and query as the signer keeps them: it decodes the path once and encodes it, which leaves a path that was
 * encoded here as it is sent, encoded once more; for `s3` as it is sent. A character beyond its own set makes the signer
 * encode the whole address again.
 */
function awsPath({ pathname, searchParams }: URL, service: string): string {
  const path =
    service === 's3'
      ? pathname.replace(/[^\w;,/:@&=+$.!~*'()%-]/g, encodeURIComponent)
      : pathname.split('/').map(encodeURIComponent).join('/');
  const query = canonicalPairs([...searchParams]);
  return query === '' ? path : `${path}?${query}`;
}
