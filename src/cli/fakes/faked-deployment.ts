import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { ApiError } from '#client/index.ts';
import { isObjectFixture, type ObjectFixture } from '#fake-providers/objects/fixture.ts';
import { counted } from '#kernel/counted.ts';
import { shellWord } from '#kernel/shell.ts';
import { objectOf } from '#kernel/stable-json.ts';
import { columns } from '../columns.ts';
import type { CompiledFunction, CompiledProjection } from '../compiler/compile.ts';
import type { Context } from '../context.ts';
import type { LocalProject } from '../deploy/missing-integrations.ts';
import { CommandFailure } from '../exit.ts';
import { mocksPath } from '../mocks/mocks.ts';
import { refusalText } from '../refusal-text.ts';
import { FakedSession, fakedConnection } from './faked-session.ts';
import { fixturesState } from './project-fakes.ts';
import { RunReport } from './run-report.ts';
import { announceFakes, readRunningFakes } from './running-fakes.ts';

const keysText = `Here, with Enter: c  documents change at the providers    d  some are deleted
                  r  all syncs run again, from the start    Ctrl-C  ends; the records are gone then`;

/** Deploys the functions of a project to a gateway of its own, with a connection of each integration to its fake. */
export class FakedDeployment implements AsyncDisposable {
  readonly #context: Context;
  readonly #isJson: boolean;
  readonly #stopListening: () => void;
  /** A Ctrl-C reaches a program that npm started twice: the second one must not cut its end short. */
  readonly #stopIgnoring: () => void;
  readonly #report: RunReport;
  #opening: Promise<FakedSession>;
  #announced: Disposable | null = null;
  #functions: readonly CompiledFunction[] = [];
  /** What was printed of functions and problems. */
  #shown = '';

  constructor(context: Context, { isJson }: { readonly isJson: boolean }) {
    const running = readRunningFakes(context.root);
    if (running !== null)
      throw new CommandFailure(
        `svc dev --fakes runs in this folder already (process ${running.pid})`,
      );
    this.#context = context;
    this.#isJson = isJson;
    this.#report = new RunReport((line) => this.#note(line), context.output.paint);
    this.#opening = this.#open(null);
    // It fails when its first functions are brought.
    this.#opening.catch(() => undefined);
    this.#stopIgnoring = context.onInterrupt(() => undefined);
    this.#stopListening = context.onLine((line) => void this.#obey(line));
  }

  /** Resolves with the functions that were new or changed. @throws ApiError */
  async bring({ root, functions }: LocalProject): Promise<readonly CompiledFunction[]> {
    const session = await this.#current(root);
    const runnable = functions.filter((one) => session.problemOf(keyOf(one)) === null);
    this.#functions = runnable;
    const keys = [...new Set(runnable.map(keyOf))];
    for (const key of keys) await session.createIntegration(key);
    const before = new Set(keys.filter((key) => session.isConnected(key)));
    const note = (): void => undefined;
    const fresh =
      runnable.length === 0
        ? []
        : await session.deployment.bring({ root, functions: runnable, note });
    for (const key of keys) await this.#connect(session, key);
    await this.#introduce(session, functions);
    for (const one of fresh) {
      const { artifact } = one;
      if (artifact.type !== 'sync') continue;
      // The others begin with their connection.
      if (before.has(keyOf(one)) || !artifact.auto_start) await this.#trigger(session, one, true);
    }
    return fresh;
  }

  /** Resolves with the projections that were new or changed. @throws ApiError */
  async bringProjections(
    projections: readonly CompiledProjection[],
  ): Promise<readonly CompiledProjection[]> {
    const session = await this.#current(this.#context.root);
    return session.deployment.bringProjections(projections);
  }

