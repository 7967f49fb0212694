import { describe, expect, it } from 'vitest';
import type { EventLog } from '#ports/event-log.ts';
import { seeded, seedOfRun } from '#test/support/judges/random.ts';
import {
  Follower,
  keptTopic,
  keysOf,
  message,
  placed,
  position,
} from '#test/support/worlds/log.ts';
import type { EventLogHarness } from './event-log.contract.ts';

/** Transactions and fencing. */
export function writerContract(harness: EventLogHarness): void {
  async function twoTopics(log: EventLog): Promise<[string, string]> {
    const topics: [string, string] = [harness.name('changes'), harness.name('heads')];
    await log.ensureTopics(topics.map((topic) => keptTopic(topic, 2)));
    return topics;
  }

  describe('a transactional writer', () => {
    it('appends to several topics and moves positions as one', async () => {
      await using log = await harness.open();
      const [changes, heads] = await twoTopics(log);
      const group = harness.name('owners');
      await using writer = await log.openWriter(harness.name('writer'));
      const batch = [
        placed(changes, 0, message('a'), message('b')),
        placed(heads, 1, message('h')),
      ];
      const positions = [position(changes, 1, 7)];
      const places = await writer.commit(batch, { group, positions });
      await harness.settle();
      expect(places.map(({ topic, partition }) => [topic, partition])).toEqual([
        [changes, 0],
        [heads, 1],
      ]);
      expect(await keysOf(log, changes, 0, places[0]!.offset)).toEqual(['a', 'b']);
      expect(await keysOf(log, heads, 1, places[1]!.offset)).toEqual(['h']);
      expect([...(await log.committed(group, changes))]).toEqual([[1, 7]]);
    });

    it('may move positions without appending', async () => {
      await using log = await harness.open();
      const [changes] = await twoTopics(log);
      const group = harness.name('owners');
      await using writer = await log.openWriter(harness.name('writer'));
      await writer.commit([], { group, positions: [position(changes, 0, 3)] });
      await writer.commit([], { group, positions: [position(changes, 0, 5)] });
      expect([...(await log.committed(group, changes))]).toEqual([[0, 5]]);
    });

    it('applies its commits in the order of the calls', async () => {
      await using log = await harness.open();
      const [changes] = await twoTopics(log);
      await using writer = await log.openWriter(harness.name('writer'));
      const commits = Array.from({ length: 30 }, (_, i) => {
        // Large ones take longer to prepare; they must not be overtaken.
        const text = i % 7 === 0 ? 'x'.repeat(400_000) : 'x';
        const messages = i % 7 === 0 ? [1, 2, 3, 4] : [1];
        return writer.commit([placed(changes, 0, ...messages.map(() => message(String(i), text)))]);
      });
      await Promise.all(commits);
      await harness.settle();
      const keys = await keysOf(log, changes);
      expect([...new Set(keys)]).toEqual(commits.map((_, i) => String(i)));
      expect(keys.map(Number)).toEqual(keys.map(Number).sort((a, b) => a - b));
    });

    it('writes nothing when one of its topics is unknown', async () => {
      await using log = await harness.open();
      const [changes] = await twoTopics(log);
      const group = harness.name('owners');
      const name = harness.name('writer');
      await using writer = await log.openWriter(name);
      const unknown = placed(harness.name('missing'), 0, message('x'));
      const consumed = { group, positions: [position(changes, 0, 9)] };
      const refused = writer.commit([placed(changes, 0, message('a')), unknown], consumed);
      await expect(refused).rejects.toMatchObject({ code: 'unknown_topic' });
      await using next = await log.openWriter(name);
      await next.commit([placed(changes, 0, message('b'))]);
      await harness.settle();
      expect(await keysOf(log, changes)).toEqual(['b']);
      expect([...(await log.committed(group, changes))]).toEqual([]);
    });
  });

  describe('a fenced writer', () => {
    it('fails with writer_fenced and shows nothing', async () => {
      await using log = await harness.open();
      await using other = await harness.open();
      const [changes] = await twoTopics(log);
      const group = harness.name('owners');
      const name = harness.name('writer');
      await using former = await log.openWriter(name);
      await former.commit([placed(changes, 0, message('before'))]);
      await using present = await other.openWriter(name);
      const consumed = { group, positions: [position(changes, 0, 9)] };
      const late = former.commit([placed(changes, 0, message('late'))], consumed);
      await expect(late).rejects.toMatchObject({ code: 'writer_fenced' });
      await present.commit([placed(changes, 0, message('after'))]);
      await harness.settle();
      expect(await keysOf(log, changes)).toEqual(['before', 'after']);
      expect([...(await log.committed(group, changes))]).toEqual([]);
    });

    it('stays fenced, and fences nobody of another name', async () => {
      await using log = await harness.open();
      const [changes] = await twoTopics(log);
      const name = harness.name('writer');
      await using former = await log.openWriter(name);
      await using bystander = await log.openWriter(harness.name('bystander'));
      await using present = await log.openWriter(name);
      for (let i = 0; i < 2; i++) {
        const late = former.commit([placed(changes, 0, message('late'))]);
        await expect(late).rejects.toMatchObject({ code: 'writer_fenced' });
      }
      await bystander.commit([placed(changes, 0, message('bystander'))]);
      await present.commit([placed(changes, 0, message('present'))]);
      await harness.settle();
      expect(await keysOf(log, changes)).toEqual(['bystander', 'present']);
    });

    it('is fenced by a writer opened after the log was started again', async () => {
      const name = harness.name('writer');
      let topic = '';
      {
        await using log = await harness.open();
        [topic] = await twoTopics(log);
        await using writer = await log.openWriter(name);
        await writer.commit([placed(topic, 0, message('a'))]);
      }
      await harness.restart();
      await using log = await harness.open();
      await using former = await log.openWriter(name);
      await using present = await log.openWriter(name);
      const late = former.commit([placed(topic, 0, message('late'))]);
      await expect(late).rejects.toMatchObject({ code: 'writer_fenced' });
      await present.commit([placed(topic, 0, message('b'))]);
      await harness.settle();
      expect(await keysOf(log, topic)).toEqual(['a', 'b']);
    });

    it('at any moment leaves exactly what was acknowledged', { timeout: 60_000 }, async () => {
      const random = seeded(seedOfRun());
      const why = `SVC_TEST_SEED=${random.seed}`;
      await using log = await harness.open();
      await using other = await harness.open();
      const [changes, heads] = await twoTopics(log);
      const name = harness.name('writer');
      await using follower = new Follower(log, [position(changes), position(heads)]);
      const acknowledged: string[] = [];
      const refused: string[] = [];
      let writer = await log.openWriter(name);
      for (let round = 0; round < 15; round++) {
        const commits = Array.from({ length: 1 + random.int(4) }, async (_, i) => {
          const key = `${round}/${i}`;
          try {
            await writer.commit([placed(changes, 0, message(key)), placed(heads, 0, message(key))]);
            acknowledged.push(key);
          } catch (error) {
            expect(error).toMatchObject({ code: 'writer_fenced' });
            refused.push(key);
          }
        });
        const taken = random.chance(50) ? other.openWriter(name) : null;
        await Promise.all(commits);
        if (taken !== null) writer = await taken;
      }
      await writer.commit([placed(changes, 0, message('end')), placed(heads, 0, message('end'))]);
      await follower.until(({ keys }) => keys.filter((key) => key === 'end').length === 2);
      const shown = (topic: string): string[] =>
        follower.batches
          .filter((batch) => batch.topic === topic)
          .flatMap(({ messages }) => messages.map(({ key }) => key));
      expect(shown(changes), why).toEqual([...acknowledged, 'end']);
      expect(shown(heads), why).toEqual([...acknowledged, 'end']);
      expect(
        shown(changes).filter((key) => refused.includes(key)),
        why,
      ).toEqual([]);
    });
  });
}
