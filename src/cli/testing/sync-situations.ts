import type { Answer } from '#fake-providers/exchange.ts';
import { reportedLimit } from '#fake-providers/limited.ts';
import { filledUp } from '#fake-providers/objects/dataset.ts';
import { changeTimeOf, type ObjectFixture } from '#fake-providers/objects/fixture.ts';
import type { LoggedPage } from '#fake-providers/objects/object-api.ts';
import { timeOf } from '#fake-providers/objects/times.ts';
import { atPath, plainText } from '#kernel/json-path.ts';
import { isJsonObject, type Json, type JsonObject } from '#kernel/stable-json.ts';
import { expectEqual, expectTrue } from './expectations.ts';
import { TemplateAccount, tokenEnded, type StoredRecord } from './template-account.ts';
import type { DeployedTemplate } from './template-world.ts';
import { webhooks } from './webhook-situation.ts';

/** Documents of a page, so that few documents are several pages. */
const pageMax = 2;
/** A short limit, whose end the provider reports. */
const limitSeconds = 1;

type Play = (stage: SyncStage) => Promise<void>;

/** The situations that a sync has to survive, by name. */
export function syncSituations(fixture: ObjectFixture): ReadonlyMap<string, Play> {
  const all: [string, Play][] = [
    ['first sync', firstSync],
    ['incremental sync', incrementalSync],
    ['delete', deletion],
    ['empty page', emptyPage],
    ['rate limit', rateLimit],
    ['expired token', expiredToken],
    ['resume after a kill', resumption],
  ];
  const played = all.filter(([name]) => name !== 'delete' || fixture.deletes.type !== 'none');
  if (fixture.refused_positions.length > 0) played.push(['refused position', refusedPosition]);
  if (fixture.webhooks.length > 0) played.push(['webhooks', webhooks]);
  return new Map(played);
}

/** A situation's account, the fake's data and the fixture. */
export class SyncStage {
  readonly template: DeployedTemplate;
  readonly fixture: ObjectFixture;
  readonly account: TemplateAccount;
  readonly documents: readonly JsonObject[];

  constructor(template: DeployedTemplate, fixture: ObjectFixture, account: TemplateAccount) {
    this.template = template;
    this.fixture = fixture;
    this.account = account;
    this.documents = severalPages(fixture);
    template.fake.api.pageMax = pageMax;
    this.dataset.reset(this.documents);
  }

  get api() {
    return this.template.fake.api;
  }

  get dataset() {
    return this.api.dataset(this.template.entry.name);
  }

  /** Pages of the object itself. */
  get pages() {
    return this.api.pages.filter(({ object }) => object === this.template.entry.name);
  }

  connect(): Promise<void> {
    return this.account.connect(this.fixture.metadata);
  }

  /** Whether the object of the fixture comes in more than one page. */
  get isPaged(): boolean {
    return this.fixture.lists.some(({ pagination: { type } }) => type !== 'none');
  }

  /** Every document is a record, and those of the fixture are whole. */
  async expectAll(): Promise<void> {
    for (const [model, expected] of Object.entries(this.fixture.records ?? {})) {
      const stored = await this.account.records(model);
      const added = this.documents.length - this.fixture.documents.length;
      const count = (this.fixture.counts[model] ?? this.fixture.documents.length) + added;
      expectEqual(livingOf(stored).length, count, `living records of ${model}`);
      expectRecords(stored, expected, model);
    }
  }
}

/**
 * An offset counts rows of the size that was asked for: there, only many documents are several pages. Where the API repeats
 * its last page, that page is full: its length says nothing.
 */
function severalPages({ documents, lists, id }: ObjectFixture): readonly JsonObject[] {
  const counts = lists.flatMap(({ pagination, limit }) => {
    if (pagination.type !== 'offset') return [];
    const size = limit?.max ?? documents.length;
    return [pagination.repeats_last ? size * 2 : size * 2 + 1];
  });
  return filledUp(documents, id, Math.max(1, ...counts));
}

const livingOf = (records: readonly StoredRecord[]): StoredRecord[] =>
  records.filter(({ _svc_metadata: { deleted_at: at } }) => at === null);

function expectRecords(
  stored: readonly StoredRecord[],
  expected: readonly JsonObject[],
  model: string,
): void {
  const byId = new Map(stored.map(({ _svc_metadata: _, ...fields }) => [fields.id, fields]));
  for (const record of expected) {
    const id = plainText(record['id'] ?? null);
    expectEqual(byId.get(id), record, `the record ${id} of ${model}`);
  }
}

async function firstSync(stage: SyncStage): Promise<void> {
  const { fixture } = stage;
  expectTrue(fixture.records !== undefined, 'the fixture has no "records"');
  await stage.connect();
  await stage.account.sync();
  await stage.expectAll();
  expectTrue(stage.pages.length > 0, `no page of ${stage.template.entry.name} was listed`);
  const isLastListed = stage.pages.some(({ isLast }) => isLast);
  expectTrue(isLastListed, 'the last page was not listed');
  if (stage.isPaged) expectTrue(stage.pages.length > 1, 'one page was listed instead of several');
}

