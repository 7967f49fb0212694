import { describe, expect, it } from 'vitest';
import { openRegistrySchemas } from '#adapters/event-log/registry/open.ts';
import { ownPrefix, serviceUrl } from '#test/services/url.ts';
import { startRegistryFront } from '#test/support/fakes/registry-front.ts';

const topic = 'svc.made.v1';
const record = (...names: string[]) => ({
  type: 'record',
  name: 'Value',
  fields: names.map((name) => ({ name, type: 'string', default: '' })),
});

const ask = async <T>(path: string, init: RequestInit = {}): Promise<T> => {
  const headers = { 'content-type': 'application/vnd.schemaregistry.v1+json' };
  const answer = await fetch(serviceUrl('registry') + path, { ...init, headers });
  return (await answer.json()) as T;
};

describe('schemas of a registry', () => {
  it('have subjects with the prefix of the topics, whose compatibility is permanent', async () => {
    const prefix = ownPrefix();
    const schemas = openRegistrySchemas({ url: serviceUrl('registry'), prefix });
    await schemas.codec('svc.runs.v1');
    await schemas.codecOf('of-another-form', record('a'));
    const subjects = (await ask<string[]>('/subjects')).filter((one) => one.startsWith(prefix));
    expect(subjects.sort()).toEqual([`${prefix}-of-another-form-value`, `${prefix}.runs.v1-value`]);
    for (const subject of subjects) {
      const config = await ask(`/config/${subject}`);
      expect(config).toMatchObject({ compatibilityLevel: 'FULL_TRANSITIVE' });
    }
  });

  it('are set up by many processes at once', async () => {
    const prefix = ownPrefix();
    const ids = await Promise.all(
      Array.from({ length: 8 }, async () => {
        const schemas = openRegistrySchemas({ url: serviceUrl('registry'), prefix });
        const codec = await schemas.codecOf<object>(topic, record('a'));
        return codec.encode({ a: '' }).readUInt32BE(1);
      }),
    );
    expect(new Set(ids).size).toBe(1);
  });

  it('give values the bytes that a client of the registry reads', async () => {
    const prefix = ownPrefix();
    const schemas = openRegistrySchemas({ url: serviceUrl('registry'), prefix });
    const codec = await schemas.codecOf<{ a: string }>(topic, record('a'));
    const bytes = codec.encode({ a: 'x' });
    const versions = await ask<{ id: number }>(`/subjects/${prefix}.made.v1-value/versions/1`);
    expect([...bytes]).toEqual([0, 0, 0, versions.id >> 8, versions.id & 255, 2, 120]);
  });

  it('get their compatibility from the next process where one died before setting it', async () => {
    const prefix = ownPrefix();
    const subject = `${prefix}.made.v1-value`;
    const schema = JSON.stringify(record('a'));
    const body = JSON.stringify({ schema });
    await ask(`/subjects/${subject}/versions`, { method: 'POST', body });
    const schemas = openRegistrySchemas({ url: serviceUrl('registry'), prefix });
    await schemas.codecOf(topic, record('a'));
    expect(await ask(`/config/${subject}`)).toMatchObject({
      compatibilityLevel: 'FULL_TRANSITIVE',
    });
    expect(await ask<number[]>(`/subjects/${subject}/versions`)).toEqual([1]);
  });

  it('are refused where the subject has another compatibility, which is named', async () => {
    const prefix = ownPrefix();
    const subject = `${prefix}.made.v1-value`;
    await ask(`/subjects/${subject}/versions`, {
      method: 'POST',
      body: JSON.stringify({ schema: JSON.stringify(record('a')) }),
    });
    await ask(`/config/${subject}`, {
      method: 'PUT',
      body: JSON.stringify({ compatibility: 'BACKWARD' }),
    });
    const schemas = openRegistrySchemas({ url: serviceUrl('registry'), prefix });
    await expect(schemas.codecOf(topic, record('a'))).rejects.toMatchObject({
      code: 'incompatible_schema',
      message: expect.stringMatching(
        new RegExp(`${subject} .*BACKWARD.*Set it to FULL_TRANSITIVE`),
      ) as string,
    });
  });

  it('are asked for once, however many want them, and not again', async () => {
    const prefix = ownPrefix();
    await using front = await startRegistryFront(serviceUrl('registry'));
    const here = openRegistrySchemas({ url: front.url, prefix });
    const there = openRegistrySchemas({ url: serviceUrl('registry'), prefix });
    const reader = await here.codecOf<object>(topic, record('a'));
    const writer = await there.codecOf<object>(topic, record('a', 'b'));
    const before = front.requests.length;
    const values = Array.from({ length: 100 }, (_, n) => writer.encode({ a: String(n), b: '' }));
    await Promise.all([here.load(values), here.load(values), here.load(values.slice(50))]);
    await here.load([...values, null, reader.encode({ a: 'own' })]);
    expect(values.map((value) => reader.decode(value))).toEqual(
      values.map((_, n) => ({ a: String(n) })),
    );
    const id = values[0]!.readUInt32BE(1);
    expect(front.requests.slice(before)).toEqual([`GET /schemas/ids/${id}`]);
  });

  it('come with all versions of the subject when a codec is opened', async () => {
    const prefix = ownPrefix();
    const url = serviceUrl('registry');
    const there = openRegistrySchemas({ url, prefix });
    const written: Uint8Array[] = [];
    for (const names of [['a'], ['a', 'b'], ['a', 'b', 'c']]) {
      written.push((await there.codecOf<object>(topic, record(...names))).encode({ a: 'x' }));
    }
    const reader = await openRegistrySchemas({ url, prefix }).codecOf(topic, record('a', 'c'));
    expect(written.map((value) => reader.decode(value))).toEqual(
      written.map(() => ({ a: 'x', c: '' })),
    );
  });
});

describe('access to a registry', () => {
  const credentials = { user: 'gate/way', password: 'correct:horse' };
  const withAccess = (url: string, { user, password }: typeof credentials) => {
    const full = new URL(url);
    full.username = encodeURIComponent(user);
    full.password = encodeURIComponent(password);
    return full.href;
  };

  it('is by user and password of the URL', async () => {
    await using front = await startRegistryFront(serviceUrl('registry'), credentials);
    const url = withAccess(front.url, credentials);
    const schemas = openRegistrySchemas({ url, prefix: ownPrefix() });
    const codec = await schemas.codecOf<{ a: string }>(topic, record('a'));
    expect(codec.decode(codec.encode({ a: 'x' }))).toMatchObject({ a: 'x' });
  });

  it('with a wrong password fails at once, and the error shows no secret', async () => {
    await using front = await startRegistryFront(serviceUrl('registry'), credentials);
    const url = withAccess(front.url, { ...credentials, password: 'wrong:battery' });
    const schemas = openRegistrySchemas({ url, prefix: ownPrefix() });
    const error: unknown = await schemas.codecOf(topic, record('a')).catch((one: unknown) => one);
    expect(error).toMatchObject({ code: 'registry_unavailable' });
    expect(String(error)).toMatch(/answers 401: check the user and password/);
    expect(String(error) + JSON.stringify(error)).not.toMatch(/battery|horse|gate/);
  });

  it('with a path that leads nowhere says that the path may be wrong', async () => {
    const url = new URL('/nowhere', serviceUrl('registry')).href;
    const schemas = openRegistrySchemas({ url, prefix: ownPrefix() });
    await expect(schemas.codecOf(topic, record('a'))).rejects.toMatchObject({
      code: 'registry_unavailable',
      message: expect.stringContaining('check the path of its URL') as string,
    });
  });
});
