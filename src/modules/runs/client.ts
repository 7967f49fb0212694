import type { Json } from '../../kernel/stable-json.ts';

export interface ActionRequest {
  readonly environmentUid: string;
  readonly integrationKey: string;
  readonly connectionId: string;
  readonly name: string;
  readonly input: Json | undefined;
  readonly actor: string;
}

/** Starts runs and waits for their end. */
export interface RunsClient {
  /**
   * Runs an action and resolves with its output.
   * @throws GatewayError as contract/functions.md section 15 and design section 10 say; an ActionError is
   *   `action_script_failure` with the thrown payload in `details.payload`.
   */
  triggerAction(request: ActionRequest, signal: AbortSignal): Promise<Json | undefined>;
}
