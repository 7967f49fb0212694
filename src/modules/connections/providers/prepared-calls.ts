import type { JsonObject } from '#kernel/stable-json.ts';
import type { Destination } from '#ports/http-client.ts';
import { interpolateJson, type TemplateValues } from '#rules/interpolate.ts';
import type { OutgoingCall } from '#rules/outgoing-call.ts';
import { plainBase, plainUrl, type PlainBase } from '#rules/url.ts';
import type { AuthorizationCall } from '../credentials/modes/mode.ts';
import {
  baseUrlOf,
  checkHeaders,
  credentialHeadersOf,
  injectedHeaders,
  mergeHeaders,
  wantedType,
  type CallParties,
} from './inject.ts';

/** The common part of all calls of a connection while its credentials and its provider stay the same. */
export interface PreparedCalls {
  /** Null for an endpoint that has to be parsed: `buildProviderRequest` does. */
  url(endpoint: string): Destination | null;
  /**
   * As `buildProviderRequest` makes them. Frozen and shared by all calls where the caller adds none.
   * @throws GatewayError `invalid_headers`
   */
  headers(own: Readonly<Record<string, string>>): Readonly<Record<string, string>>;
  readonly credentialHeaders: readonly string[];
}

/**
 * Null where calls differ in more than their path and the caller's headers: a signature or a template depends on the
 * call, the time or a random value, the provider adds to query or body, or a value is missing.
 */
export function prepareCalls(callParties: CallParties): PreparedCalls | null {
  const { provider, integration } = callParties;
  const isKeyed = integration.integrationConfig?.['keyPlacement'] === 'query';
  if (isKeyed || provider.proxy?.query !== undefined || provider.proxy?.body !== undefined) {
    return null;
  }
  const tracker: ReadTracker = { isOfOneCall: false };
  let base: PlainBase | null;
  let injected: Readonly<Record<string, string>>;
  let type: string | null;
  try {
    const values = watchedValues(callParties, tracker);
    base = plainBase(baseUrlOf(callParties, values));
    injected = injectedHeaders(callParties, values, watchedAuthorization(callParties, tracker));
    type = wantedType(provider, values);
    checkHeaders(injected);
  } catch {
    return null; // Each call reports the missing value.
  }
  if (base === null || tracker.isOfOneCall) return null;
  const from = base;
  const wanted: Readonly<Record<string, string>> = type === null ? {} : { 'content-type': type };
  const plain = Object.freeze(mergeHeaders(injected, wanted));
  return {
    url: (endpoint) => plainUrl(from, endpoint),
    headers(own) {
      let isPlain = true;
      const added: Record<string, string> = { ...wanted };
      for (const name of Object.keys(own)) {
        isPlain = false;
        added[name.toLowerCase()] = own[name] ?? '';
      }
      if (isPlain) return plain;
      checkHeaders(added);
      return mergeHeaders(injected, added);
    },
    credentialHeaders: credentialHeadersOf(provider, injected),
  };
}

/** Whether a value of one particular call was read. */
interface ReadTracker {
  isOfOneCall: boolean;
}

function watchedValues({ provider, connection, integration }: CallParties, tracker: ReadTracker) {
  const values = {
    connectionConfig: connection.connectionConfig,
    metadata: connection.metadata,
    credentials: connection.credentials,
    clientId: integration.clientId,
    clientSecret: integration.clientSecret,
    get now(): number {
      tracker.isOfOneCall = true;
      return 0;
    },
    get random(): string {
      tracker.isOfOneCall = true;
      return '';
    },
    get call(): OutgoingCall | undefined {
      tracker.isOfOneCall = true;
      return undefined;
    },
  } satisfies TemplateValues;
  const extra = provider.proxy?.connection_config;
  if (extra !== undefined) {
    const more = interpolateJson({ ...extra }, values) as JsonObject;
    values.connectionConfig = { ...more, ...values.connectionConfig };
  }
  return values;
}

/** Without the parts of a call: a mode that needs them signs each call. */
function watchedAuthorization(
  { provider, connection, integration }: CallParties,
  tracker: ReadTracker,
): AuthorizationCall {
  const nothing = <T>(value: T): T => {
    tracker.isOfOneCall = true;
    return value;
  };
  return {
    provider,
    credentials: connection.credentials ?? {},
    connectionConfig: connection.connectionConfig,
    clientId: integration.clientId,
    clientSecret: integration.clientSecret,
    get method() {
      return nothing('GET');
    },
    get url() {
      return nothing(new URL('http://nothing.invalid'));
    },
    get body() {
      return nothing('');
    },
    get contentType() {
      return nothing('');
    },
    get headers() {
      return nothing({});
    },
    get form() {
      return nothing([]);
    },
    get now() {
      return nothing(0);
    },
    get nonce() {
      return nothing('');
    },
  };
}
