import type { Client, ConnectionEntry } from '#client/index.ts';
import { redactText } from '#kernel/redact.ts';
import { stableJson, type Json, type JsonObject, objectOf } from '#kernel/stable-json.ts';
import { connectionIdPattern } from '../project-layout.ts';
import { areNewer, connectionCredentials, inModeOf } from './credentials.ts';
import type { Mapping, SectionName } from './mapping.ts';
import { CannotCome, type Problem } from './problem.ts';
import { idOf } from './read.ts';
import { type Target, keyOf, shownConnection } from './target.ts';

/** One change that the import makes. */
export interface Step {
  readonly kind: SectionName;
  readonly id: string;
  readonly action: 'create' | 'update';
  /** Names of the fields that change; never their values. */
  readonly fields: readonly string[];
  /** Where webhooks will go, without secrets: the source chooses it, the user sees it before anything is made. */
  readonly addresses?: readonly string[];
  /** What a refusal may repeat. */
  readonly entry: Json;
  /** @throws ApiError */
  readonly apply: (client: Client) => Promise<unknown>;
}

export interface PlanContext {
  readonly client: Client;
  readonly mapping: Mapping;
  readonly target: Target;
  /** Credentials of integrations by unique key, which the source masks. */
  readonly secrets: JsonObject;
  readonly now: number;
  /** Integrations that are here, or come. */
  readonly providers: Map<string, string>;
  /** Modes of the credentials of each integration and its connections at the source, under our names. */
  readonly modes: ReadonlyMap<string, ReadonlySet<string>>;
  readonly problems: Problem[];
  /** Connections that come, by integration and id: their syncs do not exist yet. */
  readonly arriving: Set<string>;
}

export type Decision = Omit<Step, 'kind' | 'id' | 'entry'> | null;

export const isText = (value: Json | undefined): value is string => typeof value === 'string';

export function requiredText(entry: JsonObject, name: string): string {
  const value = entry[name];
  if (!isText(value) || value === '') throw new CannotCome('invalid', `It has no ${name}.`);
  return value;
}

/** @throws CannotCome where the service would refuse the name */
export function requiredName(entry: JsonObject, name: string, pattern: RegExp): string {
  const value = requiredText(entry, name);
  if (pattern.test(value)) return value;
  throw new CannotCome('invalid', `Its ${name} has other characters, or more than 255, than here.`);
}

/** Fields of the entry as a body; values of other types are left to the service, which names them. */
export const sentFields = (entry: JsonObject, names: readonly string[]): JsonObject =>
  Object.fromEntries(
    names.flatMap((name) => (entry[name] === undefined ? [] : [[name, entry[name] ?? null]])),
  );

export const isSame = (a: Json | undefined, b: Json | undefined): boolean =>
  stableJson(a ?? null) === stableJson(b ?? null);

/** Names of the wanted fields that are different here. */
export const changed = (wanted: JsonObject, existing: JsonObject): string[] =>
  Object.keys(wanted).filter((name) => !isSame(wanted[name], existing[name]));

/** Segments of a path that may be a secret, as in the addresses of chat services. */
const isSecretSegment = (segment: string): boolean =>
  segment.length >= 20 && /^[\w-]*$/.test(segment) && /[0-9A-Z]/.test(segment);

/** An address without user, values of the query, and segments of the path that may be secrets. */
export function shownAddress(text: string): string {
  const url = URL.parse(text);
  if (url === null) return redactText(text);
  const path = url.pathname
    .split('/')
    .map((segment) => (isSecretSegment(segment) ? '***' : segment))
    .join('/');
  const names = [...url.searchParams.keys()].map((name) => `${name}=***`);
  return `${url.protocol}//${url.host}${path}${names.length === 0 ? '' : `?${names.join('&')}`}`;
}

/** Tags that the service derives from the end user. */
const derivedTag = /^(end_user|organization)_(id|email|display_name)$/;

/** The profile as requests take it. */
function profileOf(entry: JsonObject): JsonObject {
  const { id, email, display_name, tags, organization } = objectOf(entry['end_user']);
  const filled = (fields: JsonObject): JsonObject =>
    Object.fromEntries(
      Object.entries(fields).filter(
        ([, value]) => value !== null && value !== '' && (value as unknown) !== undefined,
      ),
    );
  const organizationOf = objectOf(organization);
  const user =
    id === undefined
      ? {}
      : filled({
          id,
          email: email ?? null,
          display_name: display_name ?? null,
          tags: tags ?? null,
        });
  return {
    ...(id === undefined ? {} : { end_user: user }),
    ...(id === undefined || organizationOf['id'] === undefined
      ? {}
      : {
          organization: filled({
            id: organizationOf['id'],
            display_name: organizationOf['display_name'] ?? null,
          }),
        }),
    ...sentFields(entry, ['tags', 'webhook_url_override']),
  };
}

