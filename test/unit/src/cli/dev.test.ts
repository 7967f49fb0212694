import { existsSync, readFileSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { deployServer, emptyPlan, type DeployServer } from '#test/support/fakes/deploy-server.ts';
import { commandLine, type Ended } from '#test/support/processes/command-line.ts';
import {
  actionText,
  functionsProject,
  syncText,
  type FunctionsProject,
} from '#test/support/worlds/functions-project.ts';
import { sharedSandbox } from '#test/support/worlds/shared-sandbox.ts';

interface Round {
  readonly changed: readonly string[];
  readonly deployed: readonly string[];
  readonly problems: readonly string[];
}

/** What `svc dev --json` says, round by round. */
class Rounds {
  readonly #lines: string[] = [];
  #told = Promise.withResolvers<undefined>();
  readonly #ended = Promise.withResolvers<never>();

  readonly add = (line: string): void => {
    this.#lines.push(line);
    this.#told.resolve(undefined);
  };

  /** No more come: what waits for one fails with what the command said. */
  readonly end = ({ exitCode, err }: Ended): void => {
    this.#ended.promise.catch(() => undefined);
    this.#ended.reject(new Error(`svc dev ended with ${exitCode}: ${err}`));
  };

  async next(): Promise<Round> {
    while (this.#lines.length === 0) {
      this.#told = Promise.withResolvers();
      await Promise.race([this.#told.promise, this.#ended.promise]);
    }
    return JSON.parse(this.#lines.shift() ?? '') as Round;
  }

  /** The next one of which something is true: editors may be seen half-way. */
  async until(isWanted: (round: Round) => boolean): Promise<Round> {
    for (;;) {
      const round = await this.next();
      if (isWanted(round)) return round;
    }
  }
}

const usingPath = (name: string): string =>
  actionText(`    await svc.log(pathOf('${name}'));`, "import { pathOf } from '../path.js';");

const sandbox = await sharedSandbox();

describe('svc dev', () => {
  let server: DeployServer;
  let project: FunctionsProject;
  let running: Promise<Ended>;
  const rounds = new Rounds();
  const interrupt = new AbortController();
  const bundle = (name: string): string => join(project.root, `build/crm_${name}.cjs`);

  beforeAll(async () => {
    server = await deployServer();
    project = functionsProject({
      'crm/syncs/items.ts': syncText("await svc.batchSave([{ id: '1' }], 'Item');"),
      'crm/actions/one.ts': usingPath('one'),
      'crm/actions/two.ts': usingPath('two'),
      'crm/path.ts': 'export const pathOf = (name: string): string => name;\n',
    });
    running = commandLine(['dev', '--json', '--no-dependency-update'], {
      root: project.root,
      sandbox,
      variables: { SVC_HOSTPORT: server.url, SVC_SECRET_KEY_DEV: 'k' },
      interrupt: interrupt.signal,
      onResult: rounds.add,
    });
    void running.then(rounds.end);
  });
  afterAll(async () => {
    interrupt.abort();
    await running;
    project[Symbol.dispose]();
    await server[Symbol.asyncDispose]();
  });

  it('builds and deploys everything at first', async () => {
    const first = await rounds.next();
    expect(first.problems).toEqual([]);
    expect(first.changed).toHaveLength(3);
    expect(first.deployed).toEqual(first.changed);
    const scope = { kind: 'integrations', integrationIds: ['crm'] };
    const scopes = server.asked.map(({ body }) => body.reconciliationScope);
    expect(scopes).toEqual([scope, scope, undefined]);
    const kept = server.asked.at(-1);
    expect(kept?.path).toBe('/logs/keep');
    const names = ['one', 'two'].map((name) => ({ integration_id: 'crm', type: 'action', name }));
    const functions = [{ integration_id: 'crm', type: 'sync', name: 'items' }, ...names];
    expect(kept?.body).toMatchObject({ minutes: 60 });
    expect(kept?.body.functions).toEqual(expect.arrayContaining(functions));
    expect(existsSync(join(project.root, 'tsconfig.json'))).toBe(true);
  });

  it('builds and deploys only a function that changed', async () => {
    server.asked.length = 0;
    project.write({
      'crm/syncs/items.ts': syncText("await svc.batchSave([{ id: '2' }], 'Item');"),
    });
    const round = await rounds.until(({ changed }) => changed.length > 0);
    expect(round).toMatchObject({ changed: ['crm/syncs/items.ts'], problems: [] });
    expect(round.deployed).toEqual(['crm/syncs/items.ts']);
    const deployments = server.asked.filter(({ path }) => path !== '/logs/keep');
    expect(deployments.map(({ body }) => body.reconciliationScope)).toEqual([
      { kind: 'function', integrationId: 'crm', name: 'items', type: 'sync' },
    ]);
  });

  it('builds and deploys a projection', async () => {
    server.answer.body = { ...emptyPlan, data: [] };
    server.asked.length = 0;
    project.write({
      'projections/names.ts': `import { createProjection } from 'svc';
import { z } from 'zod';
export default createProjection({
  description: 'Names',
  from: { models: ['Item'] },
  row: z.object({ id: z.string() }),
  map: ({ record_id }) => ({ id: record_id }),
});
`,
      'index.ts': `${readFileSync(join(project.root, 'index.ts'), 'utf8')}import './projections/names.js';\n`,
    });
    const round = await rounds.until(({ deployed }) => deployed.length > 0);
    expect(round).toMatchObject({ deployed: ['projections/names.ts'], problems: [] });
    expect(server.asked.map(({ path }) => path)).toEqual(['/custom-projections/names']);
  });

  it('builds the functions that import a changed file', async () => {
    project.write({
      'crm/path.ts': 'export const pathOf = (name: string): string => `/${name}`;\n',
    });
    const round = await rounds.until(({ changed }) => changed.length > 0);
    expect(round.changed).toEqual(['crm/actions/one.ts', 'crm/actions/two.ts']);
  });

  it('shows a type error with its place and writes nothing', async () => {
    const before = readFileSync(bundle('actions_one'), 'utf8');
    project.write({
      'crm/path.ts': 'export const pathOf = (name: number): string => `/${name}`;\n',
    });
    const { problems, changed } = await rounds.until((round) => round.problems.length > 0);
    expect(changed).toEqual([]);
    expect(problems[0]).toMatch(
      /^err - crm\/actions\/one\.ts:\d+:\d+\n {2}Argument of type 'string' is not assignable[^]*\| {5}await svc\.log\(pathOf\('one'\)\);\n *\| +\^{5}$/,
    );
    expect(problems).toHaveLength(2);
    expect(readFileSync(bundle('actions_one'), 'utf8')).toBe(before);
  });

  it('goes on once it is fixed, also with a file that was missing', async () => {
    project.write({ 'crm/path.ts': "export { pathOf } from './other.js';\n" });
    const missing = await rounds.until(({ problems }) => problems.join().includes('other.js'));
    expect(missing.problems).toEqual([expect.stringContaining('crm/path.ts:1:')]);
    project.write({ 'crm/other.ts': 'export const pathOf = (name: string) => `//${name}`;\n' });
    const round = await rounds.until(({ changed }) => changed.length > 0);
    expect(round.changed).toEqual(['crm/actions/one.ts', 'crm/actions/two.ts']);
  });

  it('removes the bundle of a function that index.ts names no more', async () => {
    rmSync(join(project.root, 'crm/actions/two.ts'));
    project.write({
      'index.ts': "import './crm/syncs/items.js';\nimport './crm/actions/one.js';\n",
    });
    await rounds.until(({ problems }) => problems.length === 0);
    expect(existsSync(bundle('actions_two'))).toBe(false);
  });

  it('says why a deployment was refused, and watches on', async () => {
    server.answer = {
      status: 400,
      body: { error: { code: 'integration_not_found', message: 'No integration "crm".' } },
    };
    project.write({
      'crm/syncs/items.ts': syncText("await svc.batchSave([{ id: '3' }], 'Item');"),
    });
    const round = await rounds.until(({ changed }) => changed.length > 0);
    expect(round.problems).toEqual([
      expect.stringMatching(
        /^Not deployed: No integration "crm"\. \(integration_not_found\)\n  Create it with svc connect/,
      ),
    ]);
  });

  it('ends with Ctrl-C, as a success', async () => {
    interrupt.abort();
    expect(await running).toMatchObject({ exitCode: 0 });
  });
});
