import { describe, expect, it } from 'vitest';
import { partitionOf } from '#kernel/partition.ts';
import { recordCommandsTopic } from '#modules/records/model/commands.ts';
import { streamKey } from '#modules/records/model/stream.ts';
import { anOrigin, aStream, contacts, openRecordsWorld } from '#test/support/worlds/records.ts';

const stream = aStream();
const origin = anOrigin();
const partition = partitionOf(streamKey(stream), 2);

describe('delete tracking', () => {
  it('answers all keys, however many', async () => {
    await using world = await openRecordsWorld();
    await using _owners = await world.startOwners();
    const { writer } = world;
    const many = contacts(45_000);
    await writer.save(stream, origin, many);
    await writer.passStart(stream, origin);
    const { deletedKeys } = await writer.passEnd(stream, origin);
    expect(new Set(deletedKeys).size).toBe(45_000);
    const [change] = (await world.changes()).filter(({ action }) => action === 'deleted');
    expect(change?.delete_pass_id).not.toBeNull();
  });

  it('§8.1 trackDeletesStart goes on with a pass that is open; an end without a start is refused', async () => {
    await using world = await openRecordsWorld();
    await using _owners = await world.startOwners();
    const { writer } = world;
    const ending = writer.passEnd(stream, origin);
    await expect(ending).rejects.toMatchObject({
      code: 'delete_pass_missing',
      message: `No track deletes starting point found for model 'Contact'.`,
    });
    await writer.save(stream, origin, contacts(2));
    await writer.passStart(stream, origin);
    await writer.save(stream, origin, [{ id: 'c0', v: 1 }]);
    const next = anOrigin({ runId: 'run-2' });
    await writer.passStart(stream, next);
    expect(await writer.passEnd(stream, next)).toEqual({ deletedKeys: ['c1'] });
  });

  it('goes on where a run failed after its end, for what it saved is not saved again', async () => {
    await using world = await openRecordsWorld();
    const { writer } = world;
    {
      await using _owners = await world.startOwners();
      await writer.save(stream, anOrigin({ runId: 'run-0' }), contacts(5));
      await writer.passStart(stream, origin);
      await writer.save(stream, origin, contacts(5));
      expect(await writer.passEnd(stream, origin)).toEqual({ deletedKeys: [] });
      // Before it could clear its checkpoint after the fourth record, it failed.
      await writer.barrier(stream, origin, { hasSucceeded: false });
    }
    await using _owners = await world.startOwners();
    const next = anOrigin({ runId: 'run-2' });
    await writer.passStart(stream, next);
    await writer.save(stream, next, contacts(5).slice(4));
    expect(await writer.passEnd(stream, next)).toEqual({ deletedKeys: [] });
    await writer.barrier(stream, next, { hasSucceeded: true });

    const later = anOrigin({ runId: 'run-3' });
    await writer.passStart(stream, later);
    await writer.save(stream, later, contacts(4));
    expect(await writer.passEnd(stream, later)).toEqual({ deletedKeys: ['c4'] });
    await writer.passStart(stream, later);
    expect((await writer.passEnd(stream, later)).deletedKeys).toHaveLength(4);
    const again = writer.passEnd(stream, later);
    await expect(again).rejects.toMatchObject({ code: 'delete_pass_missing' });
  });

  it('is not ended late by a run of which a later one has gone on with the pass', async () => {
    await using world = await openRecordsWorld();
    await using _owners = await world.startOwners();
    const { writer } = world;
    await writer.save(stream, anOrigin({ runId: 'run-0' }), contacts(3));
    await writer.passStart(stream, origin);
    const next = anOrigin({ runId: 'run-2' });
    await writer.passStart(stream, next);
    await expect(writer.passEnd(stream, origin)).rejects.toMatchObject({
      code: 'stale_attempt',
      message: expect.stringMatching(/^A later run .* nothing was deleted\.$/) as string,
    });
    await writer.save(stream, next, contacts(2));
    expect(await writer.passEnd(stream, next)).toEqual({ deletedKeys: ['c2'] });
  });

  it('may be ended by a run that resumes without a start of its own', async () => {
    await using world = await openRecordsWorld();
    await using _owners = await world.startOwners();
    const { writer } = world;
    await writer.save(stream, anOrigin({ runId: 'run-0' }), contacts(3));
    await writer.passStart(stream, origin);
    await writer.save(stream, origin, contacts(1));
    const next = anOrigin({ runId: 'run-2' });
    await writer.save(stream, next, contacts(2));
    expect(await writer.passEnd(stream, next)).toEqual({ deletedKeys: ['c2'] });
  });

  it('that lost its marks deletes nothing and says so', async () => {
    await using world = await openRecordsWorld();
    const { writer } = world;
    {
      await using owners = await world.startOwners();
      await writer.save(stream, origin, contacts(3));
      await writer.passStart(stream, origin);
      await writer.save(stream, origin, [{ id: 'c0', v: 1 }]);
      await writer.barrier(stream, origin);
      owners.client.kill();
    }
    const { end } = world.keptCommands(stream);
    await world.log.client().deleteBefore({ topic: recordCommandsTopic, partition, offset: end });
    await using _owners = await world.startOwners();
    expect(await writer.passEnd(stream, origin)).toEqual({ deletedKeys: [] });
    const { failures, counts } = await writer.barrier(stream, origin);
    expect(failures).toEqual([expect.stringContaining('nothing was deleted')]);
    expect(counts.deleted).toBe(0);
  });

  it('keeps its marks when the partition is handed over, without the commands', async () => {
    await using world = await openRecordsWorld();
    const { writer } = world;
    {
      await using _owners = await world.startOwners();
      await writer.save(stream, origin, contacts(3));
      await writer.passStart(stream, origin);
      await writer.save(stream, origin, [{ id: 'c0', v: 1 }]);
      await writer.barrier(stream, origin);
    }
    const { end } = world.keptCommands(stream);
    await world.log.client().deleteBefore({ topic: recordCommandsTopic, partition, offset: end });
    await using _owners = await world.startOwners();
    expect((await writer.passEnd(stream, origin)).deletedKeys.sort()).toEqual(['c1', 'c2']);
  });
});

