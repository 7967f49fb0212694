import type { Json } from '../../../kernel/stable-json.ts';
import type { Connection } from '../../connections/connections/state.ts';
import type { ActionRun } from '../actions/state.ts';
import type { DeployedFunction } from '../functions/state.ts';
import type { DryRunOrder } from './dry-run.ts';

export interface ActionRequest {
  readonly environmentUid: string;
  readonly integrationKey: string;
  readonly connectionId: string;
  readonly name: string;
  readonly input: Json | undefined;
  readonly actor: string;
  /** How many actions called one another down to this one; 0 when absent. */
  readonly depth?: number;
  /**
   * UUID, of what may be asked for again: there is one run of this id, and its end is kept for as long as an Idempotency-Key.
   * A new run when absent.
   */
  readonly runId?: string;
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

/** A webhook of a provider, for one sync of the connection that it is about. */
export interface WebhookRequest {
  readonly connection: Connection;
  /** A sync. */
  readonly fn: DeployedFunction;
  /** Body of the delivery. */
  readonly payload: Json;
  readonly actor: string;
}

/** A function that is tried out, and what it is given. */
export interface DryRunRequest {
  readonly connection: Connection;
  readonly order: DryRunOrder;
  readonly actor: string;
  /** As of an action. */
  readonly runId?: string;
}

/** Starts runs and waits for their end. */
export interface RunsClient {
  /**
   * Runs an action and resolves with its output; of a run that was there before, with the output that is kept.
   * @throws GatewayError as docs/reference/functions.md#actions says; an ActionError is
   *   `action_script_failure` with the thrown payload in `details.payload`.
   */
  triggerAction(request: ActionRequest, signal: AbortSignal): Promise<Json | undefined>;
  /** Queues an asynchronous action, and resolves with the run's id once it is queued. */
  queueAction(request: ActionRequest, options: { readonly retries: number }): Promise<string>;
  /**
   * The output of a queued action.
   * @throws GatewayError `not_found` while it is not finished, or unknown; the error that it ended with
   */
  actionOutput(environmentUid: string, runId: string): Promise<Json | undefined>;
  /**
   * Runs a function of an event and resolves when it has ended well; that of a run that was there before counts.
   * @throws GatewayError why it did not: as `triggerAction`
   */
  runEvent(request: EventRequest, signal: AbortSignal): Promise<void>;
  /**
   * The same for a run that may have been begun, or ended, by another node: `runId` names it, and it is run once.
   * Resolves when it has ended, however it did.
   */
  runEventOnce(request: EventRequest, runId: string, signal: AbortSignal): Promise<void>;
  /** Queues what the sync does with the webhook, once for each `runId`. */
  queueWebhook(request: WebhookRequest, runId: string): Promise<void>;
  /** Queues a dry run, and resolves with its id. */
  queueDryRun(request: DryRunRequest): Promise<string>;
  /** What a dry run that has ended came to: `{output, result}`. @throws GatewayError the error that it ended with */
  dryRunOutput(run: ActionRun): Promise<Json | undefined>;
}
