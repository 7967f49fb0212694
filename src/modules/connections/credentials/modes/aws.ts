import { z } from 'zod';
import { GatewayError } from '#kernel/errors.ts';
import { atPath, textAt } from '#kernel/json-path.ts';
import { objectOf, type JsonObject } from '#kernel/stable-json.ts';
import { awsAuthorization, awsTime, type AwsKeys } from '#rules/aws-signature.ts';
import { interpolate } from '#rules/interpolate.ts';
import { atTime, iso } from './expiry.ts';
import type { AuthModeRules, AuthorizationCall, ModeContext, ObtainedCredentials } from './mode.ts';
import { answerWithout, ProviderAuthError } from './provider-auth-error.ts';
import { providerFields, typed } from './shapes.ts';
import { addressOf, requestToken, tokenValues } from './token-request.ts';

/** AWS Signature Version 4, with the keys of a role where one is assumed (docs/reference/auth-modes.md#aws_sigv4). */
export const awsSigV4: AuthModeRules = {
  mode: 'AWS_SIGV4',
  integration: {
    isRequired: false,
    shape: z.strictObject({
      type: z.literal('AWS_SIGV4'),
      client_id: z.string().min(1).max(255),
      client_secret: z.string().min(1),
    }),
  },
  importShape: (provider) => typed('AWS_SIGV4', (more) => providerFields(provider, more)),
  import: (input, context) => obtained(input, context),
  form: { shape: (provider) => providerFields(provider), submit: obtained },
  redirect: null,
  renewal: {
    isPossible: (held) => textAt(held, 'temporary.access_key_id') !== null,
    spendsToken: () => false,
    renew: (held, context) => obtained(enteredOf(held), context),
  },
  isTested: true,
  authorization: () => null,
  signsBody: ({ aws_signature: signature }) => !takesUnsignedBody(signature?.service ?? ''),
  signature: signedHeaders,
};

/** What the person entered, without what was obtained with it. */
function enteredOf(held: JsonObject): JsonObject {
  const { temporary: _temporary, expires_at: _end, raw: _raw, ...entered } = held;
  return entered;
}

interface Keys extends AwsKeys {
  readonly sessionToken: string | null;
}

function keysIn(credentials: JsonObject): Keys | null {
  const accessKeyId = textAt(credentials, 'access_key_id');
  const secretAccessKey = textAt(credentials, 'secret_access_key');
  if (accessKeyId === null || secretAccessKey === null) return null;
  return { accessKeyId, secretAccessKey, sessionToken: textAt(credentials, 'session_token') };
}

interface AwsClient {
  readonly clientId?: string | undefined;
  readonly clientSecret?: string | undefined;
}

/** The person's keys, else those of the integration. @throws GatewayError `invalid_credentials` */
function ownKeys(credentials: JsonObject, client: AwsClient, name: string): Keys {
  const keys = keysIn(credentials);
  if (keys !== null) return keys;
  const { clientId, clientSecret } = client;
  if (clientId === undefined || clientSecret === undefined) {
    const message = `Neither the connection nor the integration of "${name}" has an access key.`;
    throw new GatewayError('invalid_credentials', { message });
  }
  return { accessKeyId: clientId, secretAccessKey: clientSecret, sessionToken: null };
}

async function obtained(input: JsonObject, context: ModeContext): Promise<ObtainedCredentials> {
  const { provider, connectionConfig } = context;
  const keys = ownKeys(input, context.client ?? {}, provider.name);
  const entered = { ...input, type: 'AWS_SIGV4' };
  const role = textAt(connectionConfig, 'role_arn');
  if (role === null) return { credentials: entered, expiresAt: null };
  const body = await assumedRole(role, keys, context);
  const found = objectOf(atPath(body, 'AssumeRoleResponse.AssumeRoleResult.Credentials'));
  const temporary = {
    access_key_id: textAt(found, 'AccessKeyId') ?? '',
    secret_access_key: textAt(found, 'SecretAccessKey') ?? '',
    session_token: textAt(found, 'SessionToken') ?? '',
  };
  const expiresAt = atTime(found['Expiration'], context.clock.now());
  if (Object.values(temporary).includes('') || expiresAt === null) {
    throw answerWithout('temporary access key', provider, 'invalid_credentials');
  }
  return {
    credentials: { ...entered, temporary, expires_at: iso(expiresAt), raw: body },
    expiresAt,
  };
}

