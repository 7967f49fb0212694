import { GatewayError } from '../../kernel/errors.ts';
import { limits as promised } from '../../kernel/limits.ts';
import type {
  FunctionDefinition,
  HostCalls,
  RunLimits,
  RunRequest,
  RunResult,
  Sandbox,
} from '../../ports/sandbox.ts';
import { SandboxChild } from './child-process.ts';
import { guestRuntime } from './guest-runtime.ts';
import type { GuestOrder } from './guest/runtime.ts';
import { z } from 'zod';
import { isJsonObject, type JsonObject } from '../../kernel/stable-json.ts';

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
  /** Resident memory of a process above which its largest run is ended, in MB. Default 1024. */
  readonly residentMb?: number;
  /** Resident memory at which the process is killed, in MB. Default 1536. */
  readonly residentMbMax?: number;
  /** Runs after which a process is replaced, against slow leaks. Default 5000. */
  readonly runsPerLife?: number;
}

const defaults = {
  runsPerChild: 8,
  childrenMax: 16,
  warmChildren: 1,
  isOnDemand: false,
  spares: 2,
  residentMb: 1024,
  residentMbMax: 1536,
  runsPerLife: 5000,
} as const satisfies Required<SandboxOptions>;

/** Consecutive processes that may fail to start before the sandbox reports it. */
const startsMax = 3;

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
export interface WarmableSandbox extends Sandbox {
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
    const { bundle, fileName, type, entry, input, context, limits, signal } = request;
    const order: GuestOrder = { task: 'run', fileName, type, entry, input: input ?? null, context };
    const child = await this.#place();
    return this.#runOn(
      child,
      { bundle, fileName, order: JSON.stringify(order), limits, signal },
      host,
    );
  }

  async describe(bundle: string, fileName: string): Promise<FunctionDefinition> {
    const order: GuestOrder = { task: 'describe', fileName };
    const child = await this.#place();
    const result = await this.#runOn(
      child,
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

  async #runOn(
    child: SandboxChild,
    order: Parameters<SandboxChild['run']>[0],
    host: HostCalls,
  ): Promise<RunResult> {
    const running = child.run(order, host);
    if (child.started >= this.#options.runsPerLife) child.retire();
    return running;
  }

  /** The least busy process with capacity, or a new one. */
  async #place(): Promise<SandboxChild> {
    this.#isUsed = true;
    for (let attempt = 0; attempt < startsMax; attempt++) {
      if (this.#isClosed) break;
      const child = this.#leastBusy() ?? this.#open();
      if (child === null) break;
      try {
        await child.ready;
      } catch {
        continue;
      }
      if (child.isOpen && child.size < this.#options.runsPerChild) return child;
    }
    throw new GatewayError('execution_environment_unavailable');
  }

  #leastBusy(): SandboxChild | null {
    let least: SandboxChild | null = null;
    for (const child of this.#children) {
      const hasRoom = child.isOpen && child.size < this.#options.runsPerChild;
      if (hasRoom && (least === null || child.size < least.size)) least = child;
    }
    return least;
  }

  #open(): SandboxChild | null {
    const { childrenMax, spares, residentMb, residentMbMax } = this.#options;
    if (this.#openChildren >= childrenMax) return null;
    const child = new SandboxChild({
      runtime: this.#runtime,
      settings: { spares, heapMb: promised.sandboxHeapMb, residentMb },
      residentMbMax,
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
    if (!this.#isUsed) return;
    while (!this.#isClosed && this.#openChildren < this.#options.warmChildren) this.#open();
  }

  /** Retired ones end by themselves. */
  get #openChildren(): number {
    return [...this.#children].filter(({ isOpen }) => isOpen).length;
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
  type: z.enum(['sync', 'action', 'onEvent']),
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
});
