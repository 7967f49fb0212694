import type { Json } from '../../kernel/stable-json.ts';

export interface ActionRequest {
  readonly environmentUid: string;
  readonly integrationKey: string;
  readonly connectionId: string;
  readonly name: string;
  readonly input: Json | undefined;
  readonly actor: string;
  /** How many actions called one another down to this one; 0 when absent. */
  readonly depth?: number;
}

/** Starts runs and waits for their end. */
export interface RunsClient {
  /**
   * Runs an action and resolves with its output.
   * @throws GatewayError as contract/functions.md section 15 and design section 10 say; an ActionError is
   *   `action_script_failure` with the thrown payload in `details.payload`.
   */
  triggerAction(request: ActionRequest, signal: AbortSignal): Promise<Json | undefined>;
  /** Queues an action nobody waits for, and resolves with the run's id once it is queued. */
  queueAction(request: ActionRequest, options: { readonly retries: number }): Promise<string>;
  /**
   * The output of a queued action.
   * @throws GatewayError `not_found` while it is not finished, or unknown; the error that it ended with
   */
  actionOutput(environmentUid: string, runId: string): Promise<Json | undefined>;
}
