import { readFile } from 'node:fs/promises';
import type { Answer, Client } from '#client/index.ts';
import { chainHash, chainStart, type ChainedEntry } from '#kernel/audit-chain.ts';
import { counted } from '#kernel/counted.ts';
import { accountHelp, withAccount } from '../account.ts';
import { showRows } from '../columns.ts';
import { defineCommand, type Options, type ValuesOf } from '../command.ts';
import type { Context } from '../context.ts';
import { CommandFailure, exitCodes, usageError } from '../exit.ts';

const options = {
  environment: [
    '--environment <name>',
    'the chain of this environment (name or id), or "account"; verify: all when absent',
  ],
  file: ['--file <file>', 'verify: the events of an export, without asking for them'],
  json: ['--json', 'chains, verify: the answer as JSON on stdout'],
} as const satisfies Options;
type Values = ValuesOf<typeof options>;

type Chain = Answer<'GET /audit/chains'>['data'][number];
type Line = ChainedEntry & { readonly chain_hash: string };

const pageSize = 2_000;

export const audit = defineCommand({
  name: 'audit',
  usage: '',
  summary: 'Export the audit trail, and verify that it is unchanged',
  about: `Each event of the audit trail holds a hash over itself and the hash before it, one chain for each environment and
one for the account. The owner of an environment keeps the end of its chain apart from the events.`,
  words: {
    chains: 'the chains: how long, and the hash they end with',
    export: 'the events of a chain as lines of JSON on stdout',
    verify: 'compute every hash again, and compare the end with what the owner keeps',
  },
  options,
  help: `${accountHelp}

Exit codes
  0 every chain is whole   1 failed   3 key missing or refused   5 a chain was changed

Examples
  svc audit chains
  svc audit export --environment account > audit.ndjson
  svc audit verify`,

  async run({ word, values }, context) {
    const { file } = values;
    if (word === 'verify' && file !== undefined)
      conclude(context, values, [await verifyFile(file)]);
    else {
      await withAccount(context, async (client) => {
        if (word === 'chains') await showChains(context, client, values);
        else if (word === 'export') await exportChain(context, client, values);
        else conclude(context, values, await verifyService(client, values.environment));
      });
    }
  },
});

const chainsOf = async (client: Client): Promise<readonly Chain[]> =>
  (await client.request('GET /audit/chains')).data;

async function showChains(context: Context, client: Client, { json }: Values): Promise<void> {
  const heads = ['chain', 'environment', 'events', 'ends with'];
  const cells = ({ environment, name, length, hash }: Chain) =>
    [environment, name ?? '', length, hash] as const;
  await showRows(context, json, await chainsOf(client), heads, cells, 2);
}

async function exportChain(
  context: Context,
  client: Client,
  { environment }: Values,
): Promise<void> {
  if (environment === undefined) {
    throw usageError('Name the chain: --environment <name>, or --environment account');
  }
  const chain = chainNamed(await chainsOf(client), environment);
  for await (const line of eventsOf(client, chain.environment))
    context.output.result(JSON.stringify(line));
}

/** By the name of its environment or by its id. @throws CommandFailure if there is none */
function chainNamed(chains: readonly Chain[], wanted: string): Chain {
  const found = chains.find(({ name, environment }) => name === wanted || environment === wanted);
  if (found !== undefined) return found;
  throw new CommandFailure(`There is no chain "${wanted}"; see: svc audit chains`);
}

/** The events of a chain, page by page. */
async function* eventsOf(client: Client, environment: string): AsyncGenerator<Line> {
  for (let from = 1; ;) {
    const query = new URLSearchParams({ environment, from: `${from}`, limit: `${pageSize}` });
    const page = linesOf(String(await client.send('GET', `/audit/export?${query.toString()}`)));
    yield* page;
    if (page.length < pageSize) return;
    from = (page.at(-1)?.seq ?? 0) + 1;
  }
}

const linesOf = (text: string): Line[] =>
  text
    .split('\n')
    .filter((line) => line !== '')
    .map((line) => JSON.parse(line) as Line);

interface Verdict {
  readonly environment: string;
  readonly events: number;
  /** The first event that does not fit; null = the chain is valid. */
  readonly broken: { readonly seq: number; readonly why: string } | null;
}

/** Prints the verdicts. @throws CommandFailure unless every chain is valid */
function conclude(context: Context, { json }: Values, verdicts: readonly Verdict[]): void {
  for (const verdict of verdicts) say(context, verdict, json === true);
  if (verdicts.every(({ broken }) => broken === null)) return;
  throw new CommandFailure('The audit trail was changed.', { exitCode: exitCodes.differs });
}

async function verifyService(client: Client, wanted: string | undefined): Promise<Verdict[]> {
  const chains = await chainsOf(client);
  const chosen = wanted === undefined ? chains : [chainNamed(chains, wanted)];
  const verdicts: Verdict[] = [];
  for (const chain of chosen) {
    const verifier = new ChainVerifier(chain.environment);
    for await (const line of eventsOf(client, chain.environment)) verifier.take(line);
    verdicts.push(verifier.verdict(chain));
  }
  return verdicts;
}

/** An export is only verified against itself. */
async function verifyFile(file: string): Promise<Verdict> {
  const lines = linesOf(await readFile(file, 'utf8'));
  const verifier = new ChainVerifier(lines[0]?.environment ?? 'account');
  for (const line of lines) verifier.take(line);
  return verifier.verdict(null);
}

/** Verifies one chain up to the first event that does not fit. */
class ChainVerifier {
  readonly #environment: string;
  #events = 0;
  #last: Line | null = null;
  /** By seq, for an end before the newest event. */
  readonly #hashes = new Map<number, string>();
  #broken: Verdict['broken'] = null;

  constructor(environment: string) {
    this.#environment = environment;
  }

  take(line: Line): void {
    this.#events += 1;
    const before = this.#last;
    this.#last = line;
    this.#hashes.set(line.seq, line.chain_hash);
    if (this.#broken !== null) return;
    const why = this.#whyNot(line, before);
    if (why !== null) this.#broken = { seq: line.seq, why };
  }

  #whyNot(line: Line, before: Line | null): string | null {
    if (line.environment !== this.#environment) return 'it belongs to another chain';
    if (before !== null && line.seq !== before.seq + 1)
      return `events are missing after ${before.seq}`;
    // Older events have expired: the first remaining one is taken as valid.
    if (before === null && line.seq !== 1) return null;
    const expected = chainHash(before?.chain_hash ?? chainStart, line);
    return expected === line.chain_hash ? null : 'its hash does not match its content';
  }

  /** @param end the end as the owner keeps it; later events are ignored */
  verdict(end: Chain | null): Verdict {
    const broken = this.#broken ?? (end === null ? null : this.#endsOtherwise(end));
    return { environment: this.#environment, events: this.#events, broken };
  }

  #endsOtherwise({ length, hash }: Chain): Verdict['broken'] {
    const found = this.#hashes.get(length);
    if (found === hash) return null;
    const why = found === undefined ? 'the events up to the end are missing' : 'the end differs';
    return { seq: length, why };
  }
}

function say({ output }: Context, verdict: Verdict, isJson: boolean): void {
  if (isJson) {
    output.result(JSON.stringify(verdict));
    return;
  }
  const { environment, events, broken } = verdict;
  if (broken === null) output.result(`${environment}: whole, ${counted(events, 'event')}`);
  else output.result(`${environment}: changed at event ${broken.seq}: ${broken.why}`);
}
