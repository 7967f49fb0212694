import { cpSync, mkdirSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { pathToFileURL } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { situations } from '#cli/testing/situations.ts';
import { closeTemplateWorld } from '#cli/testing/template-world.ts';
import { templatesFolder } from '#rules/templates.ts';

/** Each defect of a copy of a template, and the situation that finds it. */
const defects: readonly {
  readonly template: string;
  readonly file: string;
  readonly from: string | RegExp;
  readonly to: string;
  readonly situation: string;
  readonly reason: RegExp;
}[] = [
  {
    template: 'jira/projects',
    file: 'jira/syncs/projects.ts',
    from: "await svc.trackDeletesEnd('TicketCollection');",
    to: '',
    situation: 'compiles',
    reason: /trackDeletesStart\(\) needs trackDeletesEnd\(\)/,
  },
  {
    template: 'jira/projects',
    file: 'jira/syncs/projects.ts',
    from: 'maxResults: 100',
    to: 'maxResults: 500',
    situation: 'first sync',
    reason: /limit_too_large: 500/,
  },
  {
    template: 'jira/projects',
    file: 'jira/syncs/projects.ts',
    from: "orderBy: 'key'",
    to: "order_by: 'key'",
    situation: 'first sync',
    reason: /unknown_parameter: order_by/,
  },
  {
    template: 'hubspot/contacts',
    file: 'hubspot/contact.ts',
    from: 'job_title: properties.jobtitle ?? null',
    to: 'job_title: null',
    situation: 'first sync',
    reason: /the record 101 of Contact/,
  },
  {
    template: 'hubspot/contacts',
    file: 'hubspot/syncs/contacts.ts',
    from: 'checkpoint?.since ?? 0',
    to: '0',
    situation: 'incremental sync',
    reason: /did not ask for changes alone/,
  },
  {
    template: 'hubspot/contacts',
    file: 'hubspot/syncs/contacts.ts',
    from: /await svc\.batchDelete\([^;]*;/,
    to: 'void archived;',
    situation: 'delete',
    reason: /deleted Contact/,
  },
  {
    template: 'hubspot/contacts',
    file: 'hubspot/objects.ts',
    from: 'if (after === undefined) return;',
    to: "if (after === undefined) throw new Error('empty');",
    situation: 'empty page',
    reason: /empty/,
  },
  {
    template: 'hubspot/contacts',
    file: 'hubspot/objects.ts',
    from: 'retries: 5',
    to: 'retries: 0',
    situation: 'rate limit',
    reason: /429/,
  },
  {
    template: 'hubspot/contacts',
    file: 'hubspot/objects.ts',
    from: 'retries: 5',
    to: 'retries: 0',
    situation: 'expired token',
    reason: /with a token that can be refreshed/,
  },
  {
    template: 'hubspot/contacts',
    file: 'hubspot/syncs/contacts.ts',
    from: /if \(lastId !== undefined\) await svc\.saveCheckpoint\([^;]*;/,
    to: 'void lastId;',
    situation: 'resume after a kill',
    reason: /began with the first page again/,
  },
  {
    template: 'jira/issues',
    file: 'shared/page-tokens.ts',
    from: '!isResumed || status !== badRequest',
    to: 'isResumed || status !== badRequest',
    situation: 'refused position',
    reason: /400/,
  },
];

let root: string;
beforeAll(() => {
  root = mkdtempSync(join(tmpdir(), 'svc-defects-'));
});
afterAll(() => rmSync(root, { recursive: true, force: true }));

describe('the situations of a template', () => {
  it.each(defects.map((defect, at) => ({ ...defect, at })))(
    'find a defect: $situation of $template',
    async ({ template, file, from, to, situation, reason, at }) => {
      const folder = join(root, String(at));
      mkdirSync(folder);
      const [provider = '', name = ''] = template.split('/');
      for (const part of [provider, 'models', 'shared'])
        cpSync(join(templatesFolder, part), join(folder, part), { recursive: true });
      const text = readFileSync(join(folder, file), 'utf8');
      const broken = text.replace(from, to);
      expect(broken).not.toBe(text);
      writeFileSync(join(folder, file), broken);
      const testUrl = pathToFileURL(join(folder, provider, 'tests', `${name}.test.ts`)).href;
      const played = situations(testUrl, { kind: 'sync', name }).find(
        (one) => one.name === situation,
      );
      await expect(played?.play()).rejects.toThrow(reason);
      await closeTemplateWorld(folder);
    },
  );

  it('are those of one function: what was deployed for another is gone', async () => {
    const testUrl = pathToFileURL(join(templatesFolder, 'hubspot/tests/contacts.test.ts')).href;
    for (const { play } of situations(testUrl, { kind: 'on-event', name: 'check-access' }))
      await play();
    const resumption = situations(testUrl, { kind: 'sync', name: 'contacts' }).find(
      ({ name }) => name === 'resume after a kill',
    );
    await resumption?.play();
    expect(resumption).toBeDefined();
    await closeTemplateWorld(templatesFolder);
  });
});
