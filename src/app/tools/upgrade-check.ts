import { existsSync, globSync } from 'node:fs';
import { join } from 'node:path';
import { DatabaseSync } from 'node:sqlite';
import { schemaText } from '#adapters/event-log/avro-codec.ts';
import {
  beyond,
  inspectLog,
  isBefore,
  type Release,
} from '#adapters/event-log/embedded/releases.ts';
import { Names } from '#adapters/event-log/kafka/names.ts';
import { RegistryClient } from '#adapters/event-log/registry/client.ts';
import { incompatibilities } from '#adapters/event-log/schema-compatibility.ts';
import { viewVersion } from '#control-plane/view-store.ts';
import { CannotStart } from '#kernel/cannot-start.ts';
import { addedTopics } from '#modules/extensions/registered.ts';
import { deadLetterTables } from '#modules/operations/dead-letters/view.ts';
import { asyncapiDocument } from '#modules/operations/topics/asyncapi.ts';
import { stateStoreVersion } from '#modules/records/owner/state/state-store.ts';
import { layout as incomingTables } from '#modules/webhooks/webhooks-in/incoming-store.ts';
import { layout as deliveryTables } from '#modules/webhooks/webhooks-out/delivery-store.ts';
import { controlStateVersion } from '#streams/owner/state-store.ts';
import { topics, type TopicName } from '#streams/topics.ts';
import type { Config } from '../config/config.ts';
import { release } from '../config/version.ts';
import { definitions } from '../process/entities.ts';
import { foldersOf } from '../process/folders.ts';
import { projections } from '../process/projections.ts';

/** What this release does with a part of an installation. Only `refused` prevents a start. */
export interface Finding {
  readonly part: string;
  readonly outcome: 'opens' | 'upgrades' | 'rebuilds' | 'refused';
  readonly detail: string;
}

const topicNames = Object.keys(topics) as TopicName[];
const requestMs = 10_000;

/**
 * Whether this release can open the log and the data folder of the settings. Reads only; the service may be running.
 * @throws CannotStart if there is no log to check
 */
export async function checkInstallation(config: Config): Promise<readonly Finding[]> {
  const { logUrl, registryUrl, topicPrefix } = config;
  const folders = foldersOf(config.dataDir);
  const stores = storeFindings(folders);
  if (logUrl.kind !== 'embedded' && registryUrl.kind !== 'embedded') {
    const registry = new RegistryClient(registryUrl.url);
    const names = new Names(topicPrefix);
    const versions = topicNames.map(async (topic) => {
      const found = await registry.versions(names.inKafka(`${topic}-value`));
      return [topic, found.map(({ definition }) => definition)] as const;
    });
    return [...schemaFindings(new Map(await Promise.all(versions))), ...stores];
  }
  const log = inspectLog(folders.log);
  if (log === null) {
    const message = `SVC_DATA_DIR: ${folders.log} has no event log. Name the data folder of a service.`;
    throw new CannotStart(message);
  }
  const registered = Map.groupBy(log.schemas, ({ subject }) => subject.replace(/-value$/, ''));
  const texts = [...registered].map(
    ([topic, schemas]) => [topic, schemas.map(({ definition }) => definition)] as const,
  );
  return [...logFindings(log), ...schemaFindings(new Map(texts)), ...stores];
}

function logFindings({ format, formatMax, releases }: NonNullable<ReturnType<typeof inspectLog>>) {
  const own = release();
  const written = releases.map(({ version }) => version).join(', ');
  return [
    { part: 'release', ...releaseOutcome(own, releases, written) },
    format > formatMax
      ? refused('log', `has format ${format}; release ${own.version} reads up to ${formatMax}`)
      : format < formatMax
        ? { part: 'log', outcome: 'upgrades', detail: `format ${format} to ${formatMax}` }
        : { part: 'log', outcome: 'opens', detail: `format ${format}` },
  ] satisfies Finding[];
}

function releaseOutcome(own: Release, releases: readonly Release[], written: string) {
  const later = beyond(releases, own);
  if (later !== null) {
    const detail = `written by ${later.version}, which opens from ${later.floor} on; this is ${own.version}`;
    return { outcome: 'refused', detail } as const;
  }
  const by = written === '' ? 'an earlier release' : written;
  return { outcome: 'opens', detail: `written by ${by}; this is ${own.version}` } as const;
}

const refused = (part: string, detail: string): Finding => ({ part, outcome: 'refused', detail });

/** @param registered by topic, the texts that the log or its registry has */
function schemaFindings(registered: ReadonlyMap<string, readonly string[]>): Finding[] {
  const faults = topicNames.flatMap((topic) => {
    const own = JSON.stringify(JSON.parse(schemaText(topic)));
    const reasons = (registered.get(topic) ?? []).flatMap((text) => incompatibilities(own, text));
    return reasons.length === 0
      ? []
      : [refused(`schema ${topic}`, [...new Set(reasons)].join('; '))];
  });
  if (faults.length > 0) return faults;
  const unknown = [...registered.keys()].filter(
    (topic) => !Object.hasOwn(topics, topic) && !topic.startsWith('svc.cdc.'),
  );
  const rest =
    unknown.length === 0 ? '' : `; unknown topics, left as they are: ${unknown.join(', ')}`;
  return [
    { part: 'schemas', outcome: 'opens', detail: `${registered.size} topics, compatible${rest}` },
  ];
}

