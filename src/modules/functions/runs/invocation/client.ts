import type { Json } from '#kernel/stable-json.ts';
import type { Instant } from '#kernel/time.ts';
import type { Connection } from '#modules/connections/connections/state.ts';
import type { ActionRun } from '../../actions/state.ts';
import type { DeployedFunction } from '../../functions/function.ts';
import type { SyncCommandOptions, TriggerOptions } from '../../syncs/handlers.ts';
import type { SyncSelection } from '../../syncs/queries.ts';
import type { DryRunOrder } from '../runtime/dry-run-calls.ts';
import type { ReplayOrder } from '../runtime/replay-calls.ts';
import type { BodyOwner, SoughtCalls } from './payload-store.ts';
import type { RecordedAttempt } from './recordings.ts';

export interface ActionRequest {
  readonly environmentUid: string;
  readonly integrationKey: string;
  readonly connectionId: string;
  readonly name: string;
  readonly input: Json | undefined;
  readonly actor: string;
  /** Call depth of actions; 0 when absent. */
  readonly depth?: number;
  /**
   * UUID of a repeatable request: there is one run of this id, and its outcome is kept as long as an Idempotency-Key. A
   * new run when absent.
   */
  readonly runId?: string;
}

/** A run in the ledger. */
export interface RunRef {
  readonly environmentUid: string;
  readonly runId: string;
  /** ms. */
  readonly queuedAt: Instant;
}

/** An event of a connection that functions run on. */
export interface EventRequest {
  readonly connection: Connection;
  /** Deployed for the event. */
  readonly fn: DeployedFunction;
  readonly event: string;
  readonly actor: string;
  /** As of an action. */
  readonly runId?: string | undefined;
}

/** A webhook of a provider, for one sync of its connection. */
export interface WebhookRequest {
  readonly connection: Connection;
  /** A sync. */
  readonly fn: DeployedFunction;
  /** Body of the delivery. */
  readonly payload: Json;
  readonly actor: string;
}

/** Changes of records of a connection, for an on-change function. */
export interface ChangesRequest {
  readonly connection: Connection;
  readonly fn: DeployedFunction;
  /** JSON of each, in order. */
  readonly changes: readonly string[];
  readonly actor: string;
}

/** A function for a dry run, and its input. */
export interface DryRunRequest {
  readonly connection: Connection;
  readonly order: DryRunOrder | ReplayOrder;
  readonly actor: string;
  /** As of an action. */
  readonly runId?: string;
}

/** Starts runs and waits for their outcome. */
export interface RunsClient {
  /**
   * Runs an action and resolves with its output, or with the stored output of an existing run.
   * @throws GatewayError as docs/reference/functions.md#actions says; an ActionError is `action_script_failure` with
   *   the thrown payload in `details.payload`.
   */
  triggerAction(request: ActionRequest, signal: AbortSignal): Promise<Json | undefined>;
  /**
   * Starts a run of every selected sync that has none, or queues it; with a reset also of those that have one.
   * @throws GatewayError `unknown_provider_config` (400), `unknown_connection` (404), `no_syncs_found`
   */
  triggerSyncs(
    wanted: SyncSelection,
    how: TriggerOptions,
    options?: SyncCommandOptions,
  ): Promise<void>;
  /** Queues an asynchronous action, and resolves with the run's id once it is queued. */
  queueAction(request: ActionRequest, options: { readonly retries: number }): Promise<string>;
  /**
   * The output of a queued action.
   * @throws GatewayError `not_found` while it is not finished, or unknown; the error of the run
   */
  actionOutput(environmentUid: string, runId: string): Promise<Json | undefined>;
  /**
   * The input of an action's run, for the retention of bodies (7 days).
   * @returns undefined: none was sent, or it is not stored (any more)
   * @throws GatewayError `log_unavailable`
   */
  actionInput(ref: RunRef): Promise<Json | undefined>;
  /** A text that the ledger holds sealed; null: the connection's key was destroyed. */
  openText(owner: BodyOwner, sealed: string): Promise<string | null>;
  /**
   * Runs an on-event function and resolves when it has succeeded; an existing run counts.
   * @throws GatewayError of the run, as `triggerAction`
   */
  runEvent(request: EventRequest, signal: AbortSignal): Promise<void>;
  /**
   * The same for a run that another node may have started or finished: `runId` identifies it, and it runs once.
   * Resolves when it has finished, with any outcome.
   */
  runEventOnce(request: EventRequest, runId: string, signal: AbortSignal): Promise<void>;
  /**
   * Queues what the sync does with the webhook, once for each `runId`, or joins it to other webhooks. Resolves with the id
   * of the run.
   */
  queueWebhook(request: WebhookRequest, runId: string): Promise<string>;
  /**
   * Runs an on-change function, once for each `runId`, and resolves with the run that has ended, in any way.
   * @throws the signal's reason
   */
  runChanges(request: ChangesRequest, runId: string, signal: AbortSignal): Promise<ActionRun>;
  /**
   * The recorded attempt of a run that a replay runs on.
   * @throws GatewayError `not_found`, `conflict`, `log_unavailable`
   */
  recordedRun(sought: SoughtCalls): Promise<RecordedAttempt>;
  /** Queues a dry run or a replay, and resolves with its id. */
  queueDryRun(request: DryRunRequest): Promise<string>;
  /**
   * The result of a finished dry run: `{output, result}`.
   * @throws GatewayError the error of the run
   */
  dryRunOutput(run: ActionRun): Promise<Json | undefined>;
}
