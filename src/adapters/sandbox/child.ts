import { outOfMemory, timedOut } from './failures.ts';
import { GuestRun } from './guest-run.ts';
import { openIsolate, takeSnapshot, type RunIsolate, type Snapshot } from './isolate.ts';
import type { ChildSettings, FromChild, ToChild } from './messages.ts';

/**
 * The process that holds the isolates of untrusted code: started without environment, write access or secrets, so
 * that an escape from an isolate gains nothing.
 */
const watchEveryMs = 25;
/** Between two measurements of the runs while the process is over its limit. */
const measureEveryMs = 250;
/** Of its limit, what a run may take before it is ended here: some of it is garbage that V8 has not collected yet. */
const heapShareMax = 1.25;

interface State {
  readonly snapshot: Snapshot;
  readonly settings: ChildSettings;
  readonly spares: RunIsolate[];
  readonly runs: Map<number, GuestRun>;
  watch: NodeJS.Timeout | null;
  /** By `performance.now()`. */
  measuredAt: number;
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
      watch: null,
      measuredAt: -Infinity,
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
      if (on.runs.size === 0 && on.watch !== null) {
        clearInterval(on.watch);
        on.watch = null;
      }
      send({ kind: 'ended', run, result });
    },
    unstoppable: () => send({ kind: 'exhausted' }),
  });
  on.runs.set(run, started);
  on.watch ??= setInterval(() => watch(on), watchEveryMs);
  // The run goes first: creating a spare takes 3 ms of this thread.
  setTimeout(() => refill(on), 10);
}

const open = ({ snapshot }: State, heapMb: number): RunIsolate =>
  openIsolate(snapshot, heapMb, () => send({ kind: 'exhausted' }));

function refill(on: State): void {
  if (on.spares.length < on.settings.spares) {
    on.spares.push(open(on, on.settings.heapMb));
  }
}

function watch(on: State): void {
  for (const run of on.runs.values()) {
    if (run.isLost) run.kill(outOfMemory);
    else if (run.cpuMs() > run.limits.cpuMs)
      run.kill(timedOut('The run exceeded its limit of processor time.'));
  }
  const residentMb = process.memoryUsage.rss() / 1024 ** 2;
  if (residentMb <= on.settings.residentMb) return;
  if (performance.now() - on.measuredAt < measureEveryMs) return;
  on.measuredAt = performance.now();
  send({ kind: 'exhausted' });
  for (const [id, run] of on.runs) void endIfTooLarge(id, run);
}

/**
 * Memory of the process may belong to a run that has ended, so that a run is ended only for its own. One that is busy
 * reports its memory once it rests; V8 ends it before if its heap is full.
 */
async function endIfTooLarge(id: number, run: GuestRun): Promise<void> {
  const bytes = await run.memory().catch(() => 0);
  if (bytes <= run.limits.heapMb * 1024 ** 2 * heapShareMax) return;
  send({ kind: 'suspect', run: id });
  run.kill(outOfMemory);
}
