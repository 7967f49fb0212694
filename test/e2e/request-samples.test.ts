import { mkdtempSync, rmSync, writeFileSync, mkdirSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { languages, sampleRequest, type ApiDocument } from '#docs-site/request-samples.ts';
import { cachePath } from '#test/services/cache.ts';
import { isOnPath, run } from '#test/services/commands.ts';
import { startGateway, type RunningGateway } from '#test/support/processes/gateway.ts';

const repository = fileURLToPath(new URL('../..', import.meta.url));

let folder: string;
let gateway: RunningGateway;
let api: ApiDocument;
beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'svc-samples-'));
  gateway = await startGateway({});
  const answer = await gateway.call('GET', '/openapi.json');
  api = answer.body as ApiDocument;
  // What the samples in TypeScript import is this package.
  mkdirSync(join(folder, 'node_modules'));
  symlinkSync(repository, join(folder, 'node_modules/svc'));
  writeFileSync(join(folder, 'package.json'), '{"type":"module"}');
});
afterAll(async () => {
  await gateway[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true, force: true });
});

/** How a program of each language is run, from a file of its name. */
const programs = {
  curl: { file: 'sample.sh', command: ['bash', 'sample.sh'] },
  TypeScript: { file: 'sample.ts', command: [process.execPath, 'sample.ts'] },
  Python: { file: 'sample.py', command: ['python3', 'sample.py'] },
  Go: { file: 'sample.go', command: ['go', 'run', 'sample.go'] },
} as const satisfies Readonly<Record<keyof typeof languages, unknown>>;

/** Operations of which the sample is answered, with a part of every answer; in an order that they can follow. */
const answered: readonly (readonly [method: string, path: string, part: string])[] = [
  ['get', '/health', 'ok'],
  ['get', '/providers', 'activecampaign'],
  ['get', '/integrations', 'data'],
  ['get', '/connections', 'connections'],
  ['get', '/environment-variables', '['],
  ['get', '/scripts/config', '['],
  ['get', '/runs', 'data'],
  ['get', '/alerts', 'data'],
  ['get', '/webhook-endpoints', 'data'],
  ['get', '/webhook-messages', 'data'],
  ['post', '/connect/sessions', 'token'],
  ['post', '/logs/operations', 'data'],
  ['get', '/metrics', 'svc_'],
];

describe.each(Object.entries(programs))('the sample in %s', (language, { file, command }) => {
  it.skipIf(language !== 'TypeScript' && !isOnPath(command[0]))('is answered', async () => {
    const place = join(folder, language.toLowerCase());
    mkdirSync(place);
    const [name, ...options] = command;
    for (const [method, path, part] of answered) {
      const operation = api.paths[path]![method]!;
      const text = languages[language as keyof typeof languages](
        sampleRequest(method, path, operation),
      );
      const isOfAccount = operation.security?.some((one) => 'accountCredential' in one) ?? false;
      writeFileSync(join(place, file), text);
      const printed = await run(name, options, {
        cwd: place,
        env: {
          ...process.env,
          SVC_URL: gateway.url,
          SVC_KEY: isOfAccount ? gateway.accountKey : gateway.key,
          GOCACHE: cachePath('go-build'),
        },
      });
      expect(printed, `${method} ${path}\n${text}`).toContain(part);
    }
  });
});
