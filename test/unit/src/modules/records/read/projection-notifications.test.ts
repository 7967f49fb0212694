import { describe, expect, it } from 'vitest';
import { openInProcessCoordination } from '#adapters/coordination/in-process.ts';
import {
  openProjectionNotifications,
  type ProjectionNotifications,
} from '#modules/records/read/projection-notifications.ts';
import type { Coordination } from '#ports/coordination.ts';
import { silent } from '#test/support/worlds/control.ts';
import { until } from '#test/support/worlds/runs.ts';

const open = (coordination: Coordination, node: string): Promise<ProjectionNotifications> =>
  openProjectionNotifications({ coordination, node, logger: silent });

describe('news of records', () => {
  it('reach the other processes that read the same generation, in order, and nobody else', async () => {
    const coordination = openInProcessCoordination();
    await using teller = await open(coordination, 'teller');
    await using other = await open(coordination, 'other');
    const heard: unknown[] = [];
    const listener = (who: string) => ({
      published: (partition: number, next: number) => heard.push([who, partition, next]),
      dropped: (streams: unknown) => heard.push([who, streams]),
    });
    teller.subscribe('records', listener('teller'));
    other.subscribe('records_2', listener('another generation'));
    const stop = other.subscribe('records', listener('other'));

    teller.notifyDropped('records', ['7']);
    teller.notifyPublished('records', 0, 3);
    teller.notifyPublished('records', 0, 5);
    teller.notifyPublished('records', 1, 2);
    await until(() => heard.length === 3);
    stop();
    teller.notifyDropped('records', 'all');
    expect(heard).toEqual([
      ['other', ['7']],
      ['other', 0, 5],
      ['other', 1, 2],
    ]);
  });
});
