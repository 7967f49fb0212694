/** Whose credential an endpoint takes: a key of an environment, of the account, or of either, a connect token, or none. */
export type Takes = 'environment' | 'account' | 'key' | 'connect' | 'none';

/** Names that a request uses: all of things that are there, or all of things that are not. */
export interface Names {
  /** An integration that one environment alone has. */
  readonly integration: string;
  /** An integration that every environment has under this key. */
  readonly shared: string;
  /** A connection of `shared`. */
  readonly connection: string;
  /** Its credentials. */
  readonly apiKey: string;
  /** A deployed sync of `shared`. */
  readonly sync: string;
  readonly variant: string;
  readonly variable: string;
  /** Of the environment `dev` of the account, or of none. */
  readonly environmentId: number;
  /** Id of a queued action. */
  readonly action: string;
  /** Place of a record in its stream. */
  readonly cursor: string;
}

export interface Sent {
  /** With its query. */
  readonly path: string;
  readonly body?: unknown;
  readonly headers?: Readonly<Record<string, string>>;
}

/** An endpoint as it must be, written apart from its route, and one request for it. */
export interface Row {
  /** `GET /connections/{connectionId}` */
  readonly endpoint: string;
  readonly takes: Takes;
  /** Whether a connect token passes beside a key. */
  readonly withConnectToken: boolean;
  /** Where a connect token stands. */
  readonly tokenIn: 'header' | 'query';
  /** Any one of them passes, without the `environment:` or `account:`; empty = any key of the right kind. */
  readonly scopes: readonly string[];
  /** Null: the contract names it, and this version does not have it. */
  readonly call: Call | null;
}

export interface Call {
  /** The answer to a caller with access. */
  readonly status: number;
  readonly send: (names: Names) => Sent;
  /**
   * `present` (default): the request names things that are there. `missing`: it would change or remove them, so
   * that the table names things that are not there.
   */
  readonly on: 'present' | 'missing';
  /** The request makes something in the environment of the key, whatever others have under that name. */
  readonly isCreating: boolean;
}

type Demanded = Omit<Row, 'endpoint' | 'call'>;

/** K and A of the contract with a scope or several; `*` is Full access, '' any key of that kind. */
export const K = (scopes: string): Demanded => demanded('environment', scopes);
export const KorC = (scopes: string): Demanded => ({ ...K(scopes), withConnectToken: true });
export const A = (scopes: string): Demanded => demanded('account', scopes);
/** C and Q of the contract: a connect token in the header, or in the query. */
export const C = demanded('connect', '');
export const Q: Demanded = { ...C, tokenIn: 'query' };
export const open = demanded('none', '');
/** K or A, without a scope. */
export const anyKey = demanded('key', '');

function demanded(takes: Takes, scopes: string): Demanded {
  const list = scopes === '' ? [] : scopes.split('|');
  return { takes, withConnectToken: takes === 'connect', tokenIn: 'header', scopes: list };
}

/** A row whose request changes nothing, or changes it to what it is. */
export const row = (
  endpoint: string,
  demands: Demanded,
  status: number,
  send?: (names: Names) => Partial<Sent>,
): Row => made(endpoint, demands, { status, send, on: 'present', isCreating: false });

/** A row whose request would change or remove what it names. */
export const changing = (
  endpoint: string,
  demands: Demanded,
  status: number,
  send: (names: Names) => Partial<Sent>,
): Row => made(endpoint, demands, { status, send, on: 'missing', isCreating: false });

/** A row whose request makes what it names where that is not there. */
export const creating = (
  endpoint: string,
  demands: Demanded,
  status: number,
  send: (names: Names) => Partial<Sent>,
): Row => made(endpoint, demands, { status, send, on: 'present', isCreating: true });

/** Of the contract, but not of this version. */
export const absent = (endpoint: string, demands: Demanded): Row => ({
  endpoint,
  ...demands,
  call: null,
});

function made(
  endpoint: string,
  demands: Demanded,
  call: Omit<Call, 'send'> & { send?: ((names: Names) => Partial<Sent>) | undefined },
): Row {
  const path = endpoint.slice(endpoint.indexOf(' ') + 1);
  const { send } = call;
  return {
    endpoint,
    ...demands,
    call: { ...call, send: (names) => ({ path, ...send?.(names) }) },
  };
}
