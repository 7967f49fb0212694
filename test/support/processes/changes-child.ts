/**
 * A consumer of changes that takes its time: `changes-child.ts <journal> <addresses> <feed> <changes of a page> <ms of a
 * change>`. Asks one address after the other. `feed` is a subscription (`/subscriptions/…`), whose position the service
 * keeps, or `changes`, whose cursor the journal keeps. The journal has a page before it is worked on, and its cursor after
 * that is kept; a consumer that is killed goes on with the next one's journal.
 */
import { appendFileSync } from 'node:fs';
import { setTimeout as sleep } from 'node:timers/promises';
import { entriesOf, type ConsumedChange, type JournalEntry } from '../judges/changes-journal.ts';

interface Page {
  readonly changes: readonly ConsumedChange[];
  readonly cursor: string;
}

const [journal = '', addresses = '', feed = '', pageSize = '', msOfChange = ''] =
  process.argv.slice(2);
const urls = addresses.split(',');
const isSubscription = feed !== '/changes';
const authorization = `Bearer ${process.env['SVC_SECRET_KEY_DEV']}`;
const retryMs = 50;

/** The line of a killed consumer may be torn. */
const write = (entry: JournalEntry): void => appendFileSync(journal, `\n${JSON.stringify(entry)}`);

let turns = 0;

/** From the next address, until one answers. @throws Error when the request is refused */
async function ask<T>(path: string, init: RequestInit = {}): Promise<T> {
  for (;;) {
    turns += 1;
    const url = `${urls[turns % urls.length]}${path}`;
    const headers = { authorization, 'content-type': 'application/json' };
    const response = await fetch(url, { ...init, headers }).catch(() => null);
    const text = await response?.text().catch(() => null);
    if (response?.ok === true && typeof text === 'string') return JSON.parse(text) as T;
    // A gateway that is killed or starting, or one that has lost its place at the log.
    const isRefused = response !== null && response.status < 500 && response.status !== 429;
    if (isRefused) throw new Error(`${path}: ${response.status} ${text}`);
    await sleep(retryMs);
  }
}

let kept = entriesOf(journal).findLast((entry) => entry.type === 'kept')?.cursor;

async function keep(cursor: string): Promise<void> {
  if (isSubscription)
    await ask(`${feed}/commit`, { method: 'POST', body: JSON.stringify({ cursor }) });
  write({ type: 'kept', cursor });
  kept = cursor;
}

write({ type: 'started' });
for (;;) {
  const query = `limit=${pageSize}&wait_s=1`;
  const page: Page = isSubscription
    ? await ask(`${feed}/changes?${query}`)
    : await ask(`${feed}?${query}${kept === undefined ? '' : `&cursor=${kept}`}`);
  const changes = page.changes.map(({ id, connection_id, record_id, seq }) => ({
    id,
    connection_id,
    record_id,
    seq,
  }));
  if (changes.length > 0) write({ type: 'read', changes });
  await sleep(Number(msOfChange) * changes.length);
  // At the end of the log nothing is left to keep.
  if (page.cursor !== kept) await keep(page.cursor);
}
