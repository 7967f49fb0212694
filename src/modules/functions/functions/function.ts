import type { Decider } from '#kernel/decider.ts';
import { GatewayError } from '#kernel/errors.ts';
import type { JsonObject } from '#kernel/stable-json.ts';
import type { Instant } from '#kernel/time.ts';
import type { ChangeDelivery, FunctionType } from '#ports/sandbox.ts';

export const functionKinds = ['sync', 'action', 'on-event', 'on-change'] as const;
export type FunctionKind = (typeof functionKinds)[number];

/** The `type` in the definition of a function of the kind. */
export const functionTypeOf = (kind: FunctionKind): FunctionType => functionTypes[kind];

const functionTypes = {
  sync: 'sync',
  action: 'action',
  'on-event': 'onEvent',
  'on-change': 'onChange',
} as const satisfies Record<FunctionKind, FunctionType>;

/** The subscription that holds the position of an on-change function; no other can have such a name. */
export const changeSubscriptionOf = ({
  integrationKey,
  name,
}: Pick<DeployedFunction, 'integrationKey' | 'name'>): string => `${integrationKey}:${name}`;

/** How webhooks of a connection are joined before they start a run. */
export interface Debounce {
  /** Without a further webhook. */
  readonly waitMs: number;
  /** From the first webhook on. */
  readonly maxWaitMs: number;
  /** What `onWebhook` gets: the body of the newest webhook, or a list of all bodies. */
  readonly payload: 'last' | 'all';
}

/** Scope = environment uid; path [environment uid, integration key, kind, name]. */
export interface DeployedFunction {
  readonly id: number;
  readonly environmentUid: string;
  readonly integrationKey: string;
  readonly kind: FunctionKind;
  readonly name: string;
  readonly description: string;
  readonly version: string;
  readonly isEnabled: boolean;
  /** CommonJS bundle that the sandbox evaluates. */
  readonly bundle: string;
  /** TypeScript of the entry file. */
  readonly source: string;
  /** SHA-256 of everything below and the bundle: unchanged = no-op on deploy. */
  readonly contentHash: string;
  readonly models: readonly string[];
  readonly jsonSchema: JsonObject;
  readonly inputModel: string | null;
  readonly scopes: readonly string[];
  readonly features: readonly string[];
  // syncs
  readonly frequency: string | null;
  readonly autoStart: boolean;
  readonly trackDeletes: boolean;
  /** Absent: deployed by release 0.70.0 or earlier. */
  readonly deletePasses?: DeletePasses;
  readonly syncType: 'full' | 'incremental';
  readonly webhookSubscriptions: readonly string[];
  // on-event
  readonly event: string | null;
  /** Of an on-change function. */
  readonly delivery?: ChangeDelivery;
  /** Deployed from source and not part of a project. Absent: part of a project. */
  readonly isStandalone?: true;
  /** Its input is refused where it does not fit. Absent: deployed before inputs were validated by default. */
  readonly isInputValidated?: true;
  /** The calls of its runs are recorded, so that they can be replayed. Kept over deployments. */
  readonly recordsCalls?: true;
  /** How many of its runs a connection has at the same time. Absent: no limit of its own. Kept over deployments. */
  readonly concurrency?: number;
  /** Of a sync. Absent: each webhook starts a run. Kept over deployments. */
  readonly debounce?: Debounce;
  readonly deployedAt: Instant;
}

/**
 * The delete passes that the code may start, by the methods that its bundle names: `run` one for each model in each run,
 * `model` those of the models that it names. A pass costs a command for each model and marks of what is saved unchanged.
 */
export type DeletePasses = 'none' | 'model' | 'run';

export function deletePassesIn(bundle: string): DeletePasses {
  if (bundle.includes('deleteRecordsFromPreviousExecutions')) return 'run';
  return bundle.includes('trackDeletes') ? 'model' : 'none';
}

export const deletePassesOf = ({
  deletePasses,
  bundle,
}: Pick<DeployedFunction, 'deletePasses' | 'bundle'>): DeletePasses =>
  deletePasses ?? deletePassesIn(bundle);

export type FunctionEvent =
  | { readonly type: 'FunctionDeployed'; readonly deployed: DeployedFunction }
  | { readonly type: 'FunctionEnabled' }
  | { readonly type: 'FunctionDisabled' }
  | { readonly type: 'FunctionRecordingSet'; readonly recordsCalls: boolean }
  /** Null: no limit. */
  | { readonly type: 'FunctionConcurrencySet'; readonly concurrency: number | null }
  /** Null: none. */
  | { readonly type: 'FunctionDebounceSet'; readonly debounce: Debounce | null }
  /** It continues under another integration key. */
  | { readonly type: 'FunctionMoved' }
  | { readonly type: 'FunctionDeleted' };

/** The part of a function that a deployment sets; the owner sets the rest. */
export type DeployedParts = Omit<
  DeployedFunction,
  'id' | 'isEnabled' | 'recordsCalls' | 'concurrency' | 'debounce' | 'deployedAt'
>;