/** Stores that are derived from the log: each has a version, and one of another version is rebuilt. */
function storeFindings({ state, views }: ReturnType<typeof foldersOf>): Finding[] {
  const expected = [
    ['state of the control plane', globOf(join(state, 'control'), '.sqlite'), controlStateVersion],
    ['state of records', globOf(join(state, 'records'), '.db'), stateStoreVersion],
    ['view of the control plane', fileOf(views, 'control'), viewVersion(definitions)],
    ['view of dead letters', fileOf(views, 'dead-letters'), deadLetterTables.version],
    ['view of received webhooks', fileOf(views, 'webhooks-in'), incomingTables.version],
    ['view of webhooks', fileOf(views, 'webhooks-out'), deliveryTables.version],
  ] as const;
  return expected.flatMap(([part, files, version]): Finding[] => {
    if (files.length === 0) return [];
    const other = files.filter((file) => versionOf(file) !== version).length;
    const count = files.length === 1 ? '1 file' : `${files.length} files`;
    return other === 0
      ? [{ part, outcome: 'opens', detail: count }]
      : [{ part, outcome: 'rebuilds', detail: `${other} of ${count}, from the log, at the start` }];
  });
}

const globOf = (folder: string, suffix: string): string[] =>
  globSync(`*${suffix}`, { cwd: folder }).map((name) => join(folder, name));

function fileOf(folder: string, name: string): string[] {
  const file = join(folder, `${name}.sqlite`);
  return existsSync(file) ? [file] : [];
}

/** Null: it cannot be read, and is rebuilt too. */
function versionOf(file: string): number | null {
  try {
    const db = new DatabaseSync(file, { readOnly: true });
    try {
      return Number(db.prepare('PRAGMA user_version').get()?.['user_version']);
    } finally {
      db.close();
    }
  } catch {
    return null;
  }
}

interface Gateway {
  readonly url: string;
  /** Of the account; null: projections are not compared. */
  readonly accountKey: string | null;
}

/**
 * Whether this release can take over from the running gateway, by its version and the schemas of its public topics.
 * @throws CannotStart if no gateway answers there
 */
export async function checkGateway({ url, accountKey }: Gateway): Promise<readonly Finding[]> {
  const read = async (path: string): Promise<unknown> => {
    const headers = accountKey === null ? {} : { authorization: `Bearer ${accountKey}` };
    try {
      const signal = AbortSignal.timeout(requestMs);
      const answer = await fetch(new URL(path, url), { headers, signal });
      if (answer.ok) return await answer.json();
      throw new Error(`it answered ${path} with ${answer.status}`);
    } catch (cause) {
      const reason = cause instanceof Error ? cause.message : String(cause);
      const message = `No gateway of this service answers at ${url}: ${reason}. Set SVC_HOSTPORT to its address.`;
      throw new CannotStart(message, { cause });
    }
  };
  const theirs = (await read('/asyncapi.json')) as ReturnType<typeof ownDocument>;
  return [
    versionFinding(theirs.info),
    ...messageFindings(theirs),
    ...(accountKey === null ? [] : tableFindings((await read('/projections')) as Projections)),
  ];
}

const ownDocument = () =>
  asyncapiDocument({ ...release(), ownedPartitions: 1, prefix: 'svc' }, addedTopics) as {
    readonly info: { readonly version: string; readonly 'x-data-floor'?: string };
    readonly components: {
      readonly messages: Readonly<
        Record<string, { readonly payload: { readonly schema?: object } }>
      >;
    };
  };

function versionFinding(info: ReturnType<typeof ownDocument>['info']): Finding {
  const own = release();
  const floor = info['x-data-floor'];
  const detail = `the gateway runs ${info.version}; this is ${own.version}`;
  if (floor !== undefined && isBefore(own.version, floor)) {
    return refused('release', `${detail}, and its data opens from ${floor} on`);
  }
  return { part: 'release', outcome: 'opens', detail };
}

function messageFindings({ components }: ReturnType<typeof ownDocument>): Finding[] {
  const own = ownDocument().components.messages;
  const compared = Object.entries(components.messages).flatMap(([id, { payload }]) => {
    const schema = own[id]?.payload.schema;
    if (payload.schema === undefined || schema === undefined) return [];
    return [
      { id, reasons: incompatibilities(JSON.stringify(schema), JSON.stringify(payload.schema)) },
    ];
  });
  const faults = compared.filter(({ reasons }) => reasons.length > 0);
  if (faults.length > 0) {
    return faults.map(({ id, reasons }) =>
      refused(`schema ${id}`, [...new Set(reasons)].join('; ')),
    );
  }
  const detail = `${compared.length} public ones, compatible`;
  return [{ part: 'schemas', outcome: 'opens', detail }];
}

interface Projections {
  readonly projections: readonly { readonly name: string; readonly schema_version: number }[];
}

function tableFindings({ projections: theirs }: Projections): Finding[] {
  return theirs.flatMap(({ name, schema_version: found }): Finding[] => {
    const own = projections.find((projection) => projection.name === name)?.schemaVersion;
    if (own === undefined) return [];
    const part = `tables ${name}`;
    if (own === found) return [{ part, outcome: 'opens', detail: `schema ${found}` }];
    const detail = `schema ${found}, then ${own}: run svc projections rebuild ${name} after the upgrade`;
    return [{ part, outcome: 'rebuilds', detail }];
  });
}
