import { build } from 'esbuild';
import type { GuestRunOrder } from '#adapters/sandbox/guest-run.ts';
import type { GuestOrder } from '#adapters/sandbox/guest/runtime.ts';
import type {
  FunctionType,
  HostCalls,
  RunContext,
  RunLimits,
  RunRequest,
  RunResult,
  Sandbox,
} from '#ports/sandbox.ts';

const limits: RunLimits = {
  wallMs: 60_000,
  cpuMs: 30_000,
  graceMs: 200,
  heapMb: 256,
  outputBytes: 2 * 1024 ** 2,
  hostCalls: 100_000,
};

const context: RunContext = {
  connectionId: 'c-1',
  providerConfigKey: 'crm',
  provider: 'crm-provider',
  environmentName: 'dev',
  environmentId: 7,
  variant: 'base',
  lastSyncDate: null,
  models: ['Contact'],
  loggerLevel: 'debug',
  paginate: null,
  validation: 'off',
  inputValidation: 'off',
};

export interface GuestOptions {
  readonly type?: FunctionType;
  readonly host?: HostCalls;
  readonly input?: unknown;
  readonly limits?: Partial<RunLimits>;
  readonly context?: Partial<RunContext>;
  readonly signal?: AbortSignal;
  readonly entry?: RunRequest['entry'];
  /** Statements before the definition. */
  readonly head?: string;
}

/** A bundle whose `exec` has the body. */
export const bundleOf = (body: string, type: FunctionType = 'action', head = ''): string =>
  `${head}\nexports.default = { type: '${type}', exec: async (svc, input) => { ${body} } };`;

/** Runs a whole bundle. */
export function runBundle(sandbox: Sandbox, bundle: string, options: GuestOptions = {}) {
  const request: RunRequest = {
    bundle,
    fileName: 'crm/function.cjs',
    type: options.type ?? 'action',
    entry: options.entry ?? 'exec',
    input: options.input === undefined ? undefined : JSON.stringify(options.input),
    context: { ...context, ...options.context },
    limits: { ...limits, ...options.limits },
    signal: options.signal ?? new AbortController().signal,
  };
  return sandbox.run(request, options.host ?? {});
}

/** An action as a process of the sandbox is given it. */
export function guestOrder(bundle: string): GuestRunOrder {
  const fileName = 'crm/function.cjs';
  const of = { task: 'run', fileName, type: 'action', entry: 'exec', input: null } as const;
  const order: GuestOrder = { ...of, context };
  return { bundle, fileName, order: JSON.stringify(order), limits };
}

/** Runs the body of an `exec`. */
export function runGuest(
  sandbox: Sandbox,
  body: string,
  options: GuestOptions = {},
): Promise<RunResult> {
  return runBundle(sandbox, bundleOf(body, options.type, options.head), options);
}

/** What the body returned. @throws Error with the failure */
export async function outputOf(
  sandbox: Sandbox,
  body: string,
  options: GuestOptions = {},
): Promise<unknown> {
  const result = await runGuest(sandbox, body, options);
  if (result.status === 'error') throw new Error(JSON.stringify(result.error));
  return result.output === undefined ? undefined : JSON.parse(result.output);
}

/** A bundle as the compiler makes it. */
export async function bundleSource(source: string): Promise<string> {
  const built = await build({
    stdin: { contents: source, loader: 'ts' },
    bundle: true,
    write: false,
    format: 'cjs',
    platform: 'node',
    external: ['svc', 'zod', 'crypto', 'url'],
    logLevel: 'silent',
  });
  return built.outputFiles[0]!.text;
}

/** A host that answers with JSON and keeps what it was asked. */
export function recording(answers: Partial<Record<keyof HostCalls, unknown>>) {
  const asked: { method: string; args: unknown }[] = [];
  const host = Object.fromEntries(
    Object.entries(answers).map(([method, answer]) => [
      method,
      async (args: string) => {
        asked.push({ method, args: JSON.parse(args) as unknown });
        if (answer instanceof Error) throw answer;
        return JSON.stringify(answer);
      },
    ]),
  ) as HostCalls;
  return { host, asked };
}
