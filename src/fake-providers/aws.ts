import { createHash, createHmac, timingSafeEqual } from 'node:crypto';
import type { JsonObject } from '#kernel/stable-json.ts';
import { systemClock } from '#kernel/time.ts';
import {
  demand,
  paramsOf,
  Refusal,
  unauthorized,
  type Answer,
  type ReceivedRequest,
} from './exchange.ts';
import { fill, typedInto } from './fill.ts';
import { demandPlaced, type Rules, type Stage } from './rules.ts';
import { secret } from './tokens.ts';

/** Of one request, as the service that receives it knows them. */
interface SigningScope {
  readonly service: string;
  readonly region: string;
}

const refused = { status: 403, error: 'SignatureDoesNotMatch' };
const form =
  /^AWS4-HMAC-SHA256 Credential=([^,]+), SignedHeaders=([^,]+), Signature=([0-9a-f]{64})$/;

/** RFC 3986 section 2.3: all but the unreserved characters. */
const encoded = (text: string): string =>
  encodeURIComponent(text).replace(
    /[!'()*]/g,
    (mark) => `%${mark.charCodeAt(0).toString(16).toUpperCase()}`,
  );

const sha256 = (text: string): string => createHash('sha256').update(text).digest('hex');

/**
 * Recomputes the signature as a service does
 * (https://docs.aws.amazon.com/IAM/latest/UserGuide/reference_sigv-create-signed-request.html).
 * @param secretOf the secret of an access key id; null: it is not known
 * @returns the access key id
 * @throws Refusal
 */
export function demandAwsSignature(
  { method, url, headers, body }: Pick<ReceivedRequest, 'method' | 'url' | 'headers' | 'body'>,
  { service, region }: SigningScope,
  secretOf: (accessKeyId: string) => string | null,
): string {
  const [, credential = '', signedNames = '', signature = ''] =
    form.exec(headers.authorization ?? '') ?? [];
  demand(credential !== '', 'unsigned', unauthorized);
  const [id = '', ...scope] = credential.split('/');
  const key = secretOf(id);
  demand(key !== null, `unknown_access_key: ${id}`, refused);
  const time = String(headers['x-amz-date'] ?? '');
  const wanted = [time.slice(0, 8), region, service, 'aws4_request'];
  demand(scope.join('/') === wanted.join('/'), `wrong_scope: ${scope.join('/')}`, refused);
  const names = signedNames.split(';');
  const needed = ['host', ...Object.keys(headers).filter((name) => name.startsWith('x-amz-'))];
  demand(
    needed.every((name) => names.includes(name)),
    `unsigned_header: ${signedNames}`,
    refused,
  );
  const digest = headers['x-amz-content-sha256'];
  const isUnsigned = digest === 'UNSIGNED-PAYLOAD';
  demand(!isUnsigned || service === 's3', 'unsigned_body', refused);
  const bodyDigest = sha256(body);
  demand(digest === undefined || isUnsigned || digest === bodyDigest, 'wrong_digest', refused);
  const request = [
    method,
    pathOf(url, service),
    queryOf(url),
    ...names.map((name) => `${name}:${valueOf(headers[name])}`),
    '',
    signedNames,
    isUnsigned ? 'UNSIGNED-PAYLOAD' : bodyDigest,
  ].join('\n');
  const text = ['AWS4-HMAC-SHA256', time, scope.join('/'), sha256(request)].join('\n');
  const signingKey = scope.reduce<string | Buffer>(
    (from, part) => createHmac('sha256', from).update(part).digest(),
    `AWS4${key}`,
  );
  const expected = createHmac('sha256', signingKey).update(text).digest();
  demand(timingSafeEqual(expected, Buffer.from(signature, 'hex')), 'wrong_signature', refused);
  return id;
}

const valueOf = (value: string | readonly string[] | undefined): string =>
  String(value ?? '')
    .trim()
    .replace(/\s+/g, ' ');

/** The path as sent, encoded once more; that of S3 is not. */
function pathOf({ pathname }: URL, service: string): string {
  if (service === 's3') return pathname;
  return pathname
    .replace(/\/{2,}/g, '/')
    .split('/')
    .map(encoded)
    .join('/');
}

function queryOf({ searchParams }: URL): string {
  const pairs = [...searchParams].map(([name, value]) => [encoded(name), encoded(value)] as const);
  const compare = (a: string, b: string) => (a < b ? -1 : a > b ? 1 : 0);
  return pairs
    .toSorted(([a, x], [b, y]) => compare(a, b) || compare(x, y))
    .map(([name, value]) => `${name}=${value}`)
    .join('&');
}

/** Calls signed by AWS Signature Version 4, with the keys of a role where the connection names one. */
export function awsRules(stage: Stage): Rules {
  const { definition, known } = stage;
  const scope = (): SigningScope => ({
    service: fill(definition.aws_signature?.service ?? '', known),
    region: fill(definition.aws_signature?.region ?? '', known),
  });
  const entered: Record<string, string> = {
    ...Object.fromEntries(
      Object.entries(definition.credentials ?? {})
        .filter(([name]) => name !== 'session_token')
        .map(([name, field]) => [name, typedInto(name, field)]),
    ),
    access_key_id: 'AKIAIOSFODNN7EXAMPLE',
    secret_access_key: secret('secret-access-key'),
  };
  const ownSecret = (id: string) =>
    id === entered['access_key_id'] ? (entered['secret_access_key'] ?? null) : null;
  const sessions = new Map<string, { readonly key: string; readonly token: string }>();
  const role = known['connectionConfig.role_arn'];
  return {
    integration: null,
    form: entered,
    importable: () => ({ type: 'AWS_SIGV4', ...entered }),
    answer(request) {
      if (request.role !== 'token') throw new Refusal(404, 'not_found', 'no_such_endpoint');
      demandAwsSignature(request, { ...scope(), service: 'sts' }, ownSecret);
      demandRole(paramsOf(request, 'form'), known);
      const id = `ASIA${secret('').slice(1, 17).toUpperCase()}`;
      const session = { key: secret('temporary-key'), token: secret('session-token') };
      sessions.set(id, session);
      return assumed(id, session, Math.floor(systemClock.now() / 1000) + stage.lifetime);
    },
    admit(request) {
      if (role === undefined) {
        demandAwsSignature(request, scope(), ownSecret);
      } else {
        const id = demandAwsSignature(request, scope(), (one) => sessions.get(one)?.key ?? null);
        const token = request.headers['x-amz-security-token'];
        demand(token === sessions.get(id)?.token, 'wrong_session_token', unauthorized);
      }
      demandPlaced(stage, request);
    },
    endTokens: () => {
      sessions.clear();
      if (role === undefined) entered['secret_access_key'] = secret('secret-access-key');
    },
  };
}

function demandRole(sent: JsonObject, known: Readonly<Record<string, string>>): void {
  demand(sent['Action'] === 'AssumeRole', 'wrong_action');
  demand(sent['Version'] === '2011-06-15', 'wrong_version');
  const denied = { status: 403, error: 'AccessDenied' };
  demand(sent['RoleArn'] === known['connectionConfig.role_arn'], 'wrong_role', denied);
  demand(sent['ExternalId'] === known['connectionConfig.external_id'], 'wrong_external_id', denied);
}

const assumed = (
  id: string,
  { key, token }: { readonly key: string; readonly token: string },
  expiration: number,
): Answer => ({
  status: 200,
  body: {
    AssumeRoleResponse: {
      AssumeRoleResult: {
        Credentials: {
          AccessKeyId: id,
          SecretAccessKey: key,
          SessionToken: token,
          Expiration: expiration,
        },
      },
    },
  },
});