  async #open(before: FakedSession | null): Promise<FakedSession> {
    const { root, own } = this.#context;
    const session = await FakedSession.open({ root, version: own.version, before });
    this.#announced ??= announceFakes(root, session);
    this.#report.follow(session.client);
    return session;
  }

  /** A new one where fixtures have changed: the gateway reads its providers when it starts. */
  async #current(root: string): Promise<FakedSession> {
    const session = await this.#opening;
    if (session.fixtures === fixturesState(root)) return session;
    this.#note('Fixtures have changed: the fakes start again.');
    this.#report.stop();
    await session[Symbol.asyncDispose]();
    this.#opening = this.#open(session);
    return this.#opening;
  }

  async #connect(session: FakedSession, key: string): Promise<void> {
    if (session.isConnected(key)) return;
    try {
      await session.connect(key);
    } catch (error) {
      if (!(error instanceof ApiError)) throw error;
      this.#note(this.#context.output.paint('red', `${key} not connected: ${refusalText(error)}`));
    }
  }

  /** Prints where everything is, once and whenever there are other functions. */
  async #introduce(session: FakedSession, all: readonly CompiledFunction[]): Promise<void> {
    const rows = this.#functions.map((one) => [pathOf(one), this.#trial(session, one)]);
    const keys = [...new Set(all.map(keyOf))];
    const problems = keys.flatMap((key) => session.problemOf(key) ?? []);
    const text = JSON.stringify([session.url, rows, problems]);
    if (text === this.#shown) return;
    this.#shown = text;
    const { paint } = this.#context.output;
    for (const problem of problems)
      this.#note(paint('yellow', `Only checked, not run: ${problem}`));
    if (rows.length === 0) {
      this.#note('No function has a fake to run on. Add one: npx svc add');
      return;
    }
    this.#note(paint('bold', `Fakes of ${listOf(this.#functions)} run without an account.`));
    this.#note(`Each integration has the connection "${fakedConnection}" at ${session.url}\n`);
    for (const line of await columns(['function', 'in another terminal, in this folder'], rows, 2))
      this.#note(line);
    this.#note('');
    this.#note('npx svc runs list shows runs, npx svc console --open the console.');
    this.#note(`${keysText}\n`);
  }

  /** How the function is tried. */
  #trial(session: FakedSession, { entry, artifact }: CompiledFunction): string {
    const { integrationKey, name } = entry;
    if (artifact.type === 'on-event') return `(${artifact.event})`;
    if (artifact.type === 'on-change') return `(changes of ${artifact.models.join(', ')})`;
    if (artifact.type === 'sync') {
      const [model = ''] = artifact.output;
      return `npx svc records ${model} ${fakedConnection} -i ${integrationKey}`;
    }
    const fixture = session.fakeOf(integrationKey)?.fixtures.get(name);
    const input =
      fixture === undefined || isObjectFixture(fixture)
        ? savedInput(this.#context.root, integrationKey, name)
        : fixture.cases[0]?.input;
    const option = input === undefined ? '' : ` --input ${shellWord(JSON.stringify(input))}`;
    return `npx svc dryrun ${integrationKey}/actions/${name} ${fakedConnection}${option}`;
  }

  /** What somebody types. */
  async #obey(line: string): Promise<void> {
    try {
      const session = await this.#opening;
      if (line === 'c') await this.#change(session);
      else if (line === 'd') await this.#delete(session);
      else if (line === 'r') {
        for (const one of this.#functions) await this.#trigger(session, one, true);
      } else if (line !== '') this.#note(keysText);
    } catch (error) {
      this.#note(error instanceof ApiError ? refusalText(error) : (error as Error).message);
    }
  }

  async #change(session: FakedSession): Promise<void> {
    const changed = new Set<string>();
    for (const [key, name, fixture] of this.#objects(session)) {
      if (fixture.changes.length === 0) continue;
      session.fakeOf(key)?.api.dataset(name).change(fixture.changes);
      changed.add(key);
      this.#note(`${key}: ${counted(fixture.changes.length, 'document')} of ${name} changed`);
    }
    for (const one of this.#functions)
      if (changed.has(keyOf(one))) await this.#trigger(session, one, false);
  }

  async #delete(session: FakedSession): Promise<void> {
    const changed = new Set<string>();
    const fromStart = new Set<string>();
    for (const [key, name, { deletes, deleted }] of this.#objects(session)) {
      if (deleted.length === 0) continue;
      session.fakeOf(key)?.api.dataset(name).delete(deleted);
      changed.add(key);
      if (deletes.type === 'absent' && deletes.needs_reset) fromStart.add(`${key}/${name}`);
      this.#note(`${key}: ${counted(deleted.length, 'document')} of ${name} deleted`);
    }
    for (const one of this.#functions) {
      if (!changed.has(keyOf(one))) continue;
      await this.#trigger(session, one, fromStart.has(pathOf(one)));
    }
  }

  *#objects(session: FakedSession): Generator<[key: string, name: string, ObjectFixture]> {
    for (const key of new Set(this.#functions.map(keyOf))) {
      for (const [name, fixture] of session.fakeOf(key)?.fixtures ?? [])
        if (isObjectFixture(fixture)) yield [key, name, fixture];
    }
  }

  async #trigger(session: FakedSession, one: CompiledFunction, reset: boolean): Promise<void> {
    const { entry } = one;
    if (entry.kind !== 'sync' || !session.isConnected(keyOf(one))) return;
    const names = { provider_config_key: keyOf(one), connection_id: fakedConnection };
    const body = { ...names, syncs: [entry.name], opts: { reset } };
    await session.client.request('POST /sync/trigger', { body });
  }

  #note(line: string): void {
    if (!this.#isJson) this.#context.output.note(line);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    this.#stopListening();
    this.#report.stop();
    this.#announced?.[Symbol.dispose]();
    const session = await this.#opening.catch(() => null);
    await session?.[Symbol.asyncDispose]();
    // A session that opened meanwhile has announced itself.
    this.#announced?.[Symbol.dispose]();
    this.#stopIgnoring();
  }
}

const keyOf = ({ entry }: CompiledFunction): string => entry.integrationKey;
const pathOf = ({ entry }: CompiledFunction): string => `${entry.integrationKey}/${entry.name}`;

const listOf = (functions: readonly CompiledFunction[]): string =>
  new Intl.ListFormat('en', { style: 'long' }).format(new Set(functions.map(keyOf)));

/** Of `svc dryrun --save`. */
function savedInput(root: string, integrationKey: string, name: string): unknown {
  const file = join(root, mocksPath(integrationKey, name));
  return existsSync(file) ? objectOf(JSON.parse(readFileSync(file, 'utf8')))['input'] : undefined;
}
