import ivm from 'isolated-vm';
import { warmUp } from './warm-up.ts';

/** What happens in an isolate; late-bound, because isolates are made before there is a run. */
export interface IsolateEvents {
  posted(kind: unknown, id: unknown, first: unknown, second: unknown): void;
  requested(method: unknown, args: unknown): string;
  /** V8 has lost control over the isolate: it cannot be used any more. */
  lost(): void;
}

/** An isolate of its own with the guest runtime in it, used for one run. */
export interface RunIsolate {
  readonly isolate: ivm.Isolate;
  readonly context: ivm.Context;
  readonly heapMb: number;
  /** Set once, by the run that takes the isolate. */
  events: IsolateEvents | null;
  /** Runs the bundle, a reference to a function, with the order's JSON text. */
  start(bundle: ivm.Reference, order: string): Promise<void>;
  /** Gives the isolate an answer and resolves when its code rests again; rejects when it is stopped meanwhile. */
  settle(
    kind: 'done' | 'failed' | 'timer' | 'abort',
    id: number,
    json: string,
    body: string,
  ): Promise<void>;
  dispose(): void;
}

/** Heap of an isolate with the runtime and zod in it: opening one takes 3 ms instead of 15. */
export type Snapshot = ivm.ExternalCopy<ArrayBuffer>;

export function takeSnapshot(runtime: string): Snapshot {
  return ivm.Isolate.createSnapshot([{ code: runtime, filename: 'svc-runtime' }], warmUp);
}

/**
 * The callbacks and what the runtime returns stay in closures: guest code can reach neither them nor
 * any object of isolated-vm. `broken`: V8 keeps the memory and the thread of the isolate, which may have been
 * disposed of before; the process must end with its other runs.
 */
export function openIsolate(snapshot: Snapshot, heapMb: number, broken: () => void): RunIsolate {
  const holder: { events: IsolateEvents | null } = { events: null };
  const isolate = new ivm.Isolate({
    memoryLimit: heapMb,
    snapshot,
    onCatastrophicError: () => {
      holder.events?.lost();
      broken();
    },
  });
  const context = isolate.createContextSync();
  const post = new ivm.Callback(
    (kind: unknown, id: unknown, first: unknown, second: unknown) => {
      holder.events?.posted(kind, id, first, second);
    },
    { ignored: true },
  );
  const request = new ivm.Callback((method: unknown, args: unknown) => {
    if (holder.events === null) throw new Error('The run has ended.');
    return holder.events.requested(method, args);
  });
  const hooks = context.evalClosureSync(
    'const start = globalThis.__svcStart; delete globalThis.__svcStart; return start($0, $1);',
    [post, request],
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
    dispose() {
      holder.events = null;
      if (!isolate.isDisposed) isolate.dispose();
    },
  };
}
