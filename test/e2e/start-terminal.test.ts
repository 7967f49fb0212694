import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { stripVTControlCharacters } from 'node:util';
import { afterEach, beforeEach, expect, it } from 'vitest';
import { openTerminal } from '#test/support/processes/terminal.ts';

let folder: string;
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'svc-terminal-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

const startIn = (env: Readonly<Record<string, string>> = {}) =>
  openTerminal([], {
    cwd: folder,
    program: 'main',
    env: { SVC_PORT: '0', SVC_DATA_DIR: join(folder, 'data'), ...env },
  });

it('shows a banner and readable lines in a terminal', async () => {
  await using terminal = startIn();
  await terminal.shows('Ctrl+C stops the service.');
  const text = stripVTControlCharacters(terminal.shown).replaceAll('\r', '');
  expect(text).toMatch(/^ {2}svc \d+\.\d+\.\d+, the integration gateway$/m);
  expect(text).toMatch(/^ {2}Address {2}http:\/\/127\.0\.0\.1:\d+$/m);
  expect(text).toMatch(/^ {2}Console {2}http:\S+#code=\S+$/m);
  expect(text).toContain(`  Data     ${join(folder, 'data')}\n`);
  expect(text).toMatch(/Keys of the first start; they are shown only now:\n {4}dev +svc_env_/);
  expect(text).toMatch(/^\d\d:\d\d:\d\d\.\d{3} INFO {2}starting SVC_PORT=0/m);
  expect(text).not.toMatch(/"level":|"event":/);
  terminal.type('\u0003');
  expect(await terminal.exited, terminal.shown).toBe(0);

  await using again = startIn({ NO_COLOR: '1' });
  await again.shows('Ctrl+C stops the service.');
  expect(again.shown).not.toMatch(/svc_env_|Keys of the first start|\u001b/);
});
