import { cpSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { expect, it } from 'vitest';
import { svcJson } from '#cli/compiler/artifacts.ts';
import { compile } from '#test/support/worlds/compile.ts';
import { functionsProject, type FunctionsProject } from '#test/support/worlds/functions-project.ts';
import { sharedSandbox } from '#test/support/worlds/shared-sandbox.ts';

const example = fileURLToPath(new URL('../../../../../examples/npm-releases', import.meta.url));

const text = { type: 'string' };
const number = { type: 'number' };
const textOrNull = { type: ['string', 'null'] };
const object = (properties: Record<string, unknown>) => ({
  type: 'object',
  properties,
  required: Object.keys(properties),
  additionalProperties: false,
});

/** Without node_modules: svc and zod are those of the command line. */
function copyOfExample(): FunctionsProject {
  const project = functionsProject({});
  for (const part of ['index.ts', 'package.json', 'npm']) {
    cpSync(join(example, part), join(project.root, part), { recursive: true });
  }
  return project;
}

/** Files of the source map: relative, so that a bundle is the same on every machine. */
function sourcesOf(bundle: string): string[] {
  const [map = ''] = /(?<=base64,)\S+/.exec(bundle) ?? [];
  return (JSON.parse(Buffer.from(map, 'base64').toString()) as { sources: string[] }).sources;
}

it('svc.json of the example is what the contract says, in its order', async () => {
  const sandbox = await sharedSandbox();
  using project = copyOfExample();
  const { functions, warnings } = await compile(project, sandbox);
  expect(warnings).toEqual([]);
  expect(sourcesOf(functions[0]?.bundle ?? '').sort()).toEqual([
    '../npm/package-document.ts',
    '../npm/syncs/releases.ts',
  ]);
  const artifacts = svcJson(functions);
  expect(artifacts).toEqual([
    {
      providerConfigKey: 'npm',
      syncs: [
        {
          type: 'sync',
          name: 'releases',
          description:
            'Every published version of the packages that the connection names in its metadata',
          version: '1.0.0',
          runs: 'every hour',
          auto_start: false,
          sync_type: 'full',
          track_deletes: false,
          input: 'SyncMetadata_npm_releases',
          output: ['Release'],
          usedModels: ['Release', 'SyncMetadata_npm_releases'],
          endpoints: [],
          scopes: [],
          webhookSubscriptions: [],
          features: ['checkpoints'],
          json_schema: {
            definitions: {
              Release: object({
                id: text,
                name: text,
                version: text,
                publishedAt: textOrNull,
                license: textOrNull,
                dependencies: number,
                unpackedSize: { type: ['number', 'null'] },
                deprecated: { type: 'boolean' },
              }),
              SyncMetadata_npm_releases: {
                type: 'object',
                properties: { packages: { type: 'array', items: text } },
                additionalProperties: false,
              },
            },
          },
        },
      ],
      actions: [
        {
          type: 'action',
          name: 'latest-version',
          description: 'The newest version of a package',
          version: '1.0.0',
          input: 'ActionInput_npm_latestversion',
          output: ['ActionOutput_npm_latestversion'],
          usedModels: ['ActionInput_npm_latestversion', 'ActionOutput_npm_latestversion'],
          endpoint: null,
          scopes: [],
          features: [],
          json_schema: {
            definitions: {
              ActionInput_npm_latestversion: object({ name: text }),
              ActionOutput_npm_latestversion: object({ name: text, version: text }),
            },
          },
        },
      ],
      onEventScripts: {
        'post-connection-creation': [],
        'pre-connection-deletion': [],
        'validate-connection': [],
      },
    },
  ]);
  expect(Object.keys(artifacts[0]?.syncs[0] ?? {}).slice(0, 5)).toEqual([
    'type',
    'name',
    'description',
    'version',
    'runs',
  ]);
});
