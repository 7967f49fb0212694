import { describe, expect, it } from 'vitest';
import type { RecordId } from '#kernel/ids.ts';
import { partitionOf } from '#kernel/partition.ts';
import { recordCommandsTopic, type RecordCommandValue } from '#modules/records/model/commands.ts';
import type { RecordChange } from '#modules/records/model/events.ts';
import { payloadContext, PayloadOpener } from '#modules/records/model/sealed-payload.ts';
import { streamKey } from '#modules/records/model/stream.ts';
import {
  anOrigin,
  aStream,
  contacts,
  openRecordsWorld,
  type RecordsWorld,
} from '#test/support/worlds/records.ts';

const stream = aStream();
const origin = anOrigin();
const partition = partitionOf(streamKey(stream), 2);

const sealedFor = (world: RecordsWorld, id: string, record: object): Buffer => {
  const context = payloadContext(streamKey(stream), id);
  return world.vault.sealBytes(stream.connectionUid, Buffer.from(JSON.stringify(record)), context);
};
const openedOf = (world: RecordsWorld, change: RecordChange): unknown => {
  const { record_id: recordId, payload: bytes, payload_encoding: encoding } = change;
  const { connectionUid } = stream;
  const owner = { key: streamKey(stream), connectionUid };
  const opened = new PayloadOpener(world.vault).open(owner, { recordId, encoding, bytes: bytes! });
  return JSON.parse(opened.toString()) as unknown;
};

describe('a sealed command', () => {
  it('leads to payloads that are sealed one by one', async () => {
    await using world = await openRecordsWorld();
    await using _owners = await world.startOwners();
    world.payloadMode = 'sealed';
    await world.writer.save(stream, origin, contacts(3));
    await world.writer.update(stream, origin, [{ id: 'c1', w: 2 }]);
    await world.writer.barrier(stream, origin);
    const changes = await world.changes();
    expect(changes.map((change) => openedOf(world, change))).toEqual([
      ...contacts(3),
      { id: 'c1', v: 1, w: 2 },
    ]);
  });

  it('of which a block was cut, or its ids were exchanged, is set aside', async () => {
    await using world = await openRecordsWorld();
    world.payloadMode = 'sealed';
    await world.writer.save(stream, origin, contacts(2));
    const codec = await world.schemas.codec<RecordCommandValue>(recordCommandsTopic);
    const [message] = world.keptCommands(stream).messages;
    const command = codec.decode(message!.value!);
    Object.assign(message!, {
      value: codec.encode({ ...command, ids: [...command.ids].reverse() }),
    });
    await using _owners = await world.startOwners();
    const { failures } = await world.writer.barrier(stream, origin);
    expect(failures).toEqual([expect.stringContaining('set aside')]);
    expect(await world.changes()).toEqual([]);
  });

  it('of release 0.67.0, its payloads sealed one by one, is decided', async () => {
    await using world = await openRecordsWorld();
    const payloads = sealedFor(world, 'c0', { id: 'c0', v: 1 });
    const codec = await world.schemas.codec<RecordCommandValue>(recordCommandsTopic);
    const value = codec.encode({
      command_id: 'earlier',
      kind: 'save',
      environment_id: stream.environmentUid,
      integration: stream.integration,
      connection_id: stream.connectionId,
      connection_uid: stream.connectionUid,
      model: stream.model,
      variant: stream.variant,
      actor: 'system',
      run_id: null,
      attempt: 0,
      n: 0,
      sync_name: null,
      asked_at: 1,
      reply_to: null,
      encoding: 'json+aes256gcm',
      ids: ['c0' as RecordId],
      ends: [payloads.length],
      payloads,
      deleted_at: [],
      args: null,
    });
    const message = { key: streamKey(stream), value, headers: {} };
    const place = { topic: recordCommandsTopic, partition };
    await world.log.client().append([{ ...place, messages: [message] }]);
    await using _owners = await world.startOwners();
    world.payloadMode = 'sealed';
    await world.writer.update(stream, origin, [{ id: 'c0', w: 2 }]);
    await world.writer.barrier(stream, origin);
    const changes = await world.changes();
    expect(openedOf(world, changes[0]!)).toEqual({ id: 'c0', v: 1 });
    expect(openedOf(world, changes[1]!)).toEqual({ id: 'c0', v: 1, w: 2 });
  });
});
