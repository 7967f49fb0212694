import { existsSync, mkdtempSync, readFileSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { originOf, rewrite } from '#cli/migrate/codemod.ts';
import { commandLine } from '#test/support/processes/command-line.ts';
import { functionsProject, type FunctionsProject } from '#test/support/worlds/functions-project.ts';
import { sharedSandbox } from '#test/support/worlds/shared-sandbox.ts';

const files = {
  '.svc/.gitkeep': '',
  'relay.yaml': 'integrations: {}\n',
  '.env': 'RELAY_SECRET=must-not-move\n',
  'relay-integrations/index.ts': `import './crm/syncs/contacts.js';
import './crm/actions/create-contact.js';
import './crm/on-events/greet.js';
`,
  'relay-integrations/crm/syncs/contacts.ts': `import { createSync, type ProxyConfiguration } from '@acme/relay';
import { z } from 'zod';
import { toContact } from '../mappers/to-contact.js';
import type { RelaySync } from '@acme/relay';

const Contact = z.object({ id: z.string(), name: z.string() });

const sync = createSync({
  description: 'Contacts',
  frequency: 'every hour',
  models: { Contact },
  exec: async (relay) => {
    const config: ProxyConfiguration = {
      endpoint: '/contacts',
      headers: { 'relay-proxy-accept-language': 'en' },
      retries: 3,
    };
    const { data } = await relay.get<{ id: string }[]>(config);
    await note({ relay, text: 'some' });
    await relay.batchSave(data.map(toContact), 'Contact');
  },
});

async function note({ relay, text }: { relay: RelaySync<never>; text: string }): Promise<void> {
  const { connectionId } = relay;
  await relay.log(\`\${text} of \${connectionId}\`);
}

export type Local = Parameters<(typeof sync)['exec']>[0];
export default sync;
`,
  'relay-integrations/crm/mappers/to-contact.ts': `export interface Raw { id: string; _relay_metadata?: { deleted_at: string | null } }
/** relay stays in a comment. */
export const toContact = (raw: Raw): { id: string; name: string } => ({
  id: raw.id,
  name: raw._relay_metadata?.deleted_at ?? '',
});
`,
  'relay-integrations/crm/actions/create-contact.ts': `import { createAction } from "@acme/relay";
import { z } from "zod";

const action = createAction({
  description: "Creates a contact",
  input: z.object({ name: z.string() }),
  output: z.object({ id: z.string() }),
  exec: async (relay, input) => {
    if (input.name === "") throw new relay.ActionError({ message: "no name" });
    const { data } = await relay.post<{ id: string }>({ endpoint: "/contacts", data: input });
    return { id: data.id };
  },
});
export default action;
`,
  'relay-integrations/crm/on-events/greet.ts': `import { createOnEvent } from '@acme/relay';
export default createOnEvent({
  description: 'Greets',
  event: 'post-connection-creation',
  exec: async (relay) => { await relay.log(relay.connectionId); },
});
`,
  'relay-integrations/crm/tests/contacts.test.ts': `import { it } from 'vitest'; it('x', () => {});`,
  'relay-integrations/node_modules/x/index.ts': `throw new Error('never read');`,
};

const sandbox = await sharedSandbox();
let old: FunctionsProject;
let folder: string;
beforeAll(async () => {
  old = functionsProject(files);
  // Functions are in a folder of the repository.
  rmSync(join(old.root, 'index.ts'));
  folder = mkdtempSync(join(tmpdir(), 'svc-migrate-'));
});
afterAll(async () => {
  rmSync(folder, { recursive: true, force: true });
  old[Symbol.dispose]();
});

const migrate = (...args: readonly string[]) =>
  commandLine(['migrate', 'functions', old.root, '--to', 'new', ...args], {
    root: folder,
    sandbox,
  });
const moved = (file: string): string => readFileSync(join(folder, 'new', file), 'utf8');

describe('svc migrate functions', () => {
  it('shows a plan and writes nothing', async () => {
    const planned = await migrate();
    expect(planned.exitCode).toBe(0);
    expect(planned.out).toContain('Functions of @acme/relay → new');
    expect(planned.out).toMatch(/new +crm\/syncs\/contacts\.ts \(\d+ edits\)/);
    expect(planned.out).toContain('tests  Tests and saved responses do not move');
    expect(planned.err).toContain('Nothing was written');
    expect(existsSync(join(folder, 'new'))).toBe(false);
  });

  it('writes a project that compiles', async () => {
    const written = await migrate('--write');
    expect(written.exitCode).toBe(0);
    const compiled = await commandLine(['compile', '--no-dependency-update'], {
      root: join(folder, 'new'),
      sandbox,
    });
    expect([compiled.err, compiled.exitCode]).toEqual([expect.anything(), 0]);
    const sync = moved('crm/syncs/contacts.ts');
    expect(sync).toContain("import { createSync, type ProxyConfiguration } from 'svc';");
    expect(sync).toContain("import type { SvcSync } from 'svc';");
    expect(sync).toContain('exec: async (svc) => {');
    expect(sync).toContain("'svc-proxy-accept-language'");
    expect(moved('crm/actions/create-contact.ts')).toContain('import { createAction } from "svc";');
    expect(moved('crm/mappers/to-contact.ts')).toContain('raw._svc_metadata?.deleted_at');
    expect(moved('crm/mappers/to-contact.ts')).toContain('relay stays in a comment');
    expect(moved('.env')).not.toContain('must-not-move');
    expect(existsSync(join(folder, 'new', 'crm/tests'))).toBe(false);
  });

  it('does nothing the second time, and keeps what was changed since', async () => {
    const again = await migrate('--write', '--json');
    const { moves } = JSON.parse(again.out) as { moves: { file: string; outcome: string }[] };
    expect(moves.filter(({ outcome }) => outcome !== 'unchanged')).toEqual([]);
    const file = join(folder, 'new/crm/on-events/greet.ts');
    writeFileSync(file, `${moved('crm/on-events/greet.ts')}// mine\n`);
    const kept = await migrate('--write');
    expect(kept.out).toContain('kept       crm/on-events/greet.ts');
    expect(moved('crm/on-events/greet.ts')).toContain('// mine');
    await migrate('--write', '--force');
    expect(moved('crm/on-events/greet.ts')).not.toContain('// mine');
  });

  it('rewrites a project where it is, once', async () => {
    using project = functionsProject({
      'crm/on-events/greet.ts': files['relay-integrations/crm/on-events/greet.ts'],
    });
    const args = ['migrate', 'functions', '.', '--write', '--json'];
    const outcomeOf = async (): Promise<unknown> => {
      const ended = await commandLine(args, { root: project.root, sandbox });
      const { moves } = JSON.parse(ended.out) as { moves: { file: string; outcome: string }[] };
      return moves.find(({ file }) => file === 'crm/on-events/greet.ts')?.outcome;
    };
    expect(await outcomeOf()).toBe('changed');
    expect(await outcomeOf()).toBe('unchanged');
  });

  it('says why a folder has no functions to move', async () => {
    const refused = async (name: string): Promise<string> =>
      (await commandLine(['migrate', 'functions', name], { root: folder, sandbox })).err;
    expect(await refused('nowhere')).toContain('There is no folder');
    using empty = functionsProject({ 'crm/syncs/a.ts': 'export default 1;' });
    expect(await refused(empty.root)).toContain('No file in');
    using two = functionsProject({
      'crm/syncs/a.ts': `import { createSync } from 'one'; export default createSync({});`,
      'crm/syncs/b.ts': `import { createSync } from 'two'; export default createSync({});`,
    });
    expect(await refused(two.root)).toContain(
      'several packages (one, two): name one with --package',
    );
  });

  it('follows no link out of the folder', async () => {
    using linked = functionsProject({
      'crm/on-events/greet.ts': files['relay-integrations/crm/on-events/greet.ts'],
    });
    symlinkSync('/', join(linked.root, 'crm', 'root'));
    const args = ['migrate', 'functions', linked.root, '--to', 'linked', '--json'];
    const ended = await commandLine(args, { root: folder, sandbox });
    const { moves } = JSON.parse(ended.out) as { moves: { file: string }[] };
    expect(moves.map(({ file }) => file)).toContain('crm/on-events/greet.ts');
    expect(moves.every(({ file }) => !file.includes('root'))).toBe(true);
  });
});

describe('the codemod', () => {
  const of = (text: string, file = 'crm/syncs/a.ts') => rewrite(file, text, originOf('relay'));
  const sync = (body: string): string =>
    `import { createSync } from 'relay';\nexport default createSync({ exec: async (relay) => {\n${body}\n} });\n`;

  it.each([
    ["import Relay from 'relay';", 'no default export', 1],
    ["import { Client } from 'relay';", 'svc exports no Client', 1],
    ["import { x } from 'relay/testing';", 'no module like relay/testing', 1],
    ["import axios from 'axios';", "package 'axios' is not allowed", 1],
    ["import soap from 'soap';", 'past the proxy', 1],
    ['export default async function fetchData() {}', 'define it with one of them', null],
    [sync("relay.log('relayConnectionId');"), "The text 'relayConnectionId' names relay", 3],
    [sync('await relay.getFieldMapping();'), 'getFieldMapping is gone', 3],
  ])('leaves to a person: %s', (text, message, line) => {
    const { manual } = of(text);
    expect(manual).toContainEqual({
      file: 'crm/syncs/a.ts',
      line,
      message: expect.stringContaining(message) as string,
    });
  });

  it('renames variables, and no members and no parts of other words', () => {
    const { text, manual } = of(
      sync("const a = { relay: 1, b: x.relay }; await relay.batchSend([{ relay }], 'relayed');"),
    );
    expect(text).toContain(
      "const a = { relay: 1, b: x.relay }; await svc.batchSave([{ relay: svc }], 'relayed');",
    );
    expect(manual).toEqual([]);
  });

  it('leaves the name of the handle where svc is taken', () => {
    expect(of(sync('const svc = 1; relay.log(svc);')).text).toContain('relay.log(svc)');
  });

  it('changes nothing in what it has written', () => {
    const once = of(sync('await relay.batchSend([], "A"); const m = r._relay_metadata;'));
    const twice = rewrite('crm/syncs/a.ts', once.text, originOf('svc'));
    expect(twice).toEqual({ text: once.text, edits: 0, manual: [] });
  });

  it('survives text that is no TypeScript', () => {
    expect(of('import { createSync from "relay" ((((', 'x.ts').edits).toBeGreaterThanOrEqual(0);
    expect(of('('.repeat(100_000), 'x.ts').manual).toMatchObject([{ file: 'x.ts', line: null }]);
  });
});
