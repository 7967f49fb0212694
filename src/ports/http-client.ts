/** A request to the world outside. The URL is parsed once; what was parsed is what is connected to. */
export interface OutgoingRequest {
  readonly method: string;
  readonly url: URL;
  readonly headers: Readonly<Record<string, string>>;
  readonly body?: string | Uint8Array;
  /** Overall, from the call to the last byte of the answer. */
  readonly timeoutMs: number;
  /** Bytes of the answer after decompression; beyond it the call fails. */
  readonly maxBytes?: number;
  /** The body of the answer is not wanted: it is read up to `maxBytes`, which it may exceed, and dropped. */
  readonly dropsBody?: true;
  /** Hops followed, at most 5; each is checked again. Default 0: the redirect itself is the answer. */
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
  /** Lower-case names; several values are joined by `, `. */
  readonly headers: Readonly<Record<string, string>>;
  readonly body: Buffer;
  /** The URL that answered, after redirects. */
  readonly url: string;
}

/** Why no answer came: the code of the operating system or of the HTTP client (`ECONNRESET`, …). */
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
 * Whether a failure of this code may pass, so that the request is worth repeating
 * (docs/reference/functions.md#retries, docs/reference/webhooks-out.md#delivery).
 */
export const mayPass = (code: string): boolean => passingCodes.has(code);

/** Where a request goes: a URL, or its parts as a URL has them. */
export type Destination = Readonly<
  Pick<URL, 'href' | 'origin' | 'protocol' | 'host' | 'hostname' | 'port' | 'pathname' | 'search'>
>;

/** Whether an answer is still wanted: what an `AbortSignal` says, for one listener and at a fraction of its price. */
export interface Cancellation {
  readonly isCancelled: boolean;
  /** Called once when it is cancelled, unless another has taken its place by then. */
  listener: (() => void) | null;
}

/** A request whose body and answer stream. */
export interface ForwardRequest {
  readonly method: string;
  readonly url: Destination;
  /** Frozen where they are those of many requests: what is made of them is kept. */
  readonly headers: Readonly<Record<string, string>>;
  /** A stream is sent as it comes; what of it is not wanted any more is read away. Bytes can be sent again. */
  readonly body: NodeJS.ReadableStream | Uint8Array | null;
  /** What a stream must come to; null: not known, it goes in chunks. */
  readonly streamBytes: number | null;
  /** Whether codings of the answer are undone; the headers of the coding are left out then. */
  readonly isDecoded: boolean;
  /** From the last byte sent to the end of the head, interim ones included, in however many pieces it comes. */
  readonly headTimeoutMs: number;
  /** Between two pieces of the body of the answer, and while the provider takes nothing of that of the request. */
  readonly idleTimeoutMs: number;
  /** When it is given up, whatever comes: on the clock of `performance.now`. */
  readonly deadline: number;
  /** Its listener is taken for as long as the exchange goes on. */
  readonly cancellation: Cancellation;
}

/** Headers as they came: names in lower case and values in turn. */
export type AnswerHeaders = readonly string[];

/** Takes an answer while it comes. */
export interface AnswerSink {
  /** Returns whether the body is wanted; without it the exchange ends here. */
  head(status: number, statusText: string, headers: AnswerHeaders): boolean;
  /**
   * Returns whether more may come at once; otherwise `resume` of the flow asks for more.
   * @param isLast the body ends with it; an end that shows only later is told by the end of the exchange
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
  /** @throws HttpFailure without an answer; GatewayError `url_not_allowed` when the policy refuses. */
  request(request: OutgoingRequest): Promise<HttpReply>;
  /**
   * One exchange without redirects or retries. Resolves when the answer has
   * ended, or its body was not wanted.
   * @param sink told of the answer; `flow` is what it resumes by
   * @throws as `request`; after the head too, when the answer breaks off
   */
  forward(request: ForwardRequest, sink: (flow: AnswerFlow) => AnswerSink): Promise<void>;
}
