import { readdirSync, readFileSync } from 'node:fs';
import { Ajv } from 'ajv';
import { load as parse } from 'js-yaml';
import { describe, expect, it } from 'vitest';
import { roles } from '#app/config/config-rules.ts';
import { loadConfig, settings } from '#app/config/config.ts';

const chart = new URL('../../../deploy/helm/svc/', import.meta.url);
const textOf = (file: string) => readFileSync(new URL(file, chart), 'utf8');

interface Values {
  readonly settings: Readonly<Record<string, string>>;
  readonly roles: Readonly<Record<string, object>>;
}

const values = parse(textOf('values.yaml')) as Values;
const known = new Set<string>(Object.values(settings).map(({ variable }) => variable));

/** What `npm run test:helm` does not need: it lints and renders the chart with Helm itself. */
describe('deploy/helm/svc', () => {
  it('is the chart of this release', () => {
    const manifest = new URL('../../../package.json', import.meta.url);
    const { version } = JSON.parse(readFileSync(manifest, 'utf8')) as { version: string };
    expect(parse(textOf('Chart.yaml'))).toMatchObject({ version, appVersion: version });
  });

  it('has values that its schema takes, and a deployment for each role', () => {
    const validate = new Ajv().compile(JSON.parse(textOf('values.schema.json')) as object);
    expect(validate(values), JSON.stringify(validate.errors)).toBe(true);
    expect(validate({ ...values, roles: { nobody: values.roles['api'] } })).toBe(false);
    expect(Object.keys(values.roles).sort()).toEqual([...roles].sort());
  });

  it.each(roles)('gives a process of the role %s settings that it takes', (role) => {
    const named = [...textOf('values.yaml').matchAll(/SVC_\w+/g)].map(([name]) => name);
    expect(named.filter((name) => !known.has(name) && !name.endsWith('_'))).toEqual([]);
    const secret = {
      SVC_ENCRYPTION_KEY: Buffer.alloc(32).toString('base64'),
      SVC_LOG_URL: 'kafka+ssl://gateway:secret@kafka:9093',
      SVC_CLICKHOUSE_URL: 'https://gateway:secret@clickhouse:8443/gateway',
      SVC_REDIS_URL: 'rediss://:secret@redis:6379',
    };
    const config = loadConfig({ ...values.settings, ...secret, SVC_ROLES: role });
    expect([...config.roles]).toEqual([role]);
  });

  it('uses no value that it does not have', () => {
    const used = readdirSync(new URL('templates/', chart)).flatMap((file) =>
      [...textOf(`templates/${file}`).matchAll(/\.Values\.([\w.]+)/g)].map(([, path]) => path!),
    );
    expect(used.length).toBeGreaterThan(10);
    const missing = used.filter((path) => {
      let at: unknown = values;
      for (const name of path.split('.')) at = (at as Record<string, unknown> | undefined)?.[name];
      return at === undefined;
    });
    expect(missing).toEqual([]);
  });
});
