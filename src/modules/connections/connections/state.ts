import { GatewayError } from '#kernel/errors.ts';
import type { Sealed } from '#kernel/ids.ts';
import { limits } from '#kernel/limits.ts';
import type { Json, JsonObject } from '#kernel/stable-json.ts';
import { dayMs, type Instant } from '#kernel/time.ts';
import type { PlainFields } from './fields.ts';

export interface EndUser {
  readonly id: string;
  readonly email: string | null;
  readonly displayName: string | null;
  readonly tags: Readonly<Record<string, string>>;
  readonly organization: { readonly id: string; readonly displayName: string | null } | null;
}

/** Credentials as the API returns them (docs/reference/auth-modes.md#credentials): `type` and the mode's fields. */
export type Credentials = { readonly type: string } & JsonObject;

/** What is known of renewing the credentials (docs/reference/auth-modes.md#freshness-and-refresh). */
export interface RefreshState {
  /** Said in the log before the provider is asked; without an outcome the request counts as sent. */
  readonly intent: {
    readonly id: string;
    readonly at: Instant;
    readonly spendsToken: boolean;
  } | null;
  /** Whether a refresh gave another refresh token than it was given; null until one has succeeded. */
  readonly rotatesToken: boolean | null;
  readonly failedAt: Instant | null;
  /** The first passing failure since the last success or refusal; absent in older states. */
  readonly failingSince?: Instant | null;
  /** Days (UTC) with a failure since the last success; at `limits.refreshFailureDaysMax` no more is tried. */
  readonly failureDays: number;
  /** When the owner last asked for a refresh that nobody had a use for; null since the last success. */
  readonly askedAt: Instant | null;
}

export const neverRefreshed: RefreshState = {
  intent: null,
  rotatesToken: null,
  failedAt: null,
  failingSince: null,
  failureDays: 0,
  askedAt: null,
};

/**
 * Scope = `joinKey(environment uid, integration key, connection id)`; path the same three parts.
 * Indexes: `uid`, `deleting` (`yes`).
 */
export interface Connection extends Partial<PlainFields> {
  readonly uid: string;
  /** Number shown by the API. */
  readonly id: number;
  readonly environmentUid: string;
  readonly integrationKey: string;
  readonly connectionId: string;
  readonly provider: string;
  readonly authMode: string;
  /** Sealed under the connection's data key; null for mode NONE. */
  readonly credentials: Sealed<Credentials> | null;
  /** Grows with each stored set of credentials. */
  readonly credentialsVersion: number;
  readonly expiresAt: Instant | null;
  /** When they were stored: with `expiresAt` it gives their lifetime. */
  readonly credentialsAt: Instant;
  readonly refresh: RefreshState;
  /** Keyed hash of the credentials: detects unchanged credentials without opening them. */
  readonly fingerprint: string | null;
  /**
   * Each top-level key sealed on its own (metadata may hold webhook secrets), so that the owner merges
   * without opening; opened by `openMetadata`.
   */
  readonly metadata: Readonly<Record<string, Sealed<Json>>>;
  readonly connectionConfig: Sealed<JsonObject>;
  readonly tags: PlainFields['tags'];
  readonly endUser: EndUser | null;
  /** Sealed under the connection's key; in states of earlier releases as it is. */
  readonly webhookUrlOverride: Sealed<string> | null;
  readonly errors: readonly {
    readonly type: 'auth' | 'sync';
    readonly log_id: string;
    /** What failed, and where in its source. Absent: of credentials, or by an earlier release. */
    readonly message?: string;
  }[];
  /**
   * Start of the validation by functions on `validate-connection`; `isNew`: the connection is not published yet. Absent
   * or null: none runs.
   */
  readonly validating?: { readonly isNew: boolean; readonly since: Instant } | null;
  /**
   * Credentials that never expire, but that the provider can be asked about: they are tried once a day while
   * nobody fetches them. Absent: they are not.
   */
  readonly isTested?: boolean;
  /** Credentials that can be renewed only while they are valid: renewed before their end. Absent: they are not. */
  readonly isRenewedWhileValid?: boolean;
  /** Its records and key are being removed: as good as gone for every reader. */
  readonly isDeleting: boolean;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
  readonly lastFetchedAt: Instant | null;
}

/**
 * When the credentials of a connection that nobody fetches are to be renewed, so that its refresh token does not
 * lapse, or tried where they never expire (docs/reference/auth-modes.md#freshness-and-refresh): a day after the last
 * fetch and when they have expired; once a day after that. Null: never.
 */
