import type { ControlPlane } from '#control-plane/control-plane.ts';
import { runQueuePath } from '../../run-queues/ref.ts';
import type { RunQueue } from '../../run-queues/run-queue.ts';
import type { RunWait } from './presenter.ts';
import type { StepRow } from './queries.ts';

type QueuedStep = Pick<
  StepRow,
  'run_id' | 'action' | 'kind' | 'function' | 'integration' | 'connection_id'
>;

/** What the runs of one page wait for, in the view of this node. */
export class RunWaits {
  readonly #control: ControlPlane;
  readonly #environmentUid: string;
  /** Of the page: many of its runs may wait in the same queue. */
  readonly #queues = new Map<string, RunQueue | null>();

  constructor(control: ControlPlane, environmentUid: string) {
    this.#control = control;
    this.#environmentUid = environmentUid;
  }

  /** Null: the run with this last step waits for no other. */
  of({ run_id: runId, action, kind, function: name, ...step }: QueuedStep): RunWait | null {
    if (action !== 'queued') return null;
    const connection = [this.#environmentUid, step.integration, step.connection_id] as const;
    const path = runQueuePath(connection, { kind, name });
    const key = JSON.stringify(path);
    let queue = this.#queues.get(key);
    if (queue === undefined) {
      queue = this.#control.view.find(path);
      this.#queues.set(key, queue);
    }
    const index = queue?.waiting.indexOf(runId) ?? -1;
    return queue === null || index < 0
      ? null
      : { concurrency: queue.concurrency, position: index + 1 };
  }
}