async function incrementalSync(stage: SyncStage): Promise<void> {
  const { fixture, dataset, account } = stage;
  expectTrue(fixture.changes.length > 0, 'the fixture has no "changes"');
  expectTrue(fixture.changed_records !== undefined, 'the fixture has no "changed_records"');
  await stage.connect();
  await account.sync();
  const listed = stage.api.pages.length;
  const before = new Set(stage.documents.map((document) => dataset.idOf(document)));
  const changed = dataset.change(fixture.changes);
  await account.sync();
  const added = fixture.changes.filter((document) => !before.has(dataset.idOf(document)));
  for (const [model, expected] of Object.entries(fixture.changed_records)) {
    const stored = await account.records(model);
    const stamped = expected.map((record) => withChangeTime(record, changed, fixture));
    expectRecords(stored, stamped, model);
    if (fixture.counts[model] !== undefined) continue;
    const count = stage.documents.length + added.length;
    expectEqual(livingOf(stored).length, count, `living records of ${model}`);
  }
  const pages = stage.api.pages
    .slice(listed)
    .filter(({ object }) => object === stage.template.entry.name);
  expectChangesAlone(fixture, pages);
}

function expectChangesAlone({ lists }: ObjectFixture, pages: readonly LoggedPage[]): void {
  const isOrderedByChange = lists.some(({ changed }) => changed !== undefined);
  const isIncremental = lists.some(({ filter, delta, pagination }) => {
    const isContinued = pagination.type === 'cursor' && pagination.is_continued;
    return filter !== undefined || delta !== undefined || isContinued;
  });
  if (!isIncremental && !isOrderedByChange) return;
  const isAsked = isOrderedByChange
    ? pages.length > 0 && !pages.some(({ isLast }) => isLast)
    : pages.some((page) => page.isIncremental);
  expectTrue(isAsked, 'the second run did not ask for changes alone');
}

/** `{changed_at}` is the time of the change as the provider notes it; `{changed_at:iso}` as ISO 8601 of UTC. */
function withChangeTime(
  record: JsonObject,
  changed: readonly JsonObject[],
  { lists }: ObjectFixture,
): JsonObject {
  const field = lists.map(changeTimeOf).find((path) => path !== undefined);
  if (field === undefined) return record;
  const time = atPath(changed[0], field) ?? null;
  const iso = new Date(timeOf(time)).toISOString();
  const values: Readonly<Record<string, Json>> = { '{changed_at}': time, '{changed_at:iso}': iso };
  return replaced(record, values) as JsonObject;
}

function replaced(value: Json, values: Readonly<Record<string, Json>>): Json {
  if (typeof value === 'string') return values[value] ?? value;
  if (Array.isArray(value)) return value.map((item: Json) => replaced(item, values));
  if (!isJsonObject(value)) return value;
  return Object.fromEntries(
    Object.entries(value).map(([name, inner]) => [name, replaced(inner, values)]),
  );
}

async function deletion(stage: SyncStage): Promise<void> {
  const { fixture, dataset, account } = stage;
  expectTrue(fixture.deleted.length > 0, 'the fixture has no "deleted"');
  await stage.connect();
  await account.sync();
  dataset.delete(fixture.deleted);
  const { deletes } = fixture;
  await account.sync({ reset: deletes.type === 'absent' && deletes.needs_reset });
  const byDefault = fixture.deleted.map(String);
  for (const model of Object.keys(fixture.records ?? {})) {
    const stored = await account.records(model);
    const deleted = stored.filter(({ _svc_metadata: { deleted_at: at } }) => at !== null);
    const expected = fixture.deleted_records?.[model] ?? byDefault;
    expectEqual(deleted.map(({ id }) => id).sort(), [...expected].sort(), `deleted ${model}`);
  }
}

/** An account without documents; then one whose pages may be empty in the middle. */
async function emptyPage(stage: SyncStage): Promise<void> {
  const { fixture, dataset, account, api } = stage;
  dataset.reset([]);
  await stage.connect();
  await account.sync();
  for (const model of Object.keys(fixture.records ?? {})) {
    if (fixture.counts[model] === 0) continue;
    expectEqual(livingOf(await account.records(model)).length, 0, `records of ${model}`);
  }
  const mayBeEmpty = fixture.lists.some(
    ({ pagination }) => 'has_empty_pages' in pagination && pagination.has_empty_pages,
  );
  if (!mayBeEmpty) return;
  dataset.reset(stage.documents);
  api.insertsEmptyPages = true;
  await account.sync({ reset: true });
  await stage.expectAll();
}