export function unusedRefreshAt(connection: Connection): Instant | null {
  const { expiresAt, lastFetchedAt, createdAt, isDeleting, refresh, isTested } = connection;
  const isExhausted = refresh.failureDays >= limits.refreshFailureDaysMax;
  if (connection.isRenewedWhileValid === true && expiresAt !== null) {
    return isDeleting || isExhausted ? null : renewalAt(connection, expiresAt);
  }
  const dueFrom = expiresAt ?? (isTested === true ? createdAt : null);
  if (dueFrom === null || isDeleting || isExhausted) return null;
  const unusedFrom = lastFetchedAt ?? createdAt;
  return Math.max(dueFrom, unusedFrom + dayMs, (refresh.askedAt ?? -dayMs) + dayMs);
}

/** In the last quarter of their lifetime, several times if need be; after their end once a day. */
function renewalAt(
  { credentialsAt, refresh: { askedAt } }: Connection,
  expiresAt: Instant,
): Instant {
  const lastQuarterMs = Math.max(0, expiresAt - credentialsAt) / 4;
  const dueFrom = Math.ceil(expiresAt - lastQuarterMs);
  if (askedAt === null) return dueFrom;
  const againAfterMs = askedAt < expiresAt ? Math.min(dayMs, lastQuarterMs / 8) : dayMs;
  return Math.max(dueFrom, Math.ceil(askedAt + Math.max(againAfterMs, limits.refreshBackoffMs)));
}

/** Functions have their time to look at a connection, and a minute more; after it the node that asked is lost. */
const validationMaxMs = limits.eventStartByMs + 2 * limits.eventRunMaxMs;

/** Time at which an unfinished validation counts as failed; null without one. */
export const validationDueAt = ({ validating, isDeleting }: Connection): Instant | null =>
  validating == null || isDeleting ? null : validating.since + validationMaxMs;

/** An unpublished connection stays unpublished. */
export function validatingAfter(
  { isToBeValidated = false, at }: { readonly isToBeValidated?: boolean; readonly at: Instant },
  state: Connection | null,
): NonNullable<Connection['validating']> | null {
  const isNew = state === null || state.validating?.isNew === true;
  if (isToBeValidated) return { isNew, since: at };
  return isNew ? (state?.validating ?? null) : null;
}

/** When time alone changes something. */
export function connectionDueAt(connection: Connection): Instant | null {
  const due = [unusedRefreshAt(connection), validationDueAt(connection)].filter(
    (at) => at !== null,
  );
  return due.length === 0 ? null : Math.min(...due);
}

const tagKey = /^[a-zA-Z][a-zA-Z0-9_\-./]*$/;
const tagKeyCharsMax = 64;
const tagValueCharsMax = 255;

/**
 * Tags with lower-case keys (docs/reference/http.md#names-and-ids).
 * @throws GatewayError `invalid_body` naming each wrong tag
 */
export function normalizeTags(
  tags: Readonly<Record<string, string>>,
): Readonly<Record<string, string>> {
  const normal = new Map<string, string>();
  const issues = [];
  for (const [key, value] of Object.entries(tags)) {
    const problem = tagProblem(key, value, normal);
    if (problem !== null) issues.push({ code: 'custom', message: problem, path: ['tags', key] });
    normal.set(key.toLowerCase(), value);
  }
  if (normal.size > limits.connectionTagsMax) {
    const message = `A connection can have at most ${limits.connectionTagsMax} tags.`;
    issues.push({ code: 'too_big', message, path: ['tags'] });
  }
  if (issues.length > 0) throw new GatewayError('invalid_body', { errors: issues });
  return Object.fromEntries(normal);
}

function tagProblem(
  key: string,
  value: string,
  existing: ReadonlyMap<string, string>,
): string | null {
  const lower = key.toLowerCase();
  if (!tagKey.test(key) || key.length > tagKeyCharsMax) {
    return 'A tag starts with a letter and has up to 64 letters, digits, "_", "-", "." and "/".';
  }
  if (existing.has(lower)) return `The tag "${lower}" is given twice; case does not matter.`;
  if (value.length === 0 || value.length > tagValueCharsMax) {
    return `The value has 1 to ${tagValueCharsMax} characters.`;
  }
  if (lower === 'end_user_email' && !/^[^@\s]+@[^@\s]+$/.test(value)) {
    return 'end_user_email must be an e-mail address.';
  }
  return null;
}

/** The tags that describe an end user; tags that the caller sends lie over them. */
export function endUserTags(endUser: EndUser): Readonly<Record<string, string>> {
  const { id, email, displayName, organization } = endUser;
  const derived = {
    end_user_id: id,
    end_user_email: email,
    end_user_display_name: displayName,
    organization_id: organization?.id ?? null,
    organization_display_name: organization?.displayName ?? null,
  };
  const named = Object.entries(derived).filter((entry): entry is [string, string] => !!entry[1]);
  return { ...Object.fromEntries(named), ...endUser.tags };
}