describe('the pass over a whole run', () => {
  const before = anOrigin({ runId: 'run-0' });
  const fresh = { isResumed: false };

  it('deletes what the run did not save, in whichever attempt, and beside a pass of its code', async () => {
    await using world = await openRecordsWorld();
    await using _owners = await world.startOwners();
    const { writer } = world;
    await writer.save(stream, before, contacts(5));
    await writer.runPassStart(stream, origin, fresh);
    await writer.save(stream, origin, [{ id: 'c0', v: 1 }]);
    const again = { ...origin, attempt: 2 };
    await writer.runPassStart(stream, again, { isResumed: true });
    await writer.save(stream, again, [{ id: 'c1', v: 2 }]);
    await writer.passStart(stream, again);
    await writer.save(stream, again, contacts(4).slice(2));
    expect(await writer.runPassEnd(stream, again)).toEqual({ deletedKeys: ['c4'] });
    expect(await writer.runPassEnd(stream, again)).toEqual({ deletedKeys: [] });
    expect((await writer.passEnd(stream, again)).deletedKeys.sort()).toEqual(['c0', 'c1']);
  });

  it('is a new one in the next run, also after one that failed', async () => {
    await using world = await openRecordsWorld();
    await using _owners = await world.startOwners();
    const { writer } = world;
    await writer.save(stream, before, contacts(3));
    await writer.runPassStart(stream, origin, fresh);
    await writer.save(stream, origin, contacts(3));
    await writer.barrier(stream, origin, { hasSucceeded: false });
    const next = anOrigin({ runId: 'run-2' });
    await writer.runPassStart(stream, next, fresh);
    await writer.save(stream, next, contacts(1));
    expect(await writer.runPassEnd(stream, next)).toEqual({ deletedKeys: ['c1', 'c2'] });
  });

  it('goes on in a run that resumes from the checkpoint of one that failed, not of one that succeeded', async () => {
    await using world = await openRecordsWorld();
    await using _owners = await world.startOwners();
    const { writer } = world;
    await writer.save(stream, before, contacts(4));
    await writer.runPassStart(stream, origin, fresh);
    await writer.save(stream, origin, contacts(2));
    await writer.barrier(stream, origin, { hasSucceeded: false });
    const next = anOrigin({ runId: 'run-2' });
    await writer.runPassStart(stream, next, { isResumed: true });
    await writer.save(stream, next, [{ id: 'c2', v: 1 }]);
    expect(await writer.runPassEnd(stream, next)).toEqual({ deletedKeys: ['c3'] });
    await writer.barrier(stream, next, { hasSucceeded: true });
    const last = anOrigin({ runId: 'run-3' });
    await writer.runPassStart(stream, last, { isResumed: true });
    await writer.save(stream, last, contacts(1));
    expect(await writer.runPassEnd(stream, last)).toEqual({ deletedKeys: ['c1', 'c2'] });
  });

  it('belongs to the run that opened it', async () => {
    await using world = await openRecordsWorld();
    await using _owners = await world.startOwners();
    const { writer } = world;
    await writer.save(stream, before, contacts(2));
    await writer.runPassStart(stream, origin, fresh);
    const next = anOrigin({ runId: 'run-2' });
    await expect(writer.runPassEnd(stream, next)).rejects.toMatchObject({
      code: 'delete_pass_missing',
    });
    await writer.runPassStart(stream, next, fresh);
    await writer.save(stream, next, contacts(2));
    await expect(writer.runPassEnd(stream, origin)).rejects.toMatchObject({
      code: 'delete_pass_missing',
    });
    expect(await writer.runPassEnd(stream, next)).toEqual({ deletedKeys: [] });
  });
});
