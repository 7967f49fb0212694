import { readFileSync } from 'node:fs';
import { basename, dirname, join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { isObjectFixture, parseFixture } from '#fake-providers/objects/fixture.ts';
import type { FunctionKind } from '#modules/functions/functions/function.ts';
import type { Entry } from '../compiler/entries.ts';
import { kindFolder } from '../project-layout.ts';
import { callSituations } from './call-situations.ts';
import { SyncStage, syncSituations } from './sync-situations.ts';
import { TemplateAccount } from './template-account.ts';
import type { DeployedTemplate } from './template-world.ts';

interface TestedTemplate {
  readonly kind: FunctionKind;
  readonly name: string;
}

/** Something that happens to an integration in production, played against the fake of its provider. */
export interface Situation {
  readonly name: string;
  /** @throws Error what the function did wrong */
  readonly play: () => Promise<void>;
}

/**
 * The situations of the function of a template, each with a connection of its own on a real gateway: for a sync the
 * first and an incremental sync, a deletion, an empty page, a rate limit, an expired token, and a kill in the middle of
 * a page; for other functions the cases of their fixture.
 * @param testUrl `import.meta.url` of the test, which lies in `<integration>/tests`
 */
export function situations(testUrl: string, template: TestedTemplate): readonly Situation[] {
  const integration = dirname(dirname(fileURLToPath(testUrl)));
  const root = dirname(integration);
  const entry = entryOf(root, basename(integration), template);
  const compiles: Situation = {
    name: 'compiles',
    play: async () => {
      const { compileTemplate } = await templateWorld();
      await compileTemplate(root, entry);
    },
  };
  const inAccount =
    (play: (template: DeployedTemplate, account: TemplateAccount) => Promise<void>) => async () => {
      const { deployTemplate } = await templateWorld();
      const deployed = await deployTemplate(root, entry);
      await using account = new TemplateAccount(deployed);
      await play(deployed, account);
    };
  const file = join(root, entry.integrationKey, 'fixtures', `${entry.name}.json`);
  const fixture = parseFixture(JSON.parse(readFileSync(file, 'utf8')));
  if (!isObjectFixture(fixture)) {
    if (entry.kind === 'sync') throw new Error(`${file} has no "lists"`);
    if (entry.kind === 'on-change') throw new Error(`${file}: no kind of a template`);
    const plays = [...callSituations(fixture, entry.kind)];
    return [compiles, ...plays.map(([name, play]) => ({ name, play: inAccount(play) }))];
  }
  const plays = [...syncSituations(fixture)];
  return [
    compiles,
    ...plays.map(([name, play]) => ({
      name,
      play: inAccount((deployed, account) => play(new SyncStage(deployed, fixture, account))),
    })),
  ];
}

/** With the compiler, which a test that replays does not need. */
const templateWorld = () => import('./template-world.ts');

function entryOf(root: string, integrationKey: string, { kind, name }: TestedTemplate): Entry {
  const folder = kindFolder[kind];
  const file = `${integrationKey}/${folder}/${name}.ts`;
  const bundleName = `${integrationKey}_${folder}_${name}`;
  return { integrationKey, kind, name, path: resolve(root, file), file, bundleName };
}
