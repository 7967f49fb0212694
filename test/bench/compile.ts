/**
 * A project of 50 functions as `svc dev` has it, in one warm process: the first compilation, a changed file, a
 * changed helper that ten functions import, a type error, and the deployment to a gateway: `compile.ts [functions]`.
 */
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { openSandbox } from '#adapters/sandbox/sandbox.ts';
import { ProjectCompiler, type CompileResult } from '#cli/compiler/compile.ts';
import { CompileError } from '#cli/compiler/problem.ts';
import { writeCompiled } from '#cli/compiler/write.ts';
import { openClient } from '#cli/context.ts';
import { HotDeployment } from '#cli/deploy/hot-deployment.ts';
import { ownPackage } from '#cli/package.ts';
import { startGateway } from '#test/support/processes/gateway.ts';
import { functionsProject } from '#test/support/worlds/functions-project.ts';
import { percentile, report, round } from './measure.ts';

const [count = '50'] = process.argv.slice(2);
const functions = Number(count);
const rounds = 20;
const helperUsers = 10;

const helperText = (version: number): string =>
  `export const pathOf = (name: string): string => \`/v${version}/\${name}\`;\n`;

function syncText(at: number, version: number): string {
  const usesHelper = at < helperUsers;
  return `import { createSync } from 'svc';
import { z } from 'zod';
${usesHelper ? "import { pathOf } from '#test/path.js';\n" : ''}
const Item${at} = z.object({ id: z.string(), title: z.string(), tags: z.array(z.string()), size: z.number().nullable() });
type Item = z.infer<typeof Item${at}>;

const sync = createSync({
  description: 'Items ${at}, version ${version}',
  version: '1.0.${version}',
  frequency: 'every hour',
  autoStart: false,
  models: { Item${at} },
  checkpoint: z.object({ since: z.string() }),
  exec: async (svc) => {
    const checkpoint = await svc.getCheckpoint();
    await svc.trackDeletesStart('Item${at}');
    const pages = svc.paginate<Item>({
      endpoint: ${usesHelper ? "pathOf('items')" : "'/items'"},
      params: { since: checkpoint?.since ?? '' },
      paginate: { type: 'cursor', cursor_name_in_request: 'after', cursor_path_in_response: 'next', response_path: 'data' },
      retries: 3,
    });
    for await (const items of pages) await svc.batchSave(items, 'Item${at}');
    await svc.trackDeletesEnd('Item${at}');
    await svc.saveCheckpoint({ since: 'v${version}' });
  },
});

export default sync;
`;
}

const fileOf = (at: number): string => `crm/syncs/items-${at}.ts`;
const timed = async <T>(work: () => Promise<T>): Promise<{ ms: number; value: T }> => {
  const started = performance.now();
  const value = await work();
  return { ms: performance.now() - started, value };
};

const files = Object.fromEntries(
  Array.from({ length: functions }, (_, at) => [fileOf(at), syncText(at, 0)]),
);
using project = functionsProject({ ...files, 'crm/path.ts': helperText(0) });
const { root } = project;
await using sandbox = await openSandbox({ childrenMax: 1 });
await using compiler = new ProjectCompiler({
  root,
  own: ownPackage(),
  sandbox,
  progress: () => undefined,
});
const compileAndWrite = async (): Promise<CompileResult> => {
  const compiled = await compiler.compile();
  writeCompiled(root, compiled);
  return compiled;
};

/** Processor time of this process in milliseconds: what is left of a time when the machine is not quiet. */
function cpuMs(): number {
  const { user, system } = process.cpuUsage();
  return (user + system) / 1000;
}

/** The times of a change that is made again and again, in milliseconds. */
async function times(
  change: (round: number) => void,
  work = compileAndWrite,
): Promise<{ wall: number[]; cpu: number[] }> {
  const wall: number[] = [];
  const cpu: number[] = [];
  for (let at = 1; at <= rounds; at++) {
    change(at);
    const before = cpuMs();
    wall.push((await timed(work)).ms);
    cpu.push(cpuMs() - before);
  }
  return { wall, cpu };
}

const first = await timed(compileAndWrite);
const unchanged = await times(() => undefined);
const oneFile = await times((at) => {
  writeFileSync(join(root, fileOf(functions - 1)), syncText(functions - 1, at));
});
const helper = await times((at) => writeFileSync(join(root, 'crm/path.ts'), helperText(at)));
const broken = await times(
  (at) => writeFileSync(join(root, fileOf(0)), `${syncText(0, at)}\nconst n: string = ${at};\n`),
  async () => {
    const failed = await compiler.compile().catch((error: unknown) => error);
    if (!(failed instanceof CompileError)) throw new Error('a type error was not found');
    return first.value;
  },
);
writeFileSync(join(root, fileOf(0)), syncText(0, rounds));

await using gateway = await startGateway();
const body = { provider: 'github', unique_key: 'crm' };
const credentials = { type: 'OAUTH2', client_id: 'id', client_secret: 'secret' };
const made = await gateway.call('POST', '/integrations', { body: { ...body, credentials } });
if (made.status !== 200) throw new Error(JSON.stringify(made.body));
const client = openClient({
  host: gateway.url,
  secretKey: gateway.key,
  version: ownPackage().version,
});
const deployment = new HotDeployment(client);
const bring = async () => {
  const { functions: compiled } = await compileAndWrite();
  return deployment.bring({ root, functions: compiled, note: (line) => console.error(line) });
};
const everything = await timed(bring);
const oneDeployed: number[] = [];
for (let at = 1; at <= rounds; at++) {
  writeFileSync(join(root, fileOf(functions - 1)), syncText(functions - 1, rounds + at));
  const { ms, value } = await timed(bring);
  if (value.length !== 1) throw new Error(`${value.length} functions were deployed`);
  oneDeployed.push(ms);
}

report({
  functions,
  first_compile_ms: round(first.ms, 0),
  unchanged_p50_ms: round(percentile(unchanged.wall, 50), 1),
  changed_file_p50_ms: round(percentile(oneFile.wall, 50), 1),
  changed_file_p95_ms: round(percentile(oneFile.wall, 95), 1),
  changed_file_cpu_p50_ms: round(percentile(oneFile.cpu, 50), 1),
  changed_helper_p50_ms: round(percentile(helper.wall, 50), 1),
  changed_helper_p95_ms: round(percentile(helper.wall, 95), 1),
  type_error_p50_ms: round(percentile(broken.wall, 50), 1),
  deploy_all_ms: round(everything.ms, 0),
  changed_and_deployed_p50_ms: round(percentile(oneDeployed, 50), 1),
  changed_and_deployed_p95_ms: round(percentile(oneDeployed, 95), 1),
});