/** The first page gets the limit of the catalog: the function waits as long as the provider says, and asks again. */
async function rateLimit(stage: SyncStage): Promise<void> {
  const { api, account } = stage;
  const { played, provider } = stage.template.fake;
  await stage.connect();
  const begun = played.asked.length;
  let isPlayed = false;
  api.interrupt = () => {
    if (isPlayed) return null;
    isPlayed = true;
    const { answer, endsAt } = reportedLimit(provider, limitSeconds);
    played.limitUntil(endsAt, answer);
    return { ...answer, isLimit: true };
  };
  await account.sync();
  await stage.expectAll();
  const limited = played.asked.slice(begun).filter(({ outcome }) => outcome === 'limited');
  expectEqual(limited.length, 1, 'requests within the limit (a request must wait for its end)');
}

/** Between two pages the token ends: it is refreshed, or new credentials are needed. */
async function expiredToken(stage: SyncStage): Promise<void> {
  const { api, account } = stage;
  const { played } = stage.template.fake;
  await stage.connect();
  const endAfter = stage.isPaged ? 1 : 0;
  let isEnded = false;
  api.interrupt = (page) => {
    if (isEnded || page < endAfter) return null;
    isEnded = true;
    played.endTokens();
    return tokenEnded;
  };
  const failure = await account.sync().then(
    () => null,
    (error: unknown) => error as Error,
  );
  expectTrue(isEnded, `the function asked for no page ${endAfter + 1}`);
  if (failure !== null) {
    expectTrue(
      !account.isRefreshed,
      `the run failed with a token that can be refreshed: ${failure.message}`,
    );
    expectTrue(failure.message.includes('401'), `401 was hidden: ${failure.message}`);
    await stage.connect();
    await account.sync();
  }
  await stage.expectAll();
}

/** Ends a run between two pages; no retry follows it. */
const broken: Answer = { status: 418, body: { error: 'broken' } };

/**
 * A run that goes on where an interrupted one ended gets each refusal of the fixture: it reads everything again, at once
 * or in the next run. So does a run whose token of changes is refused.
 */
async function refusedPosition(stage: SyncStage): Promise<void> {
  const { fixture } = stage;
  await stage.connect();
  for (const refusal of fixture.refused_positions) {
    await interruptedRun(stage);
    await runRefused(stage, refusal);
    if (!fixture.lists.some(({ delta }) => delta !== undefined)) continue;
    await runRefused(stage, refusal);
  }
}

/** A run from the start that ends after its first page. */
async function interruptedRun({ api, account }: SyncStage): Promise<void> {
  let asked = 0;
  api.interrupt = () => {
    asked += 1;
    return asked === 1 ? null : broken;
  };
  const failure = await account.sync({ reset: true }).then(
    () => null,
    (error: unknown) => error as Error,
  );
  api.interrupt = () => null;
  expectTrue(failure !== null, 'the run did not end after its first page');
}

/** A run whose first request is refused so, and one more if it leaves the list to it. */
async function runRefused(stage: SyncStage, refusal: Answer): Promise<void> {
  const { api, account } = stage;
  let isRefused = false;
  api.interrupt = () => {
    if (isRefused) return null;
    isRefused = true;
    return refusal;
  };
  const listed = stage.pages.length;
  await account.sync();
  if (stage.pages.length === listed) await account.sync();
  const [first] = stage.pages.slice(listed);
  expectTrue(first?.isFirst === true, 'the function did not begin again');
  await stage.expectAll();
}

/** The gateway is killed when half of the second page has come. */
async function resumption(stage: SyncStage): Promise<void> {
  const { api, account } = stage;
  const { gateway } = stage.template;
  await stage.connect();
  const killedAt = stage.isPaged ? 1 : 0;
  const halfSent = Promise.withResolvers<undefined>();
  let isKilled = false;
  api.interrupt = (page) => {
    if (isKilled || page < killedAt) return null;
    isKilled = true;
    halfSent.resolve(undefined);
    return 'half';
  };
  await account.trigger();
  await Promise.race([halfSent.promise, account.finished()]);
  expectTrue(isKilled, `the function asked for no page ${killedAt + 1}`);
  await gateway.kill();
  const listed = stage.pages.length;
  await gateway.restart();
  await account.resume();
  await account.finished();
  await stage.expectAll();
  const [resumed] = stage.pages.slice(listed);
  expectTrue(resumed !== undefined, 'nothing was listed after the restart');
  if (!stage.isPaged || stage.fixture.resumes === 'start') return;
  const isAgain = resumed.isFirst && !resumed.isIncremental;
  const shown = stage.pages.map(({ documents }, index) => {
    const ids = documents.map((document) => stage.dataset.idOf(document)).join();
    return `  ${index < listed ? 'before' : 'after'} the kill: ${ids}`;
  });
  expectTrue(
    !isAgain,
    `the run began with the first page again: it saves no checkpoint. Pages:\n${shown.join('\n')}`,
  );
}
