import { Redis } from 'ioredis';
import { describe, expect, it } from 'vitest';
import { services, serviceNames } from './catalogue.ts';
import { ownPrefix, serviceUrl } from './url.ts';

describe('the services that a run shares', () => {
  it.each(serviceNames)('%s has one URL, by function and by variable', (name) => {
    expect(serviceUrl(name)).toMatch(/^(kafka|http|redis):\/\//);
    expect(serviceUrl(name)).toBe(process.env[services[name].variable]);
  });

  it('keep tests apart by a prefix of their own', async () => {
    const client = new Redis(serviceUrl('redis'));
    const [one, other] = [ownPrefix(), ownPrefix()];
    await client.set(`${one}:key`, 'value');
    expect(await client.get(`${other}:key`)).toBeNull();
    await client.del(`${one}:key`);
    await client.quit();
  });
});
