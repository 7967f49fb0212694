import ivm from 'isolated-vm';
import type { DroppedLines } from '#ports/sandbox.ts';
import { droppedLines, droppedSlots } from './dropped-counts.ts';

/** Events of an isolate; set late, because isolates are created before the run exists. */
interface IsolateEvents {
  posted(kind: unknown, id: unknown, first: unknown, second: unknown): void;
  requested(method: unknown, args: unknown): string;
  /** V8 has lost control of the isolate: it is unusable. */
  lost(): void;
}

/** An isolate with the guest runtime, used for one run. */
export interface RunIsolate {
  readonly isolate: ivm.Isolate;
  readonly context: ivm.Context;
  readonly heapMb: number;
  /** Set once, by the run that uses the isolate. */
  events: IsolateEvents | null;
  /** Runs the bundle, a reference to a function, with the order's JSON text. */
  start(bundle: ivm.Reference, order: string): Promise<void>;
  /** Sends a response to the isolate and resolves when its code is idle again; rejects when it is stopped meanwhile. */
  settle(
    kind: 'done' | 'failed' | 'timer' | 'abort',
    id: number,
    json: string,
    body: string,
  ): Promise<void>;
  /** Lines of the log that its code dropped so far, also after the isolate was disposed of. */
  dropped(): DroppedLines | undefined;
  dispose(): void;
}

/** Heap snapshot with the runtime and zod: opening an isolate takes 3 ms instead of 15. */
export type Snapshot = ivm.ExternalCopy<ArrayBuffer>;

export function takeSnapshot(runtime: string): Snapshot {
  return ivm.Isolate.createSnapshot([{ code: runtime, filename: 'svc-runtime' }], warmUp);
}

/**
 * The callbacks and the runtime's return value stay in closures: guest code can reach neither them nor any object
 * of isolated-vm. `stuck`: V8 keeps the memory and the thread of the isolate, possibly after its disposal; the
 * process must end with its other runs.
 */
export function openIsolate(snapshot: Snapshot, heapMb: number, stuck: () => void): RunIsolate {
  const holder: { events: IsolateEvents | null } = { events: null };
  const isolate = new ivm.Isolate({
    memoryLimit: heapMb,
    snapshot,
    onCatastrophicError: () => {
      holder.events?.lost();
      stuck();
    },
  });
  const context = isolate.createContextSync();
  const post = new ivm.Callback(
    (kind: unknown, id: unknown, first: unknown, second: unknown) => {
      holder.events?.posted(kind, id, first, second);
    },
    { ignored: true },
  );
  const hostCall = new ivm.Callback((method: unknown, args: unknown) => {
    if (holder.events === null) throw new Error('The run has ended.');
    return holder.events.requested(method, args);
  });
  // Memory that stays when the isolate is stopped. Code of functions cannot reach it.
  const dropped = new Int32Array(
    new SharedArrayBuffer(droppedSlots * Int32Array.BYTES_PER_ELEMENT),
  );
  const hooks = context.evalClosureSync(
    'const start = globalThis.__svcStart; delete globalThis.__svcStart; return start($0, $1, $2);',
    [post, hostCall, new ivm.ExternalCopy(dropped.buffer).copyInto()],
    { result: { reference: true } },
  );
  const startHook = hooks.getSync('start', { reference: true });
  const settleHook = hooks.getSync('settle', { reference: true });

  return {
    isolate,
    context,
    heapMb,
    get events() {
      return holder.events;
    },
    set events(events) {
      holder.events = events;
    },
    async start(bundle, order) {
      await startHook.apply(undefined, [bundle.derefInto(), order]);
    },
    async settle(kind, id, json, body) {
      if (!isolate.isDisposed) await settleHook.apply(undefined, [kind, id, json, body]);
    },
    dropped: () => droppedLines(dropped),
    dispose() {
      holder.events = null;
      if (!isolate.isDisposed) isolate.dispose();
    },
  };
}

/**
 * Script that runs an action, a sync and a description in a discarded context. The isolate snapshot then contains
 * compiled code of the functions that nearly every run calls; a run that compiles them itself takes ten times as
 * long. Must not await anything that never resolves.
 */
const warmUp = `
  const { start, settle } = __svcStart(() => undefined, () => 'null', new ArrayBuffer(${droppedSlots * Int32Array.BYTES_PER_ELEMENT}));
  const order = (task, type, validation) => JSON.stringify({
    task, fileName: '', type, entry: 'exec', input: '{"id":"x","count":1}',
    context: { models: ['Item'], loggerLevel: 'warn', paginate: null, validation, inputValidation: validation, lastSyncDate: null },
  });
  const bundle = (type) => (exports, require) => {
    const { z } = require('zod');
    const Item = z.object({
      id: z.string(),
      name: z.string().min(1).optional(),
      mail: z.email().nullable().optional(),
      count: z.number().int(),
      isOn: z.boolean().default(true),
      kind: z.enum(['a', 'b']).optional(),
      tags: z.array(z.union([z.string(), z.literal(1), z.null()])).optional(),
      more: z.record(z.string(), z.unknown()).optional(),
      any: z.any().optional(),
    });
    const exec = async (svc, input) => {
      if (type === 'sync') await svc.batchSave([{ id: 1 }], 'Item');
      await svc.getCheckpoint();
      return Item.parse(input);
    };
    exports.default = {
      type, exec, models: { Item }, input: Item, output: z.object({ id: z.string(), none: z.void() }),
    };
  };
  for (const [task, type, validation] of [
    ['run', 'action', 'warn'], ['run', 'sync', 'warn'], ['run', 'action', 'off'], ['describe', 'action', 'off'],
  ]) start(bundle(type), order(task, type, validation));
  for (let id = 1; id < 8; id++) settle('done', id, 'null', '');
`;
