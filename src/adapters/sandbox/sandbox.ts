import { readFile } from 'node:fs/promises';
import { z } from 'zod';
import { GatewayError } from '#kernel/errors.ts';
import { limits as promised } from '#kernel/limits.ts';
import { isJsonObject, type JsonObject } from '#kernel/stable-json.ts';
import type {
  ChangeMapper,
  FunctionDefinition,
  HostCalls,
  MapRequest,
  RunLimits,
  RunRequest,
  RunResult,
  Sandbox,
} from '#ports/sandbox.ts';
import { withoutSourceMap } from '#rules/inline-source-map.ts';
import { SandboxChild } from './child-process.ts';
import type { GuestOrder } from './guest/runtime.ts';
import { mappingContext, mappingDriver } from './mapping-driver.ts';

export interface SandboxOptions {
  /** Concurrent runs in one process; a crash interrupts all of them. Default 8. */
  readonly runsPerChild?: number;
  /** Default 16. */
  readonly childrenMax?: number;
  /** Processes kept ready. Default 1. */
  readonly warmChildren?: number;
  /** The first process starts with the first run: 80 MB and half a second of processor time less. Default false. */
  readonly isOnDemand?: boolean;
  /** Isolates created in advance in each process, 3 MB each. Default 2. */
  readonly spares?: number;
  /** Resident memory above which a process takes no more runs and is replaced, in MB. Default 1024. */
  readonly residentMb?: number;
  /** Resident memory at which the process is killed, in MB: all its runs with their whole memory are less. Default 2560. */
  readonly residentMbMax?: number;
  /** Runs after which a process is replaced, against slow leaks. Default 5000. */
  readonly runsPerLife?: number;
  /** How long a process has had no run when its memory is returned. Default 30 s. */
  readonly idleMs?: number;
  /** Growth since its start with which an idle process is replaced by a fresh one, in MB. Default 32. */
  readonly grownMbMax?: number;
}

const defaults = {
  runsPerChild: 8,
  childrenMax: 16,
  warmChildren: 1,
  isOnDemand: false,
  spares: 2,
  residentMb: 1024,
  residentMbMax: 2560,
  runsPerLife: 5000,
  idleMs: 30_000,
  grownMbMax: 32,
} as const satisfies Required<SandboxOptions>;

/** Consecutive processes that may fail to start before the sandbox reports it. */
const startsMax = 3;

/**
 * Syncs are background runs and have processes of their own at a lower priority, so that many of them
 * delay no action. Only a few run beside actions, so that a small installation needs one process.
 */
const backgroundBesideActions = 2;

/** Loading a bundle is short; anything that its top level starts ends with it. */
const describeLimits: RunLimits = {
  wallMs: 10_000,
  cpuMs: 10_000,
  graceMs: 0,
  heapMb: promised.sandboxHeapMb,
  outputBytes: 4 * 1024 ** 2,
  hostCalls: 100,
};

/** A sandbox whose processes can be started ahead of the first run. */
export interface WarmableSandbox extends Sandbox, ChangeMapper {
  /** Starts what a run needs, in the background; the run reports a failure. */
  warm(): void;
}

/** Starts the first process, unless it is on demand. The children end with this process, however it ends. */
export async function openSandbox(options: SandboxOptions = {}): Promise<WarmableSandbox> {
  const sandbox = new ProcessSandbox({ ...defaults, ...options }, await guestRuntime());
  if (options.isOnDemand === true) return sandbox;
  sandbox.warm();
  await sandbox.ready();
  return sandbox;
}

interface ProcessSlot {
  readonly child: SandboxChild;
  readonly leave: () => void;
}

class ProcessSandbox implements WarmableSandbox {
  readonly #options: Required<SandboxOptions>;
  readonly #runtime: string;
  readonly #children = new Set<SandboxChild>();
  #isUsed = false;
  #isClosed = false;

  constructor(options: Required<SandboxOptions>, runtime: string) {
    this.#options = options;
    this.#runtime = runtime;
  }

  warm(): void {
    this.#isUsed = true;
    this.#refill();
  }

