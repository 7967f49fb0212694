import { randomUUID } from 'node:crypto';
import { decodeJwt } from 'jose';
import { JWTInvalid } from 'jose/errors';
import { bodyText } from '#kernel/body-text.ts';
import { GatewayError } from '#kernel/errors.ts';
import { parseExactJson } from '#kernel/exact-json.ts';
import { atPath, plainText, textAt } from '#kernel/json-path.ts';
import { isJsonObject, objectOf, type Json, type JsonObject } from '#kernel/stable-json.ts';
import { HttpFailure } from '#ports/http-client.ts';
import {
  interpolate,
  interpolateJson,
  interpolateUrl,
  type TemplateValues,
} from '#rules/interpolate.ts';
import type { ModeContext } from '../credentials/modes/mode.ts';
import type { ChosenItem, LookupStep, Provider } from './definition.ts';
import {
  buildProviderRequest,
  type OpenedConnection,
  type OpenedIntegration,
  type ProviderRequest,
} from './inject.ts';
import { partOf } from './value-part.ts';

const timeoutMs = 15_000;
const responseBytesMax = 1024 ** 2;

/** A step of a lookup with everything that it may read. */
interface LookupContext {
  readonly deps: Pick<ModeContext, 'http' | 'clock'>;
  readonly provider: Provider;
  readonly connection: OpenedConnection;
  readonly integration: OpenedIntegration;
  readonly values: TemplateValues;
}

/**
 * Configuration that only the provider knows, looked up with the new credentials
 * (docs/reference/provider-format.md#lookup-after-connecting).
 * @returns without values that the connection already has
 * @throws GatewayError `connection_test_failed`: the provider did not return it, or why it cannot be called
 */
export async function lookUpConfiguration(
  deps: LookupContext['deps'],
  provider: Provider,
  connection: OpenedConnection,
  integration: OpenedIntegration,
): Promise<JsonObject> {
  let found: JsonObject = {};
  for (const step of provider.connection_lookup ?? []) {
    const context = contextOf({ deps, provider, connection, integration }, found);
    if (step.unless !== undefined && interpolate(step.unless, context.values) !== null) continue;
    try {
      found = { ...(await valuesOfStep(context, step)), ...found };
    } catch (error) {
      const isLookupFailure = error instanceof GatewayError && error.status < 500;
      if (!step.is_optional || !isLookupFailure) throw error;
    }
  }
  const { connectionConfig } = connection;
  return Object.fromEntries(
    Object.entries(found).filter(([name]) => connectionConfig[name] === undefined),
  );
}

function contextOf(context: Omit<LookupContext, 'values'>, found: JsonObject): LookupContext {
  const { deps, connection, integration } = context;
  const { credentials, metadata } = connection;
  const connectionConfig = { ...found, ...connection.connectionConfig };
  const values = {
    connectionConfig,
    metadata,
    credentials,
    clientId: integration.clientId,
    clientSecret: integration.clientSecret,
    now: deps.clock.now(),
    random: randomUUID(),
  };
  return { ...context, connection: { ...connection, connectionConfig }, values };
}

async function valuesOfStep(context: LookupContext, step: LookupStep): Promise<JsonObject> {
  const { provider, connection } = context;
  const response =
    step.claims === undefined
      ? await responseOf(context, step)
      : claimsOf(provider, connection, step.claims);
  const account =
    step.item === undefined ? objectOf(response) : itemOf(context, response, step, step.item);
  const pairs = Object.entries(step.connection_config).map(([name, { path, take }]) => {
    const value = atPath(account, path);
    const text = value === undefined || value === null ? '' : plainText(value);
    const part = text === '' ? null : partOf(text, take);
    if (part === null) throw noConfiguration(provider, `did not return "${path}"`);
    return [name, part] as const;
  });
  return Object.fromEntries(pairs);
}

/** The token came from the provider over TLS: its signature proves nothing more (OpenID Connect Core 3.1.3.7). */
function claimsOf(
  provider: Provider,
  { credentials }: OpenedConnection,
  name: NonNullable<LookupStep['claims']>,
): JsonObject {
  const held = credentials ?? {};
  const token = textAt(objectOf(held['raw']), name) ?? textAt(held, name) ?? '';
  try {
    return decodeJwt(token) as JsonObject;
  } catch (cause) {
    if (!(cause instanceof JWTInvalid)) throw cause;
    throw noConfiguration(provider, `issued no ${name} with claims`, cause);
  }
}

