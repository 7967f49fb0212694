import { describe, expect, it } from 'vitest';
import { AvroCodec, schemaText } from '#adapters/event-log/avro-codec.ts';
import { migrate } from '#adapters/projection-store/migrate.ts';
import { joinKey } from '#kernel/ids.ts';
import { viewsOf } from '#modules/extensions/sql/views.ts';
import { headsTopic, type StreamHeadValue } from '#modules/records/model/events.ts';
import { records } from '#modules/records/projection/definition.ts';
import { fillStreamNames } from '#modules/records/projection/stream-names.ts';
import { MemoryLog } from '#test/support/fakes/memory-log.ts';
import { RecordModel } from '#test/support/judges/record-model.ts';
import { partitions, TestProjection } from '#test/support/worlds/projection.ts';
import { storeOfFile } from '#test/support/worlds/record-pages.ts';
import { migrateAll, sqlRows, sqlTables } from '#test/support/worlds/sql-tables.ts';

const store = await storeOfFile();
const codec = new AvroCodec<StreamHeadValue>(schemaText(headsTopic), 1, () => null);

const namesOf = () =>
  store.queryRows<{ environment_id: string; connection_uid: string; model: string }>(
    'SELECT environment_id, connection_uid, model FROM record_streams FINAL ORDER BY model',
  );

/** The head of the model's stream, as its owner writes it. */
function headOf({ stream }: RecordModel, seq: number): StreamHeadValue {
  return {
    owner_epoch: 1,
    command_offset: 1,
    environment_id: stream.environmentUid,
    integration: 'crm',
    connection_id: 'me',
    connection_uid: stream.connectionUid,
    model: stream.model,
    variant: stream.variant,
    generation: 'g',
    stream_seq: seq,
    last_modified_at: 1_700_000_000_000_000,
    is_closed: false,
    last_run_at: null,
    runs: [],
    passes: [],
  } as unknown as StreamHeadValue;
}

describe('names of streams', () => {
  it('are written with the first changes of a stream, once', async () => {
    const model = new RecordModel();
    await using projection = await TestProjection.open(store);
    await projection.publish(model, [model.save('a', { n: 1 }), model.save('b', { n: 1 })]);
    await projection.publish(model, [model.save('a', { n: 2 })]);
    const { environmentUid, connectionUid } = model.stream;
    expect(await namesOf()).toEqual([
      { environment_id: environmentUid, connection_uid: connectionUid, model: model.stream.model },
    ]);
    const [rows] = await store.queryRows<{ n: string }>('SELECT count() AS n FROM record_streams');
    expect(rows).toEqual({ n: '1' });
  });

  it('are filled in from the heads for tables of the release before', async () => {
    const tables = records.tableSet(1);
    const model = new RecordModel();
    {
      await using projection = await TestProjection.open(store);
      await projection.publish(model, [model.save('a', { n: 1 })]);
    }
    // What the release before had: three migrations, and no names.
    await store.drop('record_streams');
    await store.command(
      `DELETE FROM projection_migrations WHERE name = '${tables.name}' AND number > 3`,
    );
    await migrateAll(store);
    expect(await namesOf()).toEqual([]);

    const log = new MemoryLog(headsTopic, partitions);
    const { environmentUid, connectionUid, model: name, variant } = model.stream;
    const key = joinKey(environmentUid, connectionUid, name, variant);
    for (const seq of [1, 2])
      log.append(model.partition(partitions), [
        { key, value: codec.encode(headOf(model, seq)), headers: {} },
      ]);
    const fill = () => fillStreamNames({ log, store, heads: codec, partitions }, tables);
    await fill();
    await store.showViews(viewsOf(environmentUid, sqlTables));
    const query = 'SELECT integration, connection_id, record_id FROM v_records';
    const rows = [{ integration: 'crm', connection_id: 'me', record_id: 'a' }];
    expect(await sqlRows(store, environmentUid, query)).toEqual(rows);

    // The next start finds them filled.
    log.append(model.partition(partitions), [
      { key, value: Buffer.from('not read again'), headers: {} },
    ]);
    await fill();
    await migrate(store, tables.migrations);
    expect(await sqlRows(store, environmentUid, query)).toEqual(rows);
    await store.dropViews(viewsOf(environmentUid, sqlTables).scope);
    expect(await store.shownScopes()).toEqual([]);
  });
});