const stsVersion = '2011-06-15';
const sessionNameDefault = 'svc';

/** https://docs.aws.amazon.com/STS/latest/APIReference/API_AssumeRole.html */
async function assumedRole(role: string, keys: Keys, context: ModeContext): Promise<JsonObject> {
  const { provider, connectionConfig, clock } = context;
  const values = tokenValues(context, null);
  const template = typeof provider.token_url === 'string' ? provider.token_url : undefined;
  const url = addressOf(provider, 'token_url', template, values);
  const externalId = textAt(connectionConfig, 'external_id');
  const params = {
    Action: 'AssumeRole',
    Version: stsVersion,
    RoleArn: role,
    RoleSessionName: textAt(connectionConfig, 'session_name') ?? sessionNameDefault,
    ...(externalId === null ? {} : { ExternalId: externalId }),
  };
  const { region } = placeOf(context, values);
  const request = {
    method: 'POST',
    url: new URL(url),
    contentType: 'application/x-www-form-urlencoded',
    headers: {},
    // As the token call encodes it.
    body: new URLSearchParams(params).toString(),
    now: clock.now(),
  };
  const headers = signed(request, { service: 'sts', region }, keys);
  try {
    const { body } = await requestToken(context, {
      url,
      params,
      headers,
      failure: 'invalid_credentials',
    });
    return body;
  } catch (error) {
    throw error instanceof ProviderAuthError ? refusalOf(error) : error;
  }
}

/** 403 refuses the keys, the role or the external id; temporary keys stay good until they end. */
function refusalOf(error: ProviderAuthError): ProviderAuthError {
  if (error.failure.providerStatus !== 403) return error;
  return new ProviderAuthError(
    { ...error.failure, isDefinitive: true, endsValidToken: false },
    { cause: error },
  );
}

interface SigningPlace {
  readonly service: string;
  readonly region: string;
}

/** @throws GatewayError `missing_api_url` */
function placeOf(
  { provider }: Pick<ModeContext, 'provider'>,
  values: Parameters<typeof interpolate>[1],
): SigningPlace {
  const { aws_signature: templates } = provider;
  const service = interpolate(templates?.service ?? '', values) ?? '';
  const region = interpolate(templates?.region ?? '', values) ?? '';
  if (service !== '' && region !== '') return { service, region };
  const message = `The connection of "${provider.name}" names no service and region to sign for.`;
  throw new GatewayError('missing_api_url', { message });
}

function signedHeaders(call: AuthorizationCall): Readonly<Record<string, string>> {
  const { provider, connectionConfig, credentials } = call;
  const values = {
    connectionConfig,
    credentials,
    metadata: {},
    now: call.now,
    random: call.nonce,
  };
  const temporary = keysIn(objectOf(credentials['temporary']));
  const keys = temporary ?? ownKeys(credentials, call, provider.name);
  return signed(call, placeOf(call, values), keys);
}

type SignedCall = Pick<
  AuthorizationCall,
  'method' | 'url' | 'contentType' | 'headers' | 'body' | 'now'
>;

/** Services that accept a body whose digest is not signed: TLS protects it. */
const takesUnsignedBody = (service: string): boolean => service === 's3';

/** The headers of a signed call, `Authorization` included. */
function signed(call: SignedCall, place: SigningPlace, keys: Keys): Record<string, string> {
  const { sessionToken } = keys;
  const added = {
    'x-amz-date': awsTime(call.now),
    ...(takesUnsignedBody(place.service) ? { 'x-amz-content-sha256': 'UNSIGNED-PAYLOAD' } : {}),
    ...(sessionToken === null ? {} : { 'x-amz-security-token': sessionToken }),
  };
  const own = Object.entries(call.headers).filter(([name]) => name.startsWith('x-amz-'));
  const headers = {
    ...Object.fromEntries(own),
    ...(call.contentType === '' ? {} : { 'content-type': call.contentType }),
    host: call.url.host,
    ...added,
  };
  return { ...added, authorization: awsAuthorization({ ...call, ...place, headers }, keys) };
}