/** The one that fits the values of the connection, and is preferred. */
function itemOf(
  { provider, connection: { connectionConfig } }: LookupContext,
  response: Json,
  { connection_config: fields }: LookupStep,
  { path, choose_by: names = [], prefer }: ChosenItem,
): JsonObject {
  const list = path === undefined ? response : atPath(response, path);
  const items = Array.isArray(list) ? (list as readonly Json[]).filter(isJsonObject) : [];
  const wanted = names.filter((name) => connectionConfig[name] !== undefined);
  const fitting = items.filter((item) =>
    wanted.every((name) => valueIn(item, fields[name]) === connectionConfig[name]),
  );
  const preferred = fitting.find((item) => {
    const value = prefer === undefined ? undefined : atPath(item, prefer.path);
    return value !== undefined && plainText(value) === prefer?.equals;
  });
  const chosen = preferred ?? fitting[0];
  if (chosen === undefined) throw noConfiguration(provider, 'returned no matching account');
  return chosen;
}

function valueIn(
  item: JsonObject,
  field: LookupStep['connection_config'][string] | undefined,
): string | null {
  const text = field === undefined ? null : textAt(item, field.path);
  return text === null ? null : partOf(text, field?.take);
}

async function responseOf(context: LookupContext, step: LookupStep): Promise<Json> {
  const { deps, provider } = context;
  try {
    const request = requestOf(context, step);
    const reply = await deps.http.request({ ...request, timeoutMs, maxBytes: responseBytesMax });
    if (reply.status !== 200) throw noConfiguration(provider, `answered ${reply.status}`);
    return parseExactJson(bodyText(reply.body, reply.headers['content-type'])) as Json;
  } catch (cause) {
    if (cause instanceof HttpFailure)
      throw noConfiguration(provider, `failed (${cause.code})`, cause);
    if (cause instanceof SyntaxError)
      throw noConfiguration(provider, 'did not answer with JSON', cause);
    throw cause;
  }
}

function requestOf(context: LookupContext, step: LookupStep): ProviderRequest {
  const { provider, connection, integration, values } = context;
  const { method = 'GET', graphql, headers = {}, body } = step;
  const data = graphql === undefined ? body && interpolateJson(body, values) : { query: graphql };
  const filled = Object.entries(headers).flatMap(([name, template]) => {
    const value = interpolate(template, values);
    return value === null ? [] : [[name, value] as const];
  });
  const type = data === undefined ? {} : { 'content-type': 'application/json' };
  const address = addressOf(context, step);
  return buildProviderRequest({
    provider,
    connection,
    integration,
    now: values.now,
    method: data === undefined ? method : 'POST',
    endpoint: address === null ? (step.endpoint ?? '') : '',
    isEndpointTemplate: address === null,
    headers: { ...type, ...Object.fromEntries(filled) },
    ...(data === undefined ? {} : { data }),
    ...(address === null ? {} : { baseUrlOverride: address }),
  });
}

/** The whole address of the call; null where it is a path below the base URL. */
function addressOf(
  { provider, values }: LookupContext,
  { endpoint = '', relative_to: base }: LookupStep,
): string | null {
  const path = interpolateUrl(endpoint, values);
  if (path !== null && /^https?:\/\//i.test(path)) return path;
  if (base === 'base_url') return null;
  const { token_url: tokenUrl, proxy } = provider;
  const template =
    base === 'origin'
      ? /^[^/]*\/\/[^/]*/.exec(proxy?.base_url ?? '')?.[0]
      : typeof tokenUrl === 'string'
        ? tokenUrl
        : tokenUrl?.OAUTH2;
  const from = template === undefined ? null : interpolateUrl(template, values);
  const url = path === null || from === null ? null : URL.parse(path, from);
  if (url === null) throw noConfiguration(provider, 'has no usable address');
  return url.href;
}

function noConfiguration({ name }: Provider, what: string, cause?: unknown): GatewayError {
  const message = `The provider "${name}" ${what} when it was asked for the account of the connection.`;
  return new GatewayError('connection_test_failed', { message }, { cause });
}