/** @throws CannotCome; ApiError */
export async function decideConnection(
  context: PlanContext,
  atSource: JsonObject,
): Promise<Decision> {
  const { target, mapping, problems, now } = context;
  const key = requiredText(atSource, 'provider_config_key');
  const connectionId = requiredName(atSource, 'connection_id', connectionIdPattern);
  const ref = { kind: 'connections', id: idOf('connections', atSource) } as const;
  const [provider] = target.providers.get(context.providers.get(key) ?? '') ?? [];
  if (provider === undefined) {
    throw new CannotCome('no_integration', `The integration "${key}" could not be imported.`);
  }
  const entry = inModeOf(provider, mapping, atSource);
  const { credentials, warnings } = connectionCredentials(mapping, provider, entry, now);
  for (const warning of warnings) problems.push({ ...ref, ...warning, came: true });
  if (reportsAuthError(entry)) {
    const message = 'Its credentials may be refused; the person connects again then.';
    problems.push({ ...ref, code: 'failing_at_source', message, came: true });
  }
  const profile = profileOf(entry);
  const create = {
    provider_config_key: key,
    connection_id: connectionId,
    ...sentFields(entry, ['metadata', 'connection_config', 'created_at']),
    ...profile,
    credentials,
  };
  const store = (client: Client): Promise<unknown> =>
    client.request('POST /connections', { body: create });
  const existing = target.connections.get(keyOf(key, connectionId));
  context.arriving.add(keyOf(key, connectionId));
  const { webhook_url_override: url } = profile;
  const addresses = isText(url) && url !== '' ? [shownAddress(url)] : [];
  if (existing === undefined) return { action: 'create', fields: [], addresses, apply: store };

  const incoming = { ref, entry, profile, credentials };
  const decision = await decideExisting(context, incoming, existing, store);
  const isSent = decision?.fields.some((name) => name !== 'metadata') === true;
  return isSent ? { ...decision, addresses } : decision;
}

/** The source has the connection, and so has the environment. */
async function decideExisting(
  { client: reader, problems }: PlanContext,
  incoming: {
    readonly ref: { readonly kind: 'connections'; readonly id: string };
    readonly entry: JsonObject;
    readonly profile: JsonObject;
    readonly credentials: JsonObject;
  },
  existing: ConnectionEntry,
  store: (client: Client) => Promise<unknown>,
): Promise<Decision> {
  const { ref, entry, profile, credentials } = incoming;
  const { provider_config_key, connection_id } = existing;
  const shown = existing as unknown as JsonObject;
  const whole = await shownConnection(reader, provider_config_key, connection_id);
  const config = objectOf(entry['connection_config']);
  // Tokens in it are renewed here.
  const otherConfig = changed(config, whole.connection_config).filter(
    (name) => !/token/i.test(name),
  );
  const metadata = objectOf(entry['metadata']);
  const fields = [
    ...(isSame(metadata, shown['metadata'] ?? {}) ? [] : ['metadata']),
    ...differingProfile(profile, { ...shown, webhook_url_override: whole.webhook_url_override }),
  ];
  if (areNewer(credentials, objectOf(shown['credentials']))) {
    const withConfig = otherConfig.length > 0 ? ['connection_config'] : [];
    return { action: 'update', fields: ['credentials', ...withConfig, ...fields], apply: store };
  }
  if (otherConfig.length > 0) {
    const message = `Its connection_config has other values here: ${otherConfig.join(', ')}.`;
    problems.push({ ...ref, code: 'differs', message, came: true });
  }
  if (fields.length === 0) return null;
  return {
    action: 'update',
    fields,
    apply: async (client) => {
      if (fields.includes('metadata')) {
        const body = { provider_config_key, connection_id, metadata };
        await client.request('POST /connections/metadata', { body });
      }
      if (fields.some((name) => name !== 'metadata')) {
        await client.request('PATCH /connections/{connectionId}', {
          params: { connectionId: connection_id },
          query: { provider_config_key },
          body: profile,
        });
      }
    },
  };
}

const reportsAuthError = ({ errors }: JsonObject): boolean =>
  Array.isArray(errors) && errors.some((one: Json) => objectOf(one)['type'] === 'auth');

function differingProfile(profile: JsonObject, shown: JsonObject): string[] {
  const { end_user: user, organization, tags, webhook_url_override: url } = profile;
  const own = profileOf(shown);
  const userTags = objectOf(objectOf(shown['end_user'])['tags']);
  const lower = (from: Json | undefined): JsonObject =>
    Object.fromEntries(
      Object.entries(objectOf(from)).map(([name, value]) => [name.toLowerCase(), value]),
    );
  const wantedTags = lower(tags);
  const otherTags = Object.entries(lower(shown['tags'])).filter(
    ([name]) =>
      wantedTags[name] === undefined && !derivedTag.test(name) && userTags[name] === undefined,
  );
  const tagsDiffer =
    tags !== undefined &&
    (otherTags.length > 0 || changed(wantedTags, lower(shown['tags'])).length > 0);
  return [
    ...(user === undefined || isSame(lowerTags(user, lower), lowerTags(own['end_user'], lower))
      ? []
      : ['end_user']),
    ...(organization === undefined || isSame(organization, own['organization'])
      ? []
      : ['organization']),
    ...(tagsDiffer ? ['tags'] : []),
    ...(url === undefined || isSame(url, shown['webhook_url_override'])
      ? []
      : ['webhook_url_override']),
  ];
}

/** An end user whose tags have lower-case keys, as they are stored; none is like an empty map. */
function lowerTags(user: Json | undefined, lower: (from: Json | undefined) => JsonObject): Json {
  const { tags, ...rest } = objectOf(user);
  const stored = lower(tags);
  return Object.keys(stored).length === 0 ? rest : { ...rest, tags: stored };
}
