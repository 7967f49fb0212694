import type { Client } from '#client/index.ts';
import { redactText } from '#kernel/redact.ts';
import { stableJson, type Json, type JsonObject } from '#kernel/stable-json.ts';
import type { Mapping, SectionName } from './mapping.ts';
import { CannotCome, type Problem } from './problem.ts';
import type { Target } from './target.ts';

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
