/** An outgoing request. The URL is parsed once; the connection uses the parsed form. */
export interface OutgoingRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Overall, from the call to the last byte of the response. */
  readonly timeoutMs: number;
  /** Bytes of the response after decompression; beyond it the call fails. */
  readonly maxBytes?: number;
  /** The response body is discarded: it is read up to `maxBytes`, which it may exceed. */
  readonly dropsBody?: true;
  /** Redirects followed, at most 5; each is checked again. Default 0: the redirect itself is the response. */
  readonly redirectsMax?: number;
  /** Headers dropped when a redirect leaves the origin. */
  readonly credentialHeaders?: readonly string[];
  readonly signal?: AbortSignal;
  /** Of the client, for mutual TLS; both in PEM. */
  readonly certificate?: { readonly certificate: string; readonly privateKey: string };
}

export interface HttpReply {
  readonly status: number;
  readonly statusText: string;
  /** Lower-case names; several values are joined by `, `. Without `set-cookie`. */
  readonly headers: Readonly<Record<string, string>>;
  /** The values of `set-cookie`, which may have commas; absent without one. */
  readonly setCookies?: readonly string[];
  readonly body: Buffer;
  /** The URL that answered, after redirects. */
  readonly url: string;
}

/** Why there is no response: the code of the operating system or of the HTTP client (`ECONNRESET`, …). */
export class HttpFailure extends Error {
  override readonly name = 'HttpFailure';
  readonly code: string;
  constructor(code: string, message: string, options?: ErrorOptions) {
    super(message, options);
    this.code = code;
  }
}

const passingCodes = new Set([
  'ECONNRESET',
  'ETIMEDOUT',
  'ECONNABORTED',
  'ECONNREFUSED',
  'EHOSTUNREACH',
  'EAI_AGAIN',
  'UND_ERR_SOCKET', // the client's name of ECONNRESET
]);

/**
 * Whether a failure with this code may be temporary, so that a retry is worthwhile
 * (docs/reference/functions.md#retries, docs/reference/webhooks-out.md#delivery).
 */
export const mayPass = (code: string): boolean => passingCodes.has(code);

/** The destination of a request: a URL, or its parts as a URL has them. */
export type Destination = Readonly<
  Pick<URL, 'href' | 'origin' | 'protocol' | 'host' | 'hostname' | 'port' | 'pathname' | 'search'>
>;

/** Whether the response is still wanted: an `AbortSignal` for one listener at a fraction of the cost. */
export interface Cancellation {
  readonly isCancelled: boolean;
  /** Called once on cancellation, unless it was replaced before. */
  listener: (() => void) | null;
}

/** A request whose request body and response stream. */
export interface ForwardRequest {
  readonly method: string;
  readonly url: Destination;
  /** Frozen if many requests share them: values derived from them are then cached. */
  readonly headers: Readonly<Record<string, string>>;
  /** A stream is sent as it arrives; a remainder that is no longer needed is drained. Bytes can be sent again. */
  readonly body: NodeJS.ReadableStream | Uint8Array | null;
  /** Exact length of a stream; null: unknown, it is sent in chunks. */
  readonly streamBytes: number | null;
  /** Whether codings of the response are undone; the headers of the coding are then omitted. */
  readonly isDecoded: boolean;
  /** From the last byte sent to the end of the head, interim responses included, in however many pieces it arrives. */
  readonly headTimeoutMs: number;
  /** Between two pieces of the response body, and while the provider accepts nothing of the request body. */
  readonly idleTimeoutMs: number;
  /** Absolute limit, on the clock of `performance.now`. */
  readonly deadline: number;
  /** Its listener is used for the duration of the exchange. */
  readonly cancellation: Cancellation;
}

/** Headers as received: names in lower case, alternating with values. */
export type AnswerHeaders = readonly string[];

/** Receives a response as it arrives. */
export interface AnswerSink {
  /** Returns whether the body is wanted; without it the exchange ends here. */
  head(status: number, statusText: string, headers: AnswerHeaders): boolean;
  /**
   * Returns whether more data may follow at once; otherwise `resume` of the flow requests more.
   * @param isLast this is the last piece; an end that is detected later is reported by the end of the exchange
   */
  data(chunk: Buffer, isLast: boolean): boolean;
}

export interface AnswerFlow {
  resume(): void;
}

/**
 * The only way out of the process. Every resolved address is checked against the egress policy before
 * and at the connection (docs/reference/guarantees.md#egress).
 */
export interface HttpClient extends AsyncDisposable {
  /** @throws HttpFailure without a response; GatewayError `url_not_allowed` when the policy refuses. */
  request(request: OutgoingRequest): Promise<HttpReply>;
  /**
   * One exchange without redirects or retries. Resolves when the response has ended, or its body was refused.
   * @param sink receives the response; `flow` is how it resumes
   * @throws as `request`; also after the head, when the response breaks off
   */
  forward(request: ForwardRequest, sink: (flow: AnswerFlow) => AnswerSink): Promise<void>;
}
