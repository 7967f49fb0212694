import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { standardWebhook } from '#test/support/fakes/fake-webhook-provider.ts';
import { codeOf } from '#test/support/worlds/api.ts';
import {
  deliver,
  openWebhookIngress,
  type WebhookIngress,
} from '#test/support/worlds/webhook-ingress.ts';

const secrets = { ann: 'whsec_b2YgYW5u', ben: 'whsec_b2YgYmVu', gil: 'whsec_b2YgZ2ls' };
type Owner = keyof typeof secrets;
let ingress: WebhookIngress;

beforeAll(async () => {
  ingress = await openWebhookIngress(['notes', 'microsoft-teams']);
  for (const owner of ['ann', 'ben'] as const) await connect(owner);
});
afterAll(() => ingress[Symbol.asyncDispose]());

async function connect(owner: Owner): Promise<void> {
  await ingress.connect('notes', owner);
  await ingress.keep('notes', owner, { webhookSecret: secrets[owner] });
}

interface Note {
  readonly type: string;
  readonly note_id: string;
}

/** Delivers the event to the connection under the id, signed now. */
const send = (owner: Owner, event: Note, id: string): Promise<string> => {
  const url = ingress.addressOf('notes', `?svcConnectionId=${owner}`);
  return deliver(standardWebhook(url, secrets[owner], event, ingress.clock.now(), id));
};

/** What the application has received beyond the first so many. */
const since = (count: number) =>
  ingress.forwarded().slice(count) as { connectionId: string; payload: Note & { text: string } }[];

describe('a delivery of a provider', () => {
  it('is dropped when a provider repeats it within a day under a new signature', async () => {
    const { receiver, clock } = ingress;
    const [event, other] = [
      { type: 'note.edited', note_id: 'n2' },
      { type: 'note.edited', note_id: 'n3' },
    ];
    // At the same time as well: what follows from both has the same ids.
    const both = await Promise.all([send('ann', event, 'msg_2'), send('ann', event, 'msg_2')]);
    expect(both).toEqual(['200 ', '200 ']);
    clock.forward(60_000);
    expect(await send('ann', event, 'msg_2')).toBe('200 ');
    expect(await send('ann', other, 'msg_3')).toBe('200 ');
    await receiver.got(2, '/app');
    expect(since(0).map(({ payload }) => payload.note_id)).toEqual(['n2', 'n3']);
    const duplicates = await ingress.listed('?disposition=duplicate');
    expect(duplicates.length).toBeGreaterThanOrEqual(1);
    clock.forward(86_400_000);
    expect(await send('ann', event, 'msg_2')).toBe('200 ');
    await receiver.got(3, '/app');
    expect(await ingress.listed('?disposition=duplicate')).toHaveLength(duplicates.length);
  });

  it('arrives though another connection, or another event, has had its id', async () => {
    const deliveries = [
      ['ann', { type: 'note.edited', note_id: 's1' }],
      ['ben', { type: 'note.edited', note_id: 's1' }],
      ['ann', { type: 'note.generated', note_id: 's1' }],
      ['ann', { type: 'note.edited', note_id: 's2' }],
    ] as const;
    const { length } = ingress.receiver.received;
    for (const [owner, event] of deliveries) {
      expect(await send(owner, event, 'msg_of_several')).toBe('200 ');
    }
    await ingress.receiver.got(length + deliveries.length, '/app');
    const told = (owner: string, { type, note_id }: Note) => `${owner} ${type} ${note_id}`;
    expect(
      since(length)
        .map(({ connectionId, payload }) => told(connectionId, payload))
        .sort(),
    ).toEqual(deliveries.map(([owner, event]) => told(owner, event)).sort());
    const shown = await ingress.listed('?limit=4');
    expect(shown.map(({ disposition }) => disposition)).toEqual(Array(4).fill('accepted'));
  });

  it('arrives after an equal one was rejected', async () => {
    const { length } = ingress.receiver.received;
    const event = { type: 'note.edited', note_id: 'r1' };
    await ingress.keep('notes', 'ben', { webhookSecret: 'whsec_b3RoZXI=' });
    expect(await send('ben', event, 'msg_r')).toBe('401 webhook_invalid_signature');
    await ingress.keep('notes', 'ben', { webhookSecret: secrets.ben });
    expect(await send('ben', event, 'msg_r')).toBe('200 ');
    await ingress.receiver.got(length + 1, '/app');
  });

  it('arrives at a connection that was made again under the id of the one that had it', async () => {
    const { api, receiver } = ingress;
    const { length } = receiver.received;
    for (const round of [1, 2]) {
      await connect('gil');
      expect(await send('gil', { type: 'note.edited', note_id: 'g1' }, 'msg_g')).toBe('200 ');
      await receiver.got(length + round, '/app');
      const path = '/connections/gil?provider_config_key=notes';
      expect(codeOf(await api.call('DELETE', path))).toBe('200 ');
      ingress.clock.forward(1000);
    }
  });

  it('of Microsoft Teams arrives each time: its id is that of the message', async () => {
    const made = await ingress.api.call('POST', '/connections', {
      body: {
        provider_config_key: 'microsoft-teams',
        connection_id: 'tess',
        credentials: { type: 'OAUTH2', access_token: 'a' },
        connection_config: { tenantId: 'tenant-1' },
      },
    });
    expect(codeOf(made)).toBe('201 ');
    const { length } = ingress.receiver.received;
    const headers = { 'content-type': 'application/json' };
    const channelData = { tenant: { id: 'tenant-1' } };
    for (const text of ['first', 'second', 'second']) {
      const activity = { type: 'messageUpdate', id: '1690000000000', text, channelData };
      const url = ingress.addressOf('microsoft-teams');
      expect(await deliver({ url, headers, body: JSON.stringify(activity) })).toBe('200 ');
    }
    await ingress.receiver.got(length + 3, '/app');
    const texts = since(length).map(({ payload }) => payload.text);
    expect(texts.sort()).toEqual(['first', 'second', 'second']);
  });
});
