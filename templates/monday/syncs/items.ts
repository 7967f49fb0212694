import { createSync, type SvcSync } from 'svc';
import { z } from 'zod';
import { request } from '../graphql.js';
import { firstQuery, itemOf, MondayItem, nextQuery, type MondayApiItem } from '../item.js';

interface ItemsPage {
  items: MondayApiItem[];
  /** Null on the last page. */
  cursor: string | null;
}

/** The maximum. */
const limit = 500;

const sync = createSync({
  description: 'All items of a board with their columns; those that are gone are deleted',
  version: '1.0.0',
  frequency: 'every hour',
  autoStart: false,
  scopes: ['boards:read'],
  models: { MondayItem },
  /** The address of the board shows the id. */
  metadata: z.object({ boardId: z.string() }),
  /** At which an interrupted run goes on; monday forgets it after 60 minutes. */
  checkpoint: z.object({ cursor: z.string(), expiresAt: z.number() }),

  exec: async (svc) => {
    const { boardId } = await svc.getMetadata();
    const checkpoint = await svc.getCheckpoint();
    const now = new Date().getTime();
    const isUsable = checkpoint !== null && now < checkpoint.expiresAt;
    const expiresAt = isUsable ? checkpoint.expiresAt : now + cursorLifetime;
    await svc.trackDeletesStart('MondayItem');
    let page = isUsable ? await nextPage(svc, checkpoint.cursor) : await firstPage(svc, boardId);
    for (;;) {
      await svc.batchSave(
        page.items.map((item) => itemOf(item, boardId)),
        'MondayItem',
      );
      if (page.cursor === null) break;
      await svc.saveCheckpoint({ cursor: page.cursor, expiresAt });
      page = await nextPage(svc, page.cursor);
    }
    await svc.trackDeletesEnd('MondayItem');
    await svc.clearCheckpoint();
  },
});

/** 50 minutes: before monday forgets the cursors of the first request. */
const cursorLifetime = 3_000_000;

async function firstPage(svc: Pick<SvcSync, 'post'>, boardId: string): Promise<ItemsPage> {
  const { boards } = await request<{ boards: { items_page: ItemsPage }[] }>(svc, {
    name: 'items',
    query: firstQuery,
    variables: { board: [boardId], limit },
    retries: 5,
  });
  const [board] = boards;
  if (board === undefined) throw new Error(`There is no board ${boardId}`);
  return board.items_page;
}

async function nextPage(svc: Pick<SvcSync, 'post'>, cursor: string): Promise<ItemsPage> {
  const { next_items_page: page } = await request<{ next_items_page: ItemsPage }>(svc, {
    name: 'nextItems',
    query: nextQuery,
    variables: { cursor, limit },
    retries: 5,
  });
  return page;
}

export default sync;
