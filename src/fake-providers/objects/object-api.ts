import { isJsonObject } from '#kernel/stable-json.ts';
import { demand, Refusal, type Answer, type ReceivedRequest } from '../exchange.ts';
import type { PlayedProvider } from '../play.ts';
import { Dataset } from './dataset.ts';
import {
  isObjectFixture,
  type Exchange,
  type Fixture,
  type ListRules,
  type ObjectFixture,
} from './fixture.ts';
import { isLike } from './likeness.ts';
import { listPage, tokenText, type ListedPage } from './listing.ts';
import { SentParameters } from './parameters.ts';
import { isVerification } from './verification.ts';

/** A list of an object and the values of the `{name}` in its endpoint. */
interface ListMatch {
  readonly name: string;
  readonly rules: ListRules;
  readonly parents: Readonly<Record<string, string>>;
}

type Rules = Pick<NonNullable<PlayedProvider['definition']['proxy']>, 'query' | 'verification'>;

/** A page that was listed, in order. */
export interface LoggedPage extends Omit<ListedPage, 'answer'> {
  /** Name of the fixture. */
  readonly object: string;
}

/** What comes in place of a page: another response, or half of the page on a connection that stays open. */
export type Interruption = Answer | 'half';

/** The API of a provider, as its fixtures describe it. What the documentation does not have is refused. */
export class ObjectApi {
  /** Pages have at most so many documents; null: as many as are asked for. */
  pageMax: number | null = null;
  insertsEmptyPages = false;
  /** Called before each page with its number, from 0. */
  interrupt: (page: number) => Interruption | null = () => null;
  readonly pages: LoggedPage[] = [];
  /** Exchanges of the case that is played, before those of the objects. */
  exchanges: readonly Exchange[] = [];
  /**
   * Whether requests that no object answers get the response of the most similar exchange of a case: an action then
   * works with any input.
   */
  answersFromCases = false;
  readonly exchanged: Exchange[] = [];
  #address = '';
  readonly #fixtures = new Map<string, ObjectFixture>();
  readonly #datasets = new Map<string, Dataset>();
  readonly #cases: readonly Exchange[];
  /** Parameters with which the definition places credentials. */
  readonly #ownParameters: ReadonlySet<string>;
  readonly #verification: Rules['verification'];

