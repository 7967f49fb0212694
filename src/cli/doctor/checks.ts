import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ApiError, type Client, type Projection } from '#client/index.ts';
import { objectOf } from '#kernel/stable-json.ts';
import { systemClock } from '#kernel/time.ts';
import { CompileError } from '../compiler/problem.ts';
import type { Context } from '../context.ts';
import { missingDependencies } from '../dependencies.ts';

/** The result of one check. */
export interface Finding {
  readonly what: string;
  readonly state: 'ok' | 'warn' | 'fail';
  readonly reported: string;
  /** The fix; absent when all is well. */
  readonly mend?: string;
}

/** Oldest Node that the launcher starts under, and the one that the program needs. */
const nodeMajorMin = 24;
const skewWarnMs = 5_000;
const skewFailMs = 60_000;

const ok = (what: string, report: string): Finding => ({ what, state: 'ok', reported: report });

export function nodeFinding(): Finding {
  const major = Number(process.versions.node.split('.')[0]);
  if (major >= nodeMajorMin) return ok('node', process.versions.node);
  const mend = 'install the dependencies of svc again: they bring Node 24';
  return { what: 'node', state: 'fail', reported: process.versions.node, mend };
}

/** Checks of the folder that need no compilation. */
export async function projectFindings({ root, own }: Context): Promise<Finding[]> {
  const what = 'project';
  if (!existsSync(join(root, '.svc'))) {
    const mend = 'go to a project, or create one with svc init';
    return [{ what, state: 'warn', reported: `${root} is not a project of svc`, mend }];
  }
  const missing = missingDependencies(root, own);
  return [
    await entriesFinding(root),
    missing === ''
      ? ok('dependencies', 'svc and zod are those of this program')
      : {
          what: 'dependencies',
          state: 'warn',
          reported: `package.json should have ${missing}`,
          mend: 'run svc compile outside of CI: it writes and installs them',
        },
  ];
}

async function entriesFinding(root: string): Promise<Finding> {
  const what = 'functions';
  const { readEntries } = await import('../compiler/entries.ts');
  try {
    const entries = readEntries(root);
    const isCompiled = existsSync(join(root, '.svc', 'svc.json'));
    const report = `index.ts names ${entries.length}`;
    if (isCompiled) return ok(what, report);
    return {
      what,
      state: 'warn',
      reported: `${report}, none compiled yet`,
      mend: 'run svc compile',
    };
  } catch (error) {
    if (!(error instanceof CompileError)) throw error;
    const [problem] = error.problems;
    return {
      what,
      state: 'fail',
      reported: problem?.message ?? error.message,
      mend: 'fix index.ts',
    };
  }
}

/** Whether the service responds, is ready, and has the same time. */
export async function serviceFindings(client: Client, host: string): Promise<Finding[]> {
  const started = systemClock.now();
  let health: Response;
  try {
    health = await client.fetch('/health');
  } catch (error) {
    if (!(error instanceof ApiError)) throw error;
    const mend = 'start it with npm start, or set SVC_HOSTPORT to its address';
    return [{ what: 'service', state: 'fail', reported: error.message, mend }];
  }
  const took = systemClock.now() - started;
  if (health.status !== 200) {
    const mend = 'set SVC_HOSTPORT to the address of svc';
    return [
      { what: 'service', state: 'fail', reported: `${host} answered ${health.status}`, mend },
    ];
  }
  return [
    ok('service', `${host} answered in ${took} ms`),
    await readyFinding(client),
    skewFinding(health.headers.get('date'), started + took / 2),
  ];
}

async function readyFinding(client: Client): Promise<Finding> {
  const response = await client.fetch('/ready');
  if (response.status === 200) return ok('ready', 'ready');
  const { reasons } = objectOf(await response.json().catch(() => null));
  const report = Array.isArray(reasons)
    ? reasons.map(String).join('; ')
    : `answered ${response.status}`;
  return {
    what: 'ready',
    state: 'fail',
    reported: report,
    mend: 'read the log of the service for the cause',
  };
}

