import { createDependents } from '#app/roles/dependents.ts';
import { systemClock } from '#kernel/time.ts';
import type { RecordWriter } from '#modules/records/write/writer.ts';
import type { ControlNode } from '../worlds/control.ts';

/** What later wings keep of connections, with a note of each stream whose records are erased, as `model/variant`. */
export function dependentsThatNote(node: ControlNode) {
  const closed: string[] = [];
  const close: RecordWriter['close'] = async ({ model, variant }) => {
    closed.push(`${model}/${variant}`);
    return { plain: 0, sealed: 0, pruned: 0 };
  };
  // No records are read, functions run or webhooks sent.
  const unused = {
    ...{ providers: null as never, http: null as never, logs: null as never },
    ...{ publisher: null as never, runs: null as never },
  };
  const clock = systemClock;
  const dependents = createDependents({
    ...{ ...node, ...unused, clock },
    records: { writer: { close } as RecordWriter },
  });
  return { closed, clock, ...unused, ...dependents };
}