  async ready(): Promise<void> {
    await Promise.all([...this.#children].map((child) => child.ready));
  }

  async run(request: RunRequest, host: HostCalls): Promise<RunResult> {
    const { fileName, type, entry, input, context, limits, signal } = request;
    const bundle = withoutSourceMap(request.bundle);
    const order: GuestOrder = { task: 'run', fileName, type, entry, input: input ?? null, context };
    return this.#runIn(
      type === 'sync',
      { bundle, fileName, order: JSON.stringify(order), limits, signal },
      host,
    );
  }

  async map(request: MapRequest): Promise<RunResult> {
    const { fileName, changes, limits, signal } = request;
    const bundle = withoutSourceMap(request.bundle);
    const order: GuestOrder = {
      task: 'run',
      fileName,
      type: 'action',
      entry: 'exec',
      // As a text: its numbers are read as JSON has them.
      input: JSON.stringify(changes),
      context: mappingContext,
    };
    const result = await this.#runIn(
      false,
      {
        bundle: `${bundle}\n${mappingDriver}`,
        fileName,
        order: JSON.stringify(order),
        limits,
        signal,
      },
      {},
    );
    if (result.status === 'error' || result.output === undefined) return result;
    return { ...result, output: String(JSON.parse(result.output)) };
  }

  async describe(bundle: string, fileName: string): Promise<FunctionDefinition> {
    const order: GuestOrder = { task: 'describe', fileName };
    const result = await this.#runIn(
      false,
      {
        bundle,
        fileName,
        order: JSON.stringify(order),
        limits: describeLimits,
        signal: new AbortController().signal,
      },
      {},
    );
    if (result.status === 'error') {
      const { message } = result.error;
      throw new GatewayError('compilation_error', { message });
    }
    return definitionOf(result.output ?? 'null');
  }

  async #runIn(
    isBackground: boolean,
    order: Parameters<SandboxChild['run']>[0],
    host: HostCalls,
  ): Promise<RunResult> {
    const { child, leave } = await this.#enter(isBackground);
    try {
      const running = child.run(order, host);
      if (child.started >= this.#options.runsPerLife) child.retire();
      return await running;
    } finally {
      leave();
    }
  }

  /** A place in a process that is ready. It is taken before the process is, so that runs that wait for it fit in it. */
  async #enter(isBackground: boolean): Promise<ProcessSlot> {
    this.#isUsed = true;
    for (let attempt = 0; attempt < startsMax; attempt++) {
      if (this.#isClosed) break;
      this.#refill();
      const child = isBackground ? this.#backgroundPlace() : this.#actionPlace();
      if (child === null) break;
      const leave = child.enter(isBackground);
      try {
        await child.ready;
        if (child.isOpen) return { child, leave };
      } catch {
        // The next attempt starts another one.
      }
      leave();
    }
    throw new GatewayError('execution_environment_unavailable');
  }

  #actionPlace(): SandboxChild | null {
    const { runsPerChild } = this.#options;
    return (
      this.#leastBusy(({ isBackground, size }) => !isBackground && size < runsPerChild) ??
      this.#open(false) ??
      this.#leastBusy(({ size }) => size < runsPerChild)
    );
  }

  /** Half of the processes are left to actions. With one process in all, a few of its places are. */
  #backgroundPlace(): SandboxChild | null {
    const { runsPerChild, childrenMax } = this.#options;
    const few = Math.min(backgroundBesideActions, runsPerChild - 1);
    const opened = this.#openChildren.filter(({ isBackground }) => isBackground).length;
    return (
      this.#leastBusy(({ isBackground, size }) => isBackground && size < runsPerChild) ??
      this.#leastBusy(({ size, background }) => size < runsPerChild && background < few) ??
      (opened < childrenMax / 2 ? this.#open(true) : null) ??
      this.#leastBusy(({ size }) => size < runsPerChild - few)
    );
  }

  #leastBusy(hasRoom: (child: SandboxChild) => boolean): SandboxChild | null {
    const all = this.#openChildren.filter(hasRoom);
    return all.sort((a, b) => a.size - b.size)[0] ?? null;
  }

  #open(isBackground: boolean): SandboxChild | null {
    const { childrenMax, spares, residentMb, residentMbMax, idleMs, grownMbMax } = this.#options;
    if (this.#openChildren.length >= childrenMax) return null;
    const child = new SandboxChild({
      runtime: this.#runtime,
      settings: { spares, heapMb: promised.sandboxHeapMb, residentMb },
      residentMbMax,
      isBackground,
      idleMs,
      onIdle: (idle) => {
        if (this.#isSurplus(idle) || idle.grownMb > grownMbMax) idle.retire();
      },
      onRetired: () => this.#refill(),
      onExit: (gone) => {
        this.#children.delete(gone);
        // A process that never became ready is replaced on demand, to avoid a loop of failing starts.
        if (gone.started > 0) this.#refill();
      },
    });
    this.#children.add(child);
    return child;
  }

  #refill(): void {
    if (!this.#isUsed || this.#isClosed) return;
    for (let more = this.#options.warmChildren - this.#warm; more > 0; more--) this.#open(false);
  }

  get #warm(): number {
    return this.#openChildren.filter(({ isBackground }) => !isBackground).length;
  }

  #isSurplus({ isBackground }: SandboxChild): boolean {
    return isBackground || this.#warm > this.#options.warmChildren;
  }

  /** Retired ones end by themselves. */
  get #openChildren(): SandboxChild[] {
    return [...this.#children].filter(({ isOpen }) => isOpen);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosed = true;
    await Promise.all([...this.#children].map((child) => child[Symbol.asyncDispose]()));
  }
}

/** Validated like any input: the bundle may manipulate its isolate's report. */
function definitionOf(text: string): FunctionDefinition {
  try {
    return definitionSchema.parse(JSON.parse(text));
  } catch (cause) {
    const message = 'The definition of the function cannot be read.';
    throw new GatewayError('compilation_error', { message }, { cause });
  }
}

/** Unchanged: zod would drop a key `__proto__`. */
const jsonObject = z.custom<JsonObject>(isJsonObject, 'Not an object.');
const schemaOrNone = jsonObject.nullable();

const modelSchemas = z.custom<Readonly<Record<string, JsonObject>>>(
  (value) => isJsonObject(value) && Object.values(value).every(isJsonObject),
  'Not a map of schemas.',
);

/** An isolate's report of a definition; validated, because a bundle may manipulate it. */
export const definitionSchema = z.object({
  type: z.enum(['sync', 'action', 'onEvent', 'onChange', 'projection']),
  description: z.string(),
  version: z.string(),
  scopes: z.array(z.string()),
  metadata: schemaOrNone,
  checkpoint: schemaOrNone,
  hasExec: z.boolean(),
  frequency: z.string().nullable(),
  models: modelSchemas,
  autoStart: z.boolean(),
  syncType: z.enum(['full', 'incremental']),
  trackDeletes: z.boolean(),
  webhookSubscriptions: z.array(z.string()),
  hasOnWebhook: z.boolean(),
  endpoints: z.array(jsonObject),
  input: schemaOrNone,
  output: schemaOrNone,
  endpoint: schemaOrNone,
  event: z.string().nullable(),
  delivery: z
    .object({
      from: z.enum(['start', 'end']).default('end'),
      batchSize: z.int().min(1).max(promised.changeBatchMax).default(100),
      retries: z.int().min(0).max(promised.changeRetriesMax).default(4),
    })
    .exactOptional(),
  projection: z
    .object({
      from: z.object({
        models: z.array(z.string()).default([]),
        integrations: z.array(z.string()).nullable().default(null),
      }),
      row: jsonObject,
      key: z.array(z.string()).default([]),
      hasMap: z.boolean(),
    })
    .transform(({ from, ...others }) => ({ ...from, ...others }))
    .exactOptional(),
});

const isBuilt = import.meta.url.endsWith('.js');

let loaded: Promise<string> | null = null;

/** The script of an isolate: the guest runtime and zod. A build contains it; the sources are bundled once per process. */
export function guestRuntime(): Promise<string> {
  loaded ??= load();
  return loaded;
}

async function load(): Promise<string> {
  if (isBuilt) return readFile(new URL('./guest/runtime.js', import.meta.url), 'utf8');
  const { bundleGuestRuntime } = await import('./bundle-guest.ts');
  return bundleGuestRuntime();
}