function skewFinding(date: string | null, now: number): Finding {
  const what = 'clock';
  const there = date === null ? Number.NaN : Date.parse(date);
  if (Number.isNaN(there))
    return {
      what,
      state: 'warn',
      reported: 'the response has no Date header',
      mend: 'check the proxy in front of it',
    };
  // The header has whole seconds.
  const skewMs = Math.max(0, Math.abs(there + 500 - now) - 500);
  const report = `${(skewMs / 1000).toFixed(1)} s apart`;
  if (skewMs < skewWarnMs) return ok(what, report);
  const mend = 'set the clocks of both machines by NTP';
  return { what, state: skewMs < skewFailMs ? 'warn' : 'fail', reported: report, mend };
}

/** Whether the key of an environment is accepted, by a request that most keys may send. */
export async function keyFinding(
  context: Context,
  environment: string,
  open: (key: string) => Client,
): Promise<Finding> {
  const what = `key of ${environment}`;
  const key = context.environment.secretKey(environment);
  const variable = context.environment.secretKeyVariable(environment);
  if (key === null) {
    return { what, state: 'warn', reported: 'none is set', mend: `set ${variable} in .env` };
  }
  const { status } = await open(key).fetch('/integrations');
  if (status === 200) return ok(what, 'accepted');
  if (status === 403) return ok(what, 'accepted; it may not list integrations');
  const mend = `create a new key in the environment ${environment} and set ${variable}`;
  return { what, state: 'fail', reported: `the service answered ${status}`, mend };
}

/** Visible to operators only: lagging tables, dead letters. */
export async function operatorFindings(client: Client): Promise<Finding[]> {
  try {
    const { data: projections } = await client.request('GET /projections');
    const query = { state: 'parked', limit: 1 } as const;
    const { data: parked } = await client.request('GET /dead-letters', { query });
    return [
      ok('account key', 'accepted'),
      ...projections.map(projectionFinding),
      deadLettersFinding(parked.length),
    ];
  } catch (error) {
    if (!(error instanceof ApiError) || error.status === null) throw error;
    const reported = `the service answered ${error.status}`;
    const mend = 'set SVC_ACCOUNT_KEY to a key of the account';
    return [{ what: 'account key', state: 'fail', reported, mend }];
  }
}

function projectionFinding(projection: Projection): Finding {
  const { name, generations, active_generation: activeGeneration } = projection;
  const what = `projection ${name}`;
  const failed = generations.find(({ state }) => state === 'failed');
  if (failed !== undefined) {
    const reported = failed.failure ?? 'a rebuild failed';
    const mend = `svc projections list, then rebuild ${name}`;
    return { what, state: 'fail', reported, mend };
  }
  const active = generations.find(({ generation }) => generation === activeGeneration);
  if (active !== undefined && active.schema_version !== projection.latest_schema_version) {
    const reported = 'its table is of an older version';
    return { what, state: 'warn', reported, mend: `svc projections rebuild ${name}` };
  }
  return ok(what, 'running');
}

function deadLettersFinding(parked: number): Finding {
  const what = 'dead letters';
  if (parked === 0) return ok(what, 'none parked');
  const mend = 'svc dead-letters list --state parked, then retry or drop';
  return { what, state: 'warn', reported: 'there are parked messages', mend };
}

/** Warns about a `.env` that exists and yields no variables. */
export function envFinding({ root, environment }: Context): Finding | null {
  if (!environment.hasEnvFile) return null;
  const text = readFileSync(join(root, '.env'), 'utf8');
  const ignored = existsSync(join(root, '.gitignore'))
    ? readFileSync(join(root, '.gitignore'), 'utf8')
    : '';
  if (!/=\S/.test(text) || /^\.env$/m.test(ignored))
    return ok('.env', 'is read, and ignored by git');
  const mend = 'add .env to .gitignore: it holds keys';
  return { what: '.env', state: 'warn', reported: 'git does not ignore it', mend };
}
