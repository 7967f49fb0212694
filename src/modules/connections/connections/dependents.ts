import type { CommandRequest } from '#control-plane/entity.ts';
import type { ErasedStream } from './events.ts';
import type { Connection } from './state.ts';

/** The events for which functions can be deployed (docs/reference/functions.md#on-event-functions). */
export type LifecycleEvent =
  | 'post-connection-creation'
  | 'validate-connection'
  | 'pre-connection-deletion';

/** The state of later wings in connections, deleted with them. */
export interface ConnectionDependents {
  /** Collects the existing state, before the connection is marked as being deleted. */
  removalOf(connection: Connection): ConnectionRemoval;
}

export interface ConnectionRemoval {
  /** Commands for the owner of the connection that delete the state in this node's view. */
  commands(): readonly CommandRequest[];
  /** Destroys the records of the connection, including streams that were created since. */
  eraseRecords(actor: string): Promise<readonly ErasedStream[]>;
}

/** Runs the deployed functions for events of connections. */
export interface LifecycleFunctions {
  has(
    event: LifecycleEvent,
    connection: Pick<Connection, 'environmentUid' | 'integrationKey'>,
  ): boolean;
  /**
   * Sequentially, until the first failure. With the same `workId` each is started once.
   * @throws GatewayError of the function; `run_interrupted`
   */
  run(
    event: LifecycleEvent,
    request: {
      readonly connection: Connection;
      readonly actor: string;
      readonly workId: string | undefined;
    },
  ): Promise<void>;
}