  constructor(fixtures: ReadonlyMap<string, Fixture>, { query = {}, verification }: Rules = {}) {
    this.#ownParameters = new Set(Object.keys(query));
    this.#verification = verification;
    this.#cases = [...fixtures.values()].flatMap((fixture) =>
      isObjectFixture(fixture) ? [] : fixture.cases.flatMap(({ exchanges }) => exchanges),
    );
    for (const [name, fixture] of fixtures) {
      if (!isObjectFixture(fixture)) continue;
      this.#fixtures.set(name, fixture);
      this.#datasets.set(name, new Dataset(fixture));
    }
  }

  dataset(name: string): Dataset {
    const dataset = this.#datasets.get(name);
    if (dataset === undefined) throw new Error(`fixtures/${name}.json has no list`);
    return dataset;
  }

  /** Forgets what was changed, asked for and planned. */
  reset(): void {
    for (const [name, fixture] of this.#fixtures) this.dataset(name).reset(fixture.documents);
    this.pages.length = 0;
    this.exchanged.length = 0;
    this.exchanges = [];
    this.interrupt = () => null;
    this.insertsEmptyPages = false;
  }

  /**
   * @param path below the base URL
   * @throws Refusal
   */
  answer(request: ReceivedRequest, path: string): Answer {
    const sent = new SentParameters(request);
    const own = [...this.#fixtures.values()].flatMap(({ exchanges }) => exchanges);
    const exchange = this.#exchange([...this.exchanges, ...own], request, path, sent);
    if (exchange !== null) {
      this.exchanged.push(exchange);
      const { status, headers, body } = exchange.response;
      return { status, headers, body: this.#withAddress(sent, this.#withToken(exchange, body)) };
    }
    // A try of credentials is none of the requests of a function: it is no page and needs no fixture.
    if (isVerification(this.#verification, request, this.#ownParameters)) {
      return { status: 200, body: { ok: true } };
    }
    const sample = this.answersFromCases ? this.#sample(request, path, sent) : null;
    if (sample !== null && this.#isSent(sample, sent)) return sample.response;
    const list = this.#list(request, path, sent);
    if (list !== null) return this.#page(list, request, sent);
    const item = this.#item(request, path);
    if (item !== null) return item;
    if (sample !== null) return sample.response;
    throw new Refusal(404, 'not_found', `no_fixture: ${request.method} ${path}`);
  }

  #page({ name, rules, parents }: ListMatch, request: ReceivedRequest, sent: SentParameters) {
    this.#demandParameters(sent.query, rules);
    const { answer, ...page } = listPage({
      rules,
      parents,
      request,
      sent,
      dataset: this.dataset(name),
      pageMax: this.pageMax,
      insertsEmptyPage: this.insertsEmptyPages,
    });
    const interruption = this.interrupt(this.pages.length);
    if (interruption !== null && interruption !== 'half') return interruption;
    this.pages.push({ object: name, ...page });
    return interruption === 'half' ? { ...answer, isHalf: true as const } : answer;
  }

  #list({ method }: ReceivedRequest, path: string, sent: SentParameters): ListMatch | null {
    const matches: ListMatch[] = [];
    for (const [name, { lists }] of this.#fixtures) {
      for (const rules of lists) {
        const parents = placeholdersOf(rules.endpoint, path);
        if (rules.method !== method || parents === null || !sent.has(rules.params)) continue;
        if (!sent.matches(rules.patterns)) continue;
        matches.push({ name, rules, parents });
      }
    }
    const precision = ({ rules, parents }: ListMatch): number =>
      Object.keys({ ...rules.params, ...rules.patterns }).length - Object.keys(parents).length;
    return matches.sort((one, other) => precision(other) - precision(one))[0] ?? null;
  }

  #item({ method, url }: ReceivedRequest, path: string): Answer | null {
    if (method !== 'GET') return null;
    for (const [name, { item }] of this.#fixtures) {
      const [id] = Object.values((item && placeholdersOf(item.endpoint, path)) ?? {});
      if (item === undefined || id === undefined) continue;
      this.#demandKnown(url.searchParams, item.parameters);
      const entry = this.dataset(name).find(id);
      if (entry === undefined || entry.isDeleted)
        throw new Refusal(404, 'not_found', `no_such_document: ${path}`);
      const body = item.document === '' ? entry.document : { [item.document]: entry.document };
      return { status: 200, body };
    }
    return null;
  }

  /** `{token}` in the response of a fixture is a token of its present state. */
  #withToken(exchange: Exchange, body: Answer['body']): Answer['body'] {
    const [name] =
      [...this.#fixtures].find(([, { exchanges }]) => exchanges.includes(exchange)) ?? [];
    if (name === undefined || !isJsonObject(body)) return body;
    const token = tokenText(this.dataset(name).version);
    return Object.fromEntries(
      Object.entries(body).map(([field, value]) => [field, value === '{token}' ? token : value]),
    );
  }

  /** `{address}` in a response is the address of webhooks that the function has sent. */
  #withAddress({ query, body: sent }: SentParameters, body: Answer['body']): Answer['body'] {
    const [address] =
      /https?:[^"]+\?svcConnectionId=[^"]+/.exec(JSON.stringify([sent, ...query])) ?? [];
    this.#address = address ?? this.#address;
    const text = JSON.stringify(body).replaceAll('{address}', this.#address);
    return JSON.parse(text) as Answer['body'];
  }

  #exchange(
    all: readonly Exchange[],
    { method }: ReceivedRequest,
    path: string,
    sent: SentParameters,
  ): Exchange | null {
    const same = all.filter(
      (one) => one.method === method && placeholdersOf(one.endpoint, path) !== null,
    );
    if (same.length === 0) return null;
    const found = same.filter((one) => this.#isSent(one, sent));
    // The same request again gets the next response.
    const fresh = found.find((one) => !this.exchanged.includes(one)) ?? found.at(-1);
    if (fresh !== undefined) return fresh;
    const query = sent.query.toString();
    const shown = `${method} ${path}${query === '' ? '' : `?${query}`} ${JSON.stringify(sent.body)}`;
    throw new Refusal(400, 'invalid_request', `other_request: ${shown}`);
  }

  /** The exchange of a case at the endpoint whose body has the most fields in common with what is sent. */
  #sample({ method }: ReceivedRequest, path: string, sent: SentParameters): Exchange | null {
    const common = ({ body, form }: Exchange): number => {
      const fields = form ?? (isJsonObject(body) ? body : {});
      const same = Object.entries(fields).filter(([name, value]) =>
        isLike(value, sent.body[name] ?? null),
      );
      return same.length;
    };
    const found = this.#cases.filter(
      (one) => one.method === method && placeholdersOf(one.endpoint, path) !== null,
    );
    const exact = found.find((one) => this.#isSent(one, sent));
    return exact ?? found.sort((one, other) => common(other) - common(one))[0] ?? null;
  }

  #isSent({ params, headers, body, form }: Exchange, sent: SentParameters): boolean {
    const query = Object.fromEntries(
      [...sent.query].filter(([name]) => !this.#ownParameters.has(name)),
    );
    const isSameBody =
      body === undefined && form === undefined ? true : isLike(form ?? body ?? {}, sent.body);
    const hasHeaders = Object.entries(headers).every(([name, value]) =>
      isLike(value, sent.headers[name]),
    );
    return isSameBody && hasHeaders && isLike(params, query);
  }

  #demandParameters(query: URLSearchParams, rules: ListRules): void {
    const { params, patterns, parameters, pagination, limit, filter, delta, orders } = rules;
    this.#demandKnown(query, [
      ...Object.keys(params),
      ...Object.keys(patterns),
      ...parameters,
      ...('name' in pagination ? [pagination.name] : []),
      ...[limit, filter, delta].flatMap((one) => one?.name ?? []),
      ...orders.flatMap((order) => Object.keys(order.params)),
    ]);
  }

  #demandKnown(query: URLSearchParams, names: readonly string[]): void {
    for (const name of query.keys()) {
      const isKnown = names.includes(name) || this.#ownParameters.has(name);
      demand(isKnown, `unknown_parameter: ${name}`);
    }
  }
}

/** The values at the `{name}` of an endpoint; null: the path is another. */
function placeholdersOf(endpoint: string, path: string): Record<string, string> | null {
  const wanted = endpoint.split('/');
  const segments = path.split('/');
  if (wanted.length !== segments.length) return null;
  const values: Record<string, string> = {};
  for (const [at, part] of wanted.entries()) {
    const segment = segments[at] ?? '';
    const name = /^\{(\w+)\}/.exec(part)?.[1];
    if (name === undefined && part !== segment) return null;
    const ending = name === undefined ? '' : part.slice(name.length + '{}'.length);
    if (!segment.endsWith(ending)) return null;
    if (name !== undefined)
      values[name] = decodeURIComponent(segment.slice(0, segment.length - ending.length));
  }
  return values;
}