/** A rename of the integration is `Leave` at the old path and `Arrive` at the new one, decided together. */
export type FunctionCommand =
  | {
      readonly type: 'Deploy';
      readonly parts: DeployedParts;
      readonly at: Instant;
      readonly numericId?: number;
      readonly isIntegrationKnown: boolean;
    }
  | { readonly type: 'Enable'; readonly at: Instant }
  | { readonly type: 'Disable'; readonly at: Instant }
  | { readonly type: 'SetRecording'; readonly recordsCalls: boolean; readonly at: Instant }
  | { readonly type: 'SetConcurrency'; readonly concurrency: number | null; readonly at: Instant }
  | { readonly type: 'SetDebounce'; readonly debounce: Debounce | null; readonly at: Instant }
  | { readonly type: 'Leave'; readonly at: Instant }
  | { readonly type: 'Arrive'; readonly deployed: DeployedFunction; readonly at: Instant }
  | { readonly type: 'Delete'; readonly at: Instant };

export const deployedFunction: Decider<DeployedFunction | null, FunctionCommand, FunctionEvent> = {
  initial: null,

  decide(command, state) {
    switch (command.type) {
      case 'Deploy':
        return deployed(command, state);
      case 'Arrive':
        if (state !== null) throw new GatewayError('conflict');
        return [{ type: 'FunctionDeployed', deployed: command.deployed }];
      case 'Enable':
        return known(state).isEnabled ? [] : [{ type: 'FunctionEnabled' }];
      case 'Disable':
        return known(state).isEnabled ? [{ type: 'FunctionDisabled' }] : [];
      case 'SetRecording': {
        const { recordsCalls } = command;
        const isSet = known(state).recordsCalls === true;
        return isSet === recordsCalls ? [] : [{ type: 'FunctionRecordingSet', recordsCalls }];
      }
      case 'SetConcurrency': {
        const { concurrency } = command;
        const before = known(state).concurrency ?? null;
        return before === concurrency ? [] : [{ type: 'FunctionConcurrencySet', concurrency }];
      }
      case 'SetDebounce': {
        const { debounce } = command;
        const isSame = areSame(known(state).debounce ?? null, debounce);
        return isSame ? [] : [{ type: 'FunctionDebounceSet', debounce }];
      }
      case 'Leave':
        return state === null ? [] : [{ type: 'FunctionMoved' }];
      case 'Delete':
        return state === null ? [] : [{ type: 'FunctionDeleted' }];
    }
  },

  evolve(state, event) {
    switch (event.type) {
      case 'FunctionDeployed':
        return event.deployed;
      case 'FunctionEnabled':
        return state === null ? null : { ...state, isEnabled: true };
      case 'FunctionDisabled':
        return state === null ? null : { ...state, isEnabled: false };
      case 'FunctionRecordingSet':
        return state === null ? null : withRecording(state, event.recordsCalls);
      case 'FunctionConcurrencySet':
        return state === null ? null : withConcurrency(state, event.concurrency);
      case 'FunctionDebounceSet':
        return state === null ? null : withDebounce(state, event.debounce);
      case 'FunctionMoved':
      case 'FunctionDeleted':
        return null;
    }
  },
};

function withRecording(state: DeployedFunction, recordsCalls: boolean): DeployedFunction {
  const { recordsCalls: _before, ...rest } = state;
  return recordsCalls ? { ...rest, recordsCalls } : rest;
}

function withConcurrency(state: DeployedFunction, concurrency: number | null): DeployedFunction {
  const { concurrency: _before, ...rest } = state;
  return concurrency === null ? rest : { ...rest, concurrency };
}

const areSame = (one: Debounce | null, other: Debounce | null): boolean =>
  one?.waitMs === other?.waitMs &&
  one?.maxWaitMs === other?.maxWaitMs &&
  one?.payload === other?.payload;

function withDebounce(state: DeployedFunction, debounce: Debounce | null): DeployedFunction {
  const { debounce: _before, ...rest } = state;
  return debounce === null ? rest : { ...rest, debounce };
}

/** The same content emits no event; other content keeps the number and what was set of the function. */
function deployed(
  command: Extract<FunctionCommand, { type: 'Deploy' }>,
  state: DeployedFunction | null,
): FunctionEvent[] {
  const { parts, at } = command;
  if (!command.isIntegrationKnown) {
    throw new GatewayError('integration_not_found', {
      message: `The integration "${parts.integrationKey}" of the function "${parts.name}" does not exist.`,
    });
  }
  if (state !== null && state.contentHash === parts.contentHash) return [];
  const id = state?.id ?? command.numericId ?? 0;
  const isEnabled = state?.isEnabled ?? true;
  const kept = {
    id,
    isEnabled,
    ...(state?.recordsCalls === true ? { recordsCalls: true as const } : {}),
    ...(state?.concurrency === undefined ? {} : { concurrency: state.concurrency }),
    ...(state?.debounce === undefined ? {} : { debounce: state.debounce }),
  };
  return [{ type: 'FunctionDeployed', deployed: { ...parts, ...kept, deployedAt: at } }];
}

function known(state: DeployedFunction | null): DeployedFunction {
  if (state === null)
    throw new GatewayError('not_found', { message: 'The function does not exist.' });
  return state;
}
