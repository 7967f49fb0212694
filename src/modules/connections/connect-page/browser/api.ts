import type { OwnTexts } from '#modules/access/connect-ui/texts/translate.ts';
import type { Issue } from './field-problem.ts';
import type { ConnectRequest, ProviderForm } from './form.ts';

/** The session in the response of the service (docs/reference/http.md#connect-sessions). */
export interface Session {
  readonly connectUISettings?: ConnectUiSettings;
  readonly allowed_integrations?: readonly string[];
  readonly integrations_config_defaults?: Readonly<
    Record<string, { readonly connection_config?: Readonly<Record<string, unknown>> }>
  >;
  readonly overrides?: Readonly<Record<string, { readonly docs_connect?: string }>>;
  readonly isReconnecting?: boolean;
  readonly websocketsPath?: string;
}

export interface ConnectUiSettings {
  readonly theme: {
    readonly light: { readonly primary: string };
    readonly dark: { readonly primary: string };
  };
  readonly defaultTheme: 'light' | 'dark' | 'system';
  readonly showWatermark: boolean;
  /** A `data:` URL. */
  readonly logo?: string;
  readonly texts?: OwnTexts;
}

export interface Integration {
  readonly unique_key: string;
  readonly display_name: string;
  readonly provider: string;
  readonly logo: string;
}

/** A scope that the provider will ask for. */
export interface RequestedScope {
  readonly name: string;
  /** What it allows; null: the definition does not say it. */
  readonly description: string | null;
  readonly language: string | null;
}

export interface ConnectResult {
  readonly connectionId: string;
  readonly providerConfigKey: string;
  readonly isPending: boolean;
}

/** The reason for a failure, with details for support. */
export interface Failure {
  /** Code of the catalog, an `error_type` of the callback, or `network`. */
  readonly code: string;
  readonly status: number | null;
  /** The service's sentence, in English. */
  readonly message: string;
  readonly issues: readonly Issue[];
  readonly logId: string | null;
  /** The provider's own status and code, as one text. */
  readonly providerAnswer: string | null;
  /** What the provider says about it. */
  readonly providerWords: string | null;
  /** Why the provider refused a sign-in (docs/reference/auth-modes.md#reasons-of-a-refusal). */
  readonly reason: string | null;
  /** For the developer of the application, in English; null where the person can do it. */
  readonly fix: string | null;
}

export class ConnectError extends Error {
  readonly failure: Failure;

  constructor(failure: Failure) {
    super(failure.message);
    this.failure = failure;
  }
}

export interface ConnectApi {
  session(): Promise<Session>;
  integrations(): Promise<readonly Integration[]>;
  /** Texts in the language, if the definition has it. */
  provider(name: string, language: string): Promise<ProviderForm>;
  /** @param path of the redirect */
  scopes(path: string, language: string): Promise<readonly RequestedScope[]>;
  /** @throws ConnectError, as every call */
  connect(path: string, request: ConnectRequest): Promise<ConnectResult>;
  /** The URL for the sign-in at the provider. */
  redirectUrl(path: string, request: ConnectRequest, wsClientId: string | null): string;
  /** The WebSocket that reports the outcome of a flow. */
  socketUrl(path: string): string;
}

/** @param base address of the service, without a slash at the end */
export function connectApi(base: string, token: string): ConnectApi {
  const send = async (path: string, init: RequestInit = {}): Promise<unknown> => {
    let response: Response;
    try {
      const headers = new Headers(init.headers);
      headers.set('authorization', `Bearer ${token}`);
      response = await fetch(base + path, { ...init, headers, referrerPolicy: 'no-referrer' });
    } catch (cause) {
      throw new ConnectError({ ...emptyFailure, code: 'network', message: String(cause) });
    }
    const text = await response.text();
    const answer = parsed(text);
    if (!response.ok) throw new ConnectError(responseFailure(response.status, answer));
    return answer;
  };
  const data = async <T>(path: string, init?: RequestInit): Promise<T> =>
    ((await send(path, init)) as { data: T }).data;
  const query = ({ params }: ConnectRequest): URLSearchParams => {
    const search = new URLSearchParams({ connect_session_token: token });
    for (const [name, value] of Object.entries(params)) search.set(`params[${name}]`, value);
    return search;
  };
  return {
    session: () => data('/connect/session'),
    integrations: () => data('/integrations'),
    provider: (name, language) =>
      data(`/providers/${encodeURIComponent(name)}`, { headers: { 'accept-language': language } }),
    scopes: (path, language) =>
      data(`${path}/scopes`, { headers: { 'accept-language': language } }),
    async connect(path, request) {
      const sent = request.body === null ? {} : jsonBody(request.body);
      const answer = await send(`${path}?${query(request)}`, { method: 'POST', ...sent });
      return { isPending: false, ...(answer as Omit<ConnectResult, 'isPending'>) };
    },
    redirectUrl(path, request, wsClientId) {
      const search = query(request);
      if (wsClientId !== null) search.set('ws_client_id', wsClientId);
      return `${base}${path}?${search}`;
    },
    socketUrl: (path) => base.replace(/^http/, 'ws') + path,
  };
}

const jsonBody = (body: object): RequestInit => ({
  body: JSON.stringify(body),
  headers: { 'content-type': 'application/json' },
});

export const emptyFailure: Failure = {
  code: 'server_error',
  status: null,
  message: '',
  issues: [],
  logId: null,
  providerAnswer: null,
  providerWords: null,
  reason: null,
  fix: null,
};

function parsed(text: string): unknown {
  if (text === '') return null;
  try {
    return JSON.parse(text);
  } catch {
    // The response of a proxy in between: the status is sufficient.
    return null;
  }
}

interface ErrorBody {
  readonly error?: {
    readonly code?: string;
    readonly message?: string;
    readonly errors?: readonly Issue[];
    readonly fix?: string;
    readonly payload?: {
      readonly log_id?: string | null;
      readonly provider?: {
        readonly status?: number | null;
        readonly code?: string | null;
        readonly description?: string | null;
        readonly reason?: string;
      };
    };
  };
}

function responseFailure(status: number, answer: unknown): Failure {
  const { code, message, errors, payload, fix } = (answer as ErrorBody | null)?.error ?? {};
  const { provider } = payload ?? {};
  const details = [provider?.status, provider?.code].filter(
    (part) => part !== undefined && part !== null,
  );
  return {
    code: code ?? 'server_error',
    status,
    message: message ?? '',
    issues: errors ?? [],
    logId: payload?.log_id ?? null,
    providerAnswer: details.length === 0 ? null : details.join(' '),
    providerWords: provider?.description ?? null,
    reason: provider?.reason ?? null,
    fix: provider?.reason === undefined ? null : (fix ?? null),
  };
}
