import type { Executed } from '../../../control-plane/control-plane.ts';
import type { ErasedStream } from './events.ts';
import type { LifecycleEvent } from './lifecycle-event.ts';
import type { Connection } from './state.ts';

/** What later wings keep of connections: it ends with them. */
export interface ConnectionDependents {
  /** Notes what there is now, before the connection is marked as being deleted. */
  removalOf(connection: Connection): ConnectionRemoval;
}

export interface ConnectionRemoval {
  /** Commands for the owner of the connection that remove what this node knows of by now. */
  commands(): readonly Executed[];
  /** Destroys the records of the connection, those of streams that have come up since included. */
  eraseRecords(actor: string): Promise<readonly ErasedStream[]>;
}

/** Runs the functions that users have deployed for events of connections. */
export interface LifecycleFunctions {
  has(
    event: LifecycleEvent,
    connection: Pick<Connection, 'environmentUid' | 'integrationKey'>,
  ): boolean;
  /**
   * One after the other; the first failure ends it. With the same `workId` each is begun once.
   * @throws GatewayError what the function said; `run_interrupted`
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
