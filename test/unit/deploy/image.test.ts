import { existsSync, readFileSync } from 'node:fs';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { DockerfileParser } from 'dockerfile-ast';
import { load as parse } from 'js-yaml';
import { describe, expect, it } from 'vitest';
import { loadConfig, settings } from '#app/config/config.ts';
import { programEnv, programs } from '#cli/run-program.ts';
import { isOnPath, run } from '#test/services/commands.ts';
import { installHadolint } from '#test/services/hadolint.ts';

const root = new URL('../../../', import.meta.url);
const textOf = (file: string) => readFileSync(new URL(file, root), 'utf8');
const dockerfile = textOf('deploy/Dockerfile');
const dockerfilePath = fileURLToPath(new URL('deploy/Dockerfile', root));
const known = new Set<string>(Object.values(settings).map(({ variable }) => variable));

describe('deploy/Dockerfile', () => {
  const lines = DockerfileParser.parse(dockerfile).getInstructions();
  const named = (keyword: string) =>
    lines
      .filter((line) => line.getKeyword() === keyword)
      .map((line) => line.getArgumentsContent() ?? '');

  it.runIf(isOnPath('python3'))('passes hadolint', async () => {
    const hadolint = await installHadolint();
    await run(hadolint, [dockerfilePath]);
    const wrong = join(await mkdtemp(join(tmpdir(), 'svc-image-')), 'Dockerfile');
    await writeFile(wrong, 'FROM node\nRUN cd /x\n');
    await expect(run(hadolint, [wrong])).rejects.toThrow('DL3003');
    await rm(dirname(wrong), { recursive: true });
  });

  it('copies what is there and what the build may see, and the image runs the entry of the service', () => {
    const ignored = textOf('.dockerignore').split('\n');
    const sources = named('COPY')
      .flatMap((copy) => copy.split(/\s+/).slice(0, -1))
      .filter((source) => !source.startsWith('/'));
    expect(sources.filter((source) => !existsSync(new URL(source, root)))).toEqual([]);
    expect(sources.filter((source) => !ignored.includes(`!${source}`))).toEqual([]);
    const [command] = named('ENTRYPOINT').map((text) => JSON.parse(text) as string[]);
    expect(existsSync(new URL(command!.at(-1)!, root))).toBe(true);
    const { scripts } = JSON.parse(textOf('package.json')) as { scripts: { start: string } };
    expect(scripts.start).toContain(` ${command!.join(' ')}`);
    expect(textOf('deploy/systemd/svc.service')).toContain(` ${command!.join(' ')}\n`);
    expect(command).toEqual(['node', ...programs.main, 'dist/src/main.js']);
  });

  it('sets the allocator of glibc as every start of the service does', () => {
    const unit = textOf('deploy/systemd/svc.service');
    const image = named('ENV').join(' ');
    const { scripts } = JSON.parse(textOf('package.json')) as { scripts: { start: string } };
    for (const [name, value] of Object.entries(programEnv)) {
      for (const place of [unit, image]) expect(place).toContain(`${name}=${value} `);
      expect(scripts.start).toContain(`${name}=\${${name}:-${value}} `);
    }
  });

  it('runs as nobody special, on the Node of the project, with settings that there are', () => {
    const { dependencies } = JSON.parse(textOf('package.json')) as {
      dependencies: { node: string };
    };
    for (const from of named('FROM')) expect(from).toMatch(`node:${dependencies.node}-`);
    expect(named('USER')).toEqual(['1000']);
    const variables = named('ENV').flatMap((text) => [...text.matchAll(/(SVC_\w+)=(\S+)/g)]);
    const env = Object.fromEntries(variables.map(([, name, value]) => [name!, value!]));
    expect(Object.keys(env).filter((name) => !known.has(name))).toEqual([]);
    expect(loadConfig(env)).toMatchObject({ host: '0.0.0.0', port: 3003, dataDir: '/data' });
  });
});

interface Composed {
  readonly build?: { readonly dockerfile: string };
  readonly image?: string;
  readonly environment?: Readonly<Record<string, string>>;
  readonly depends_on?: Readonly<Record<string, { readonly condition: string }>>;
  readonly healthcheck?: { readonly test: readonly string[] };
  readonly volumes?: readonly string[];
}

describe('docker-compose.yml', () => {
  const compose = parse(textOf('docker-compose.yml')) as {
    services: Record<string, Composed>;
    volumes: Record<string, null>;
  };
  const { gateway } = compose.services;

  it('starts the gateway once what it needs is healthy', () => {
    expect(existsSync(new URL(gateway!.build!.dockerfile, root))).toBe(true);
    for (const [name, { condition }] of Object.entries(gateway!.depends_on ?? {})) {
      expect(condition).toBe('service_healthy');
      expect(compose.services[name]?.healthcheck?.test[0]).toBe('CMD');
    }
    for (const { image } of Object.values(compose.services)) {
      if (image !== undefined) expect(image).toMatch(/:\d/);
    }
  });

  it('gives it settings that it takes, of services that there are', () => {
    const key = Buffer.alloc(32).toString('base64');
    const env = { ...gateway!.environment, SVC_ENCRYPTION_KEY: key };
    expect(Object.keys(env).filter((name) => !known.has(name))).toEqual([]);
    const { logUrl, registryUrl, clickhouseUrl, redisUrl } = loadConfig(env);
    expect(logUrl).toMatchObject({ kind: 'kafka' });
    for (const server of [registryUrl, clickhouseUrl, redisUrl]) {
      if (server.kind === 'embedded') throw new Error('nothing is embedded here');
      expect(Object.keys(compose.services)).toContain(new URL(server.url).hostname);
    }
    expect(gateway!.environment!['SVC_ENCRYPTION_KEY']).toMatch(/^\$\{SVC_ENCRYPTION_KEY:\?/);
  });

  it('mounts volumes and files that there are', () => {
    for (const { volumes = [] } of Object.values(compose.services)) {
      for (const [source = ''] of volumes.map((volume) => volume.split(':'))) {
        if (source.startsWith('.')) expect(existsSync(new URL(source, root)), source).toBe(true);
        else expect(compose.volumes).toHaveProperty(source);
      }
    }
  });
});
