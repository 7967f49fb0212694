import type { Decider } from '#kernel/decider.ts';
import { GatewayError } from '#kernel/errors.ts';
import type { Sealed } from '#kernel/ids.ts';
import { limits } from '#kernel/limits.ts';
import { stableJson, type Json } from '#kernel/stable-json.ts';
import type { Instant, Micros } from '#kernel/time.ts';
import type { Retention } from './retention.ts';

/** How the connect page looks (`connectUISettings` of `GET /connect/session`). */
export type ConnectUi = {
  /** Colors of the main button, `#rrggbb`; the page makes text on and of them readable. */
  readonly primary: { readonly light: string; readonly dark: string };
  readonly defaultTheme: 'light' | 'dark' | 'system';
  readonly showWatermark: boolean;
  /** Image at the top of the page, a `data:` URL; absent: none. */
  readonly logo?: string;
  /** Texts in place of the page's own, by language and name; absent: none. */
  readonly texts?: Readonly<Record<string, Readonly<Record<string, string>>>>;
};

/**
 * Changes of records that readers may have seen and the log no longer has: those after the content that it was filled
 * with, and before the time of that.
 */
export type LostChanges = {
  /** By partition of the records topic at that time, the last modification time of the content. */
  readonly after: readonly Micros[];
  /** Later changes have later times. */
  readonly until: Micros;
};

/** Scope: `account`. Path: [uid]. Unique by name. Indexes: `id`, `name`. */
export interface Environment {
  readonly uid: string;
  /** Id shown by the API. */
  readonly id: number;
  readonly name: string;
  readonly isProduction: boolean;
  /** Sealed under the environment's key; plain text in states of earlier releases. */
  readonly webhookUrls: {
    readonly primary: Sealed<string> | null;
    readonly secondary: Sealed<string> | null;
  };
  readonly webhookFlags: {
    readonly onAuthCreation: boolean;
    readonly onAuthRefreshError: boolean;
    readonly onSyncError: boolean;
    readonly onSyncCompletionAlways: boolean;
    readonly onAsyncActionCompletion: boolean;
  };
  /** Waits before the second, third, … attempt of a webhook; absent: `limits.webhookRetryWaitsMs`. */
  readonly webhookRetryWaitsMs?: readonly number[];
  readonly payloadMode: 'plain' | 'sealed';
  /** Absent until set: the default applies. */
  readonly retention?: Retention;
  /** Handling of values that do not match the schemas of a function. Absent until set: `warn`. */
  readonly validation?: 'off' | 'warn' | 'error';
  /** The same of inputs, where `validation` is `warn`. Absent until set: each function as it was deployed. */
  readonly inputValidation?: 'warn' | 'error';
  /** Until then functions keep lines of every level. Absent or past: the level applies. */
  readonly allLogsUntil?: Instant;
  /** The same of single functions, by `functionLogKey`. */
  readonly functionLogsUntil?: Readonly<Record<string, Instant>>;
  /** Absent until set: the default look. */
  readonly connectUi?: ConnectUi;
  /** One for each time that the log was restored or imported. Absent: never. */
  readonly lostChanges?: readonly LostChanges[];
  readonly webhookSigningKey: Sealed<string>;
  /** Also signs until then, so that receivers can switch keys. */
  readonly previousSigningKey: { readonly key: Sealed<string>; readonly until: Instant } | null;
  /** The environment is being deleted. */
  readonly isDeleting: boolean;
  readonly createdAt: Instant;
  readonly updatedAt: Instant;
}

/** The fields that a caller can set. */
export type EnvironmentSettings = Pick<
  Environment,
  | 'name'
  | 'isProduction'
  | 'webhookUrls'
  | 'webhookFlags'
  | 'webhookRetryWaitsMs'
  | 'payloadMode'
  | 'retention'
  | 'validation'
  | 'inputValidation'
  | 'allLogsUntil'
  | 'functionLogsUntil'
  | 'connectUi'
>;

export type EnvironmentEvent =
  | { readonly type: 'EnvironmentCreated'; readonly environment: Environment }
  | {
      readonly type: 'EnvironmentChanged';
      readonly changes: Partial<EnvironmentSettings>;
      readonly at: Instant;
    }
  | {
      readonly type: 'SigningKeyRotated';
      readonly key: Sealed<string>;
      readonly previousUntil: Instant;
      readonly at: Instant;
    }
  | { readonly type: 'EnvironmentDeletionBegun'; readonly at: Instant }
  | { readonly type: 'EnvironmentDeleted' };

/** Facts that the owner adds: `at`, `numericId`, and whether another environment has the name. */
export type CreateEnvironment = {
  readonly type: 'Create';
  readonly uid: string;
  readonly webhookSigningKey: Sealed<string>;
  readonly at: Instant;
  readonly numericId: number;
  readonly isNameTaken: boolean;
} & Pick<EnvironmentSettings, 'name' | 'isProduction'> &
  Partial<EnvironmentSettings>;

export type EnvironmentCommand =
  | CreateEnvironment
  | {
      readonly type: 'Patch';
      readonly changes: Partial<EnvironmentSettings>;
      readonly at: Instant;
      readonly isNameTaken: boolean;
    }
  | {
      readonly type: 'KeepAllLogs';
      /** Keys of functions; null: all functions of the environment. */
      readonly functions: readonly string[] | null;
      /** 0 ends it. */
      readonly forMs: number;
      readonly at: Instant;
    }
  | { readonly type: 'RotateSigningKey'; readonly key: Sealed<string>; readonly at: Instant }
  | { readonly type: 'MarkDeleting'; readonly at: Instant }
  | { readonly type: 'Delete'; readonly at: Instant };

