import { outOfMemory, timedOut } from './failures.ts';
import { GuestRun } from './guest-run.ts';
import { openIsolate, takeSnapshot, type RunIsolate, type Snapshot } from './isolate.ts';
import type { ChildSettings, FromChild, ToChild } from './messages.ts';

/**
 * The process that holds the isolates of untrusted code: started without environment, write access or secrets, so
 * that an escape from an isolate gains nothing.
 */
const watchEveryMs = 25;
/** How long an isolate may take to report its size before it counts as busy. */
const memoryAnswerMs = 20;
/** Time for the memory of an ended run to be returned, before another one is ended for it. */
const memoryReturnsMs = 250;

interface State {
  readonly snapshot: Snapshot;
  readonly settings: ChildSettings;
  readonly spares: RunIsolate[];
  readonly runs: Map<number, GuestRun>;
  /** Processor time of each run at the last check, and the increase since the one before. */
  readonly processor: Map<number, { readonly totalMs: number; readonly recentMs: number }>;
  watch: NodeJS.Timeout | null;
  isHunting: boolean;
}
let state: State | null = null;

/** Without a supervisor there is no work; isolates may be busy, so that a graceful exit is impossible. */
process.on('disconnect', () => process.kill(process.pid, 'SIGKILL'));
// The supervisor handles a signal to the process group: it lets runs finish.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => undefined);
process.on('message', (message: ToChild) => receive(message));

function send(message: FromChild): void {
  if (process.connected) process.send?.(message);
}

function receive(message: ToChild): void {
  if (message.kind === 'init') {
    state = {
      snapshot: takeSnapshot(message.runtime),
      settings: message.settings,
      spares: [],
      runs: new Map(),
      processor: new Map(),
      watch: null,
      isHunting: false,
    };
    for (let count = 0; count < message.settings.spares; count++) refill(state);
    send({ kind: 'ready' });
    return;
  }
  if (state === null) return;
  if (message.kind === 'run') {
    begin(state, message);
    return;
  }
  const run = state.runs.get(message.run);
  if (message.kind === 'settle')
    run?.settle(message.id, message.isDone, message.json, message.body);
  else if (message.kind === 'abort') run?.abort(message.reason);
  else run?.kill(message.failure);
}

function begin(on: State, message: Extract<ToChild, { kind: 'run' }>): void {
  const { run, ...order } = message;
  const { heapMb } = order.limits;
  const spare = heapMb === on.settings.heapMb ? on.spares.pop() : undefined;
  const started = new GuestRun(spare ?? open(on, heapMb), order, {
    called: (id, method, args) => send({ kind: 'call', run, id, method, args }),
    ended: (result) => {
      on.runs.delete(run);
      on.processor.delete(run);
      if (on.runs.size === 0 && on.watch !== null) {
        clearInterval(on.watch);
        on.watch = null;
      }
      send({ kind: 'ended', run, result });
    },
    unstoppable: () => send({ kind: 'broken' }),
  });
  on.runs.set(run, started);
  on.watch ??= setInterval(() => watch(on), watchEveryMs);
  // The run goes first: creating a spare takes 3 ms of this thread.
  setTimeout(() => refill(on), 10);
}

const open = ({ snapshot }: State, heapMb: number): RunIsolate =>
  openIsolate(snapshot, heapMb, () => send({ kind: 'broken' }));

function refill(on: State): void {
  if (on.spares.length < on.settings.spares) {
    on.spares.push(open(on, on.settings.heapMb));
  }
}

function watch(on: State): void {
  for (const [id, run] of on.runs) {
    const totalMs = run.cpuMs();
    on.processor.set(id, { totalMs, recentMs: totalMs - (on.processor.get(id)?.totalMs ?? 0) });
    if (totalMs > run.limits.cpuMs)
      run.kill(timedOut('The run exceeded its limit of processor time.'));
  }
  const residentMb = process.memoryUsage.rss() / 1024 ** 2;
  if (residentMb > on.settings.residentMb && !on.isHunting) void hunt(on);
}

/**
 * V8's limit omits some memory: when the process exceeds its limit, the largest run is ended. An isolate too busy
 * to respond counts as the largest, the recently busiest one first.
 */
async function hunt(on: State): Promise<void> {
  on.isHunting = true;
  const sizes = await Promise.all(
    [...on.runs].map(async ([id, run]) => ({
      id,
      run,
      size: await sizeOf(run),
      recentMs: on.processor.get(id)?.recentMs ?? 0,
    })),
  );
  const [largest] = sizes.sort((a, b) =>
    a.size === b.size ? b.recentMs - a.recentMs : b.size - a.size,
  );
  if (largest !== undefined) {
    send({ kind: 'suspect', run: largest.id });
    largest.run.kill(outOfMemory);
  }
  setTimeout(() => {
    on.isHunting = false;
  }, memoryReturnsMs);
}

async function sizeOf(run: GuestRun): Promise<number> {
  const { promise: late, resolve } = Promise.withResolvers<number>();
  const timer = setTimeout(() => resolve(Infinity), memoryAnswerMs);
  try {
    return await Promise.race([run.memory().catch(() => 0), late]);
  } finally {
    clearTimeout(timer);
  }
}
