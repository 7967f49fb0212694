/**
 * What a developer waits for at the terminal: `svc --help`, a cold compilation of three functions, and deployments of
 * many functions that change nothing or one: `command-line.ts [functions]`. Each command is a process of the built
 * program; processor time includes its children.
 */
import { spawn } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { startGateway } from '#test/support/processes/gateway.ts';
import { functionsProject, syncText } from '#test/support/worlds/functions-project.ts';
import { percentile, report, round } from './measure.ts';

const [count = '50'] = process.argv.slice(2);
const rounds = 5;
const program = fileURLToPath(new URL('../../dist/src/cli/main.js', import.meta.url));

const files = (functions: number): Record<string, string> =>
  Object.fromEntries(
    Array.from({ length: functions }, (_, at) => [fileOf(at), textOf(at, 0)] as const),
  );
const fileOf = (at: number): string => `crm/syncs/items-${at}.ts`;
const textOf = (at: number, version: number): string =>
  syncText(`await svc.log('version ${version}');`, {
    model: `Item${at}`,
    more: "frequency: 'every hour', autoStart: false,",
  });

interface Took {
  readonly ms: number;
  readonly cpuMs: number;
}

/** The shell's `times` counts the children that have ended, as GNU time does. */
async function svc(root: string, args: readonly string[], variables: object = {}): Promise<Took> {
  const started = performance.now();
  const line = `"$0" "$@" >/dev/null; code=$?; times; exit $code`;
  const child = spawn('bash', ['-c', line, process.execPath, program, ...args], {
    cwd: root,
    env: { PATH: process.env['PATH'], HOME: process.env['HOME'], ...variables },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const [out, err] = [child.stdout, child.stderr].map((stream) => stream.toArray());
  const code = await new Promise<number | null>((resolve) => child.once('close', resolve));
  const ms = performance.now() - started;
  if (code !== 0) throw new Error(`svc ${args.join(' ')}: ${(await err)?.join('') ?? ''}`);
  const [, ofChildren = ''] = ((await out) ?? []).join('').trim().split('\n');
  const seconds = [...ofChildren.matchAll(/(\d+)m([\d.]+)s/g)].map(
    ([, minutes, rest]) => Number(minutes) * 60 + Number(rest),
  );
  return { ms, cpuMs: seconds.reduce((sum, one) => sum + one, 0) * 1000 };
}

async function times(work: (round: number) => Promise<Took>): Promise<Took> {
  const all: Took[] = [];
  for (let at = 1; at <= rounds; at++) all.push(await work(at));
  const middle = (values: number[]): number => percentile(values, 50);
  return { ms: middle(all.map(({ ms }) => ms)), cpuMs: middle(all.map(({ cpuMs }) => cpuMs)) };
}

using small = functionsProject(files(3));
using large = functionsProject(files(Number(count)));
await using gateway = await startGateway();
const credentials = { type: 'OAUTH2', client_id: 'id', client_secret: 'secret' };
await gateway.call('POST', '/integrations', {
  body: { provider: 'github', unique_key: 'crm', credentials },
});
const variables = { SVC_HOSTPORT: gateway.url, SVC_SECRET_KEY_DEV: gateway.key, CI: '1' };
const deployment = ['deploy', 'dev', '--no-dependency-update'];

const help = await times(() => svc(small.root, ['--help']));
const compiled = await times(() => svc(small.root, ['compile', '--no-dependency-update']));
const first = await svc(large.root, deployment, variables);
const unchanged = await times(() => svc(large.root, deployment, variables));
const changed = await times((at) => {
  writeFileSync(join(large.root, fileOf(0)), textOf(0, at));
  return svc(large.root, deployment, variables);
});

report({
  functions: Number(count),
  help_ms: round(help.ms, 0),
  help_cpu_ms: round(help.cpuMs, 0),
  compile_three_ms: round(compiled.ms, 0),
  compile_three_cpu_ms: round(compiled.cpuMs, 0),
  first_deploy_ms: round(first.ms, 0),
  unchanged_deploy_ms: round(unchanged.ms, 0),
  unchanged_deploy_cpu_ms: round(unchanged.cpuMs, 0),
  changed_deploy_ms: round(changed.ms, 0),
  changed_deploy_cpu_ms: round(changed.cpuMs, 0),
});