/** The environment named `prod` cannot be deleted and is always a production environment. */
export const productionName = 'prod';

const defaults = {
  webhookUrls: { primary: null, secondary: null },
  webhookFlags: {
    onAuthCreation: true,
    onAuthRefreshError: true,
    onSyncError: true,
    onSyncCompletionAlways: true,
    onAsyncActionCompletion: true,
  },
  payloadMode: 'plain',
} as const;

export const environment: Decider<Environment | null, EnvironmentCommand, EnvironmentEvent> = {
  initial: null,

  decide(command, state) {
    if (command.type === 'Create') return created(command, state);
    if (state === null) throw new GatewayError('unknown_environment');
    switch (command.type) {
      case 'Patch':
        return changed(command, state);
      case 'KeepAllLogs':
        return logsKept(command, state);
      case 'RotateSigningKey':
        return rotated(command, state);
      case 'MarkDeleting':
        if (state.name === productionName) throw new GatewayError('cannot_delete_prod_environment');
        return state.isDeleting ? [] : [{ type: 'EnvironmentDeletionBegun', at: command.at }];
      case 'Delete':
        return [{ type: 'EnvironmentDeleted' }];
    }
  },

  evolve(state, event) {
    if (event.type === 'EnvironmentCreated') return event.environment;
    if (state === null || event.type === 'EnvironmentDeleted') return null;
    switch (event.type) {
      case 'EnvironmentChanged':
        return { ...state, ...event.changes, updatedAt: event.at };
      case 'SigningKeyRotated': {
        const previousSigningKey = { key: state.webhookSigningKey, until: event.previousUntil };
        return {
          ...state,
          webhookSigningKey: event.key,
          previousSigningKey,
          updatedAt: event.at,
        };
      }
      case 'EnvironmentDeletionBegun':
        return { ...state, isDeleting: true, updatedAt: event.at };
    }
  },
};

function created(command: CreateEnvironment, state: Environment | null): EnvironmentEvent[] {
  const { uid, name, isProduction, webhookSigningKey, numericId, at } = command;
  if (state !== null || command.isNameTaken) throw nameTaken(name);
  refuseFalseProduction(name, isProduction);
  const environment: Environment = {
    uid,
    id: numericId,
    name,
    isProduction,
    webhookUrls: command.webhookUrls ?? defaults.webhookUrls,
    webhookFlags: command.webhookFlags ?? defaults.webhookFlags,
    payloadMode: command.payloadMode ?? defaults.payloadMode,
    webhookSigningKey,
    previousSigningKey: null,
    isDeleting: false,
    createdAt: at,
    updatedAt: at,
  };
  return [{ type: 'EnvironmentCreated', environment }];
}

function changed(
  command: Extract<EnvironmentCommand, { type: 'Patch' }>,
  state: Environment,
): EnvironmentEvent[] {
  if (state.isDeleting) throw new GatewayError('unknown_environment');
  const next = { ...state, ...command.changes };
  if (command.isNameTaken) throw nameTaken(next.name);
  refuseFalseProduction(next.name, next.isProduction);
  if (stableJson(next) === stableJson(state as unknown as Json)) return [];
  return [{ type: 'EnvironmentChanged', changes: command.changes, at: command.at }];
}

/** Names that have passed go with the next change. */
function logsKept(
  { functions, forMs, at }: Extract<EnvironmentCommand, { type: 'KeepAllLogs' }>,
  state: Environment,
): EnvironmentEvent[] {
  if (state.isDeleting) throw new GatewayError('unknown_environment');
  const until = at + forMs;
  if (functions === null) {
    return [{ type: 'EnvironmentChanged', changes: { allLogsUntil: until }, at }];
  }
  const named = functions.map((key) => [key, until] as const);
  const ends = new Map([...Object.entries(state.functionLogsUntil ?? {}), ...named]);
  const current = [...ends].filter(([, end]) => end > at);
  if (current.length > limits.allLogsFunctionsMax) {
    throw new GatewayError('resource_capped', {
      message: `At most ${limits.allLogsFunctionsMax} functions of an environment keep all log lines at a time.`,
    });
  }
  const changes = { functionLogsUntil: Object.fromEntries(current) };
  return [{ type: 'EnvironmentChanged', changes, at }];
}

function rotated(
  command: Extract<EnvironmentCommand, { type: 'RotateSigningKey' }>,
  state: Environment,
): EnvironmentEvent[] {
  const { key, at } = command;
  const isOldKeyAlive = state.previousSigningKey !== null && state.previousSigningKey.until > at;
  if (isOldKeyAlive) throw new GatewayError('multiple_webhook_signing_keys');
  return [{ type: 'SigningKeyRotated', key, previousUntil: at + limits.signingKeyOverlapMs, at }];
}

function refuseFalseProduction(name: string, isProduction: boolean): void {
  if (name === productionName && !isProduction) throw new GatewayError('invalid_is_prod_flag');
}

const nameTaken = (name: string): GatewayError =>
  new GatewayError('conflict', { message: `An environment named "${name}" already exists.` });
